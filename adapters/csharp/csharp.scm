; What the nodes of C#'s grammar mean; graph/syntax lists the captures.

[(identifier) (implicit_parameter)] @identifier
(comment) @comment
[(string_literal) (verbatim_string_literal) (raw_string_literal) (interpolated_string_expression)] @string
(interpolation) @interpolation

; Namespaces and usings.
(namespace_declaration name: (identifier) @name) @definition.namespace
(namespace_declaration name: (qualified_name qualifier: (_) @qualifier name: (identifier) @name)) @definition.namespace
(namespace_declaration body: (_) @body) @of
(namespace_declaration name: (_) @package)
(file_scoped_namespace_declaration name: (identifier) @name) @definition.namespace @following
(file_scoped_namespace_declaration name: (qualified_name qualifier: (_) @qualifier name: (identifier) @name)) @definition.namespace @following
(file_scoped_namespace_declaration name: (_) @package)
(using_directive name: (identifier) @alias "=" (_) @path) @import
(using_directive !name [(identifier) (qualified_name) (alias_qualified_name) (generic_name)] @path) @import
(using_directive) @scope @binding
(using_directive name: (identifier) @bound.typeAlias)

; Types.
(class_declaration name: (identifier) @name body: (_) @body) @definition.class
(struct_declaration name: (identifier) @name body: (_) @body) @definition.struct
(record_declaration name: (identifier) @name) @definition.record
(record_declaration body: (_) @body) @of
(interface_declaration name: (identifier) @name body: (_) @body) @definition.interface
(enum_declaration name: (identifier) @name body: (_) @body) @definition.enum
(delegate_declaration type: (_) @result name: (identifier) @name) @definition.class
(enum_member_declaration name: (identifier) @name) @definition.enumMember
(enum_member_declaration (attribute_list) @attribute) @of
(class_declaration (type_parameter_list) @arity) @of
(struct_declaration (type_parameter_list) @arity) @of
(record_declaration (type_parameter_list) @arity) @of
(interface_declaration (type_parameter_list) @arity) @of
(delegate_declaration (type_parameter_list) @arity) @of
(type_parameter name: (identifier) @name) @definition.typeParameter
(class_declaration (base_list [(identifier) (generic_name) (qualified_name) (alias_qualified_name) (predefined_type)] @base)) @of
(struct_declaration (base_list [(identifier) (generic_name) (qualified_name) (alias_qualified_name) (predefined_type)] @base)) @of
(record_declaration (base_list [(identifier) (generic_name) (qualified_name) (alias_qualified_name) (predefined_type)] @base)) @of
(interface_declaration (base_list [(identifier) (generic_name) (qualified_name) (alias_qualified_name) (predefined_type)] @base)) @of
(record_declaration (base_list (primary_constructor_base_type type: (_) @base))) @of

; Members.
(method_declaration returns: (_) @result name: (identifier) @name parameters: (_) @parameters) @definition.method
(method_declaration body: (_) @body) @of
(method_declaration (explicit_interface_specifier (_) @trait)) @of
(constructor_declaration name: (identifier) @name parameters: (_) @parameters) @definition.constructor
(constructor_declaration body: (_) @body) @of
(operator_declaration type: (_) @result operator: _ @name parameters: (_) @parameters) @definition.operator
(operator_declaration body: (_) @body) @of
(property_declaration type: (_) @type name: (identifier) @name) @definition.property
(property_declaration accessors: (_) @body) @of
(property_declaration value: (arrow_expression_clause) @body) @of
(property_declaration (explicit_interface_specifier (_) @trait)) @of
(indexer_declaration type: (_) @type "this" @name parameters: (_) @parameters) @definition.property
(indexer_declaration accessors: (_) @body) @of
(indexer_declaration value: (arrow_expression_clause) @body) @of
(indexer_declaration (explicit_interface_specifier (_) @trait)) @of
(event_declaration type: (_) @type name: (identifier) @name) @definition.event
(event_declaration accessors: (_) @body) @of
(event_declaration (explicit_interface_specifier (_) @trait)) @of
(field_declaration (variable_declaration (variable_declarator name: (identifier) @name) @definition.field))
(field_declaration (variable_declaration (variable_declarator) @inner)) @statement
(event_field_declaration (variable_declaration (variable_declarator name: (identifier) @name) @definition.event))
(event_field_declaration (variable_declaration (variable_declarator) @inner)) @statement
(local_function_statement type: (_) @result name: (identifier) @name parameters: (_) @parameters) @definition.function
(local_function_statement body: (_) @body) @of

