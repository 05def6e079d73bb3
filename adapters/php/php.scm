; What the nodes of PHP's grammar mean; graph/syntax lists the captures.

(name) @identifier
(comment) @comment
[(string) (encapsed_string) (heredoc) (nowdoc)] @string
(encapsed_string [(variable_name) (dynamic_variable_name) (member_access_expression) (nullsafe_member_access_expression) (subscript_expression)
  (member_call_expression) (function_call_expression) (scoped_call_expression)] @interpolation)
(heredoc_body [(variable_name) (dynamic_variable_name) (member_access_expression) (nullsafe_member_access_expression) (subscript_expression)
  (member_call_expression) (function_call_expression) (scoped_call_expression)] @interpolation)

; Namespaces and imports.
(namespace_definition name: (namespace_name) @name !body) @definition.namespace @following
(namespace_definition name: (namespace_name) @name body: (_) @body) @definition.namespace
(namespace_definition name: (_) @package)
(namespace_use_declaration (namespace_use_clause . [(qualified_name) (name)] @path !alias)) @import
(namespace_use_declaration (namespace_use_clause . [(qualified_name) (name)] @path alias: (name) @alias)) @import
(namespace_use_declaration (namespace_name) @path body: (namespace_use_group (namespace_use_clause . [(name) (qualified_name)] @imported !alias))) @import
(namespace_use_declaration (namespace_name) @path body: (namespace_use_group (namespace_use_clause . [(name) (qualified_name)] @imported alias: (name) @alias))) @import
(namespace_use_declaration) @scope @binding
(namespace_use_clause alias: (name) @bound.namespace)

; Types.
(class_declaration name: (name) @name body: (_) @body) @definition.class
(interface_declaration name: (name) @name body: (_) @body) @definition.interface
(trait_declaration name: (name) @name body: (_) @body) @definition.trait
(enum_declaration name: (name) @name body: (_) @body) @definition.enum
(enum_case name: (name) @name) @definition.enumMember
(class_declaration (base_clause [(name) (qualified_name)] @base)) @of
(class_declaration (class_interface_clause [(name) (qualified_name)] @base)) @of
(class_declaration body: (declaration_list (use_declaration [(name) (qualified_name)] @base))) @of
(trait_declaration body: (declaration_list (use_declaration [(name) (qualified_name)] @base))) @of
(enum_declaration body: (enum_declaration_list (use_declaration [(name) (qualified_name)] @base))) @of
(interface_declaration (base_clause [(name) (qualified_name)] @base)) @of
(enum_declaration (class_interface_clause [(name) (qualified_name)] @base)) @of

; Members, functions, constants.
(method_declaration name: (name) @name parameters: (_) @parameters) @definition.method
(method_declaration body: (_) @body) @of
(method_declaration return_type: (_) @result) @of
(function_definition name: (name) @name parameters: (_) @parameters body: (_) @body) @definition.function
(function_definition return_type: (_) @result) @of
(property_declaration (property_element name: (variable_name (name) @name)) @definition.property)
(property_declaration type: (_) @type (property_element) @of)
(property_declaration (property_element) @inner) @statement
(const_declaration (const_element . (name) @name) @definition.constant)
(const_declaration type: (_) @type (const_element) @of)
(const_declaration (const_element) @inner) @statement
((function_call_expression function: (name) @_define arguments: (arguments . (argument (string (string_content) @name)))) @definition.constant (#eq? @_define "define"))

; Modifiers and attributes.
([(class_declaration [(abstract_modifier) (final_modifier) (readonly_modifier)] @modifier)
  (method_declaration [(visibility_modifier) (static_modifier) (abstract_modifier) (final_modifier)] @modifier)
  (property_declaration [(visibility_modifier) (static_modifier) (readonly_modifier) (var_modifier) (final_modifier) (abstract_modifier)] @modifier)
  (const_declaration [(visibility_modifier) (final_modifier)] @modifier)
  (property_promotion_parameter [(visibility_modifier) (readonly_modifier)] @modifier)] @of)
([(class_declaration attributes: (_) @attribute)
  (interface_declaration attributes: (_) @attribute)
  (trait_declaration attributes: (_) @attribute)
  (enum_declaration attributes: (_) @attribute)
  (enum_case attributes: (_) @attribute)
  (method_declaration attributes: (_) @attribute)
  (function_definition attributes: (_) @attribute)
  (property_declaration attributes: (_) @attribute)
  (const_declaration attributes: (_) @attribute)
  (simple_parameter attributes: (_) @attribute)
  (property_promotion_parameter attributes: (_) @attribute)] @of)

; Parameters. One that is promoted is a property of the class.
(formal_parameters [(simple_parameter) (variadic_parameter) (property_promotion_parameter)] @parameter) @parameters
(simple_parameter type: (_) @type) @of
(variadic_parameter type: (_) @type) @of
(property_promotion_parameter type: (_) @type) @of
(property_promotion_parameter name: (variable_name (name) @name)) @definition.property
(simple_parameter name: (variable_name (name) @name)) @definition.parameter
(variadic_parameter name: (variable_name (name) @name)) @definition.parameter

; The first binding of a name in its scope declares it.
(assignment_expression) @binding
(assignment_expression left: (variable_name (name) @assigned.variable))
(assignment_expression left: (list_literal (variable_name (name) @assigned.variable)))
(foreach_statement (variable_name (name) @assigned.variable) body: (_))
(foreach_statement (pair (variable_name (name) @assigned.variable)))
(foreach_statement (by_ref (variable_name (name) @assigned.variable)))
(catch_clause name: (variable_name (name) @assigned.variable))
(static_variable_declaration name: (variable_name (name) @name)) @definition.variable
(global_declaration (variable_name (name) @excluded))

[(anonymous_function) (arrow_function) (anonymous_class)] @scope

; Calls.
(function_call_expression function: [(name) @call (qualified_name (name) @call .)])
(member_call_expression name: (name) @call)
(nullsafe_member_call_expression name: (name) @call)
(scoped_call_expression name: (name) @call)
(object_creation_expression [(name) @call (qualified_name (name) @call .)])
(attribute [(name) @call (qualified_name (name) @call .)])