; Modifiers and attributes.
(class_declaration (modifier) @modifier) @of
(class_declaration (attribute_list) @attribute) @of
(struct_declaration (modifier) @modifier) @of
(struct_declaration (attribute_list) @attribute) @of
(record_declaration (modifier) @modifier) @of
(record_declaration (attribute_list) @attribute) @of
(interface_declaration (modifier) @modifier) @of
(interface_declaration (attribute_list) @attribute) @of
(enum_declaration (modifier) @modifier) @of
(enum_declaration (attribute_list) @attribute) @of
(delegate_declaration (modifier) @modifier) @of
(delegate_declaration (attribute_list) @attribute) @of
(method_declaration (modifier) @modifier) @of
(method_declaration (attribute_list) @attribute) @of
(constructor_declaration (modifier) @modifier) @of
(constructor_declaration (attribute_list) @attribute) @of
(operator_declaration (modifier) @modifier) @of
(operator_declaration (attribute_list) @attribute) @of
(conversion_operator_declaration (modifier) @modifier) @of
(conversion_operator_declaration (attribute_list) @attribute) @of
(property_declaration (modifier) @modifier) @of
(property_declaration (attribute_list) @attribute) @of
(indexer_declaration (modifier) @modifier) @of
(indexer_declaration (attribute_list) @attribute) @of
(event_declaration (modifier) @modifier) @of
(event_declaration (attribute_list) @attribute) @of
(field_declaration (modifier) @modifier) @of
(field_declaration (attribute_list) @attribute) @of
(event_field_declaration (modifier) @modifier) @of
(event_field_declaration (attribute_list) @attribute) @of
(local_function_statement (modifier) @modifier) @of
(local_function_statement (attribute_list) @attribute) @of
(local_declaration_statement (modifier) @modifier) @of
(parameter (modifier) @modifier) @of
(parameter (attribute_list) @attribute) @of

; Parameters. Those of a record are its properties.
(record_declaration (parameter_list (parameter name: (identifier) @name) @definition.property))
(parameter name: (identifier) @name) @definition.parameter
(parameter type: (_) @type) @of
(parameter_list (parameter) @parameter) @parameters
(bracketed_parameter_list (parameter) @parameter) @parameters
(parameter_list type: (_) @parameter) @parameters
(parameter_list type: (_) @of @type)
(parameter_list name: (identifier) @definition.parameter)
(bracketed_parameter_list type: (_) @parameter) @parameters
(bracketed_parameter_list type: (_) @of @type)
(bracketed_parameter_list name: (identifier) @definition.parameter)
(lambda_expression parameters: (implicit_parameter) @definition.parameter)

; Variables.
(variable_declaration (variable_declarator name: (identifier) @name) @definition.variable)
(variable_declaration type: (_) @type (variable_declarator) @of)
(local_declaration_statement (variable_declaration (variable_declarator) @inner)) @statement
(variable_declarator (tuple_pattern)) @binding
(tuple_pattern name: (identifier) @bound.variable)
(foreach_statement type: (_) left: (identifier) @definition.variable)
(foreach_statement left: (tuple_pattern) @binding)
(catch_declaration name: (identifier) @name) @definition.variable
(declaration_pattern name: (identifier) @name) @definition.variable
(var_pattern name: (identifier) @name) @definition.variable
(recursive_pattern name: (identifier) @definition.variable)
(declaration_expression name: (identifier) @name) @definition.variable
(parenthesized_variable_designation name: (identifier) @definition.variable)
(from_clause name: (identifier) @name) @definition.variable
(let_clause . (identifier) @name) @definition.variable
(join_clause (identifier) @definition.variable . "in")
(join_into_clause (identifier) @definition.variable)

; What is declared within is local.
[(block) (arrow_expression_clause) (lambda_expression) (anonymous_method_expression) (global_statement)] @scope

; Calls.
(invocation_expression function: [(identifier) @call (generic_name . (identifier) @call)])
(invocation_expression function: (member_access_expression name: [(identifier) @call (generic_name . (identifier) @call)]))
(invocation_expression function: (conditional_access_expression (member_binding_expression name: [(identifier) @call (generic_name . (identifier) @call)])))
(invocation_expression function: (parenthesized_expression (identifier) @call))
(object_creation_expression type: [(identifier) @call (generic_name . (identifier) @call)])
(object_creation_expression type: (qualified_name name: [(identifier) @call (generic_name . (identifier) @call)]))
