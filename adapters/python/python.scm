; What the nodes of Python's grammar mean; graph/syntax lists the captures.

(identifier) @identifier
(comment) @comment
(string) @string
(interpolation) @interpolation

; Classes and functions.
(class_definition name: (identifier) @name body: (_) @body) @definition.class
(function_definition name: (identifier) @name parameters: (_) @parameters body: (_) @body) @definition.function
(class_definition superclasses: (argument_list [(identifier) (attribute) (subscript) (call)] @base)) @of
(function_definition return_type: (_) @result) @of
(function_definition "async" @modifier) @of
(decorated_definition definition: (_) @inner) @outer
(decorated_definition (decorator) @attribute) @of
(class_definition body: (block . (expression_statement . (string) @doc))) @of
(function_definition body: (block . (expression_statement . (string) @doc))) @of
(type_alias_statement left: (type (identifier) @name)) @definition.typeAlias
(type_alias_statement left: (type (generic_type (identifier) @name))) @definition.typeAlias

; Type parameters.
(class_definition type_parameters: (type_parameter (type (identifier) @definition.typeParameter)))
(class_definition type_parameters: (type_parameter (type (constrained_type . (type (identifier) @name)) @definition.typeParameter)))
(class_definition type_parameters: (type_parameter (type (splat_type (identifier) @name) @definition.typeParameter)))
(function_definition type_parameters: (type_parameter (type (identifier) @definition.typeParameter)))
(function_definition type_parameters: (type_parameter (type (constrained_type . (type (identifier) @name)) @definition.typeParameter)))
(function_definition type_parameters: (type_parameter (type (splat_type (identifier) @name) @definition.typeParameter)))

; Parameters.
(parameters
  [(identifier) (typed_parameter) (default_parameter) (typed_default_parameter)
   (list_splat_pattern) (dictionary_splat_pattern) (tuple_pattern)] @parameter) @parameters
(typed_parameter type: (_) @type) @of
(typed_default_parameter type: (_) @type) @of
(parameters (identifier) @definition.parameter)
(lambda_parameters (identifier) @definition.parameter)
(typed_parameter . (identifier) @name) @definition.parameter
(typed_parameter . (list_splat_pattern (identifier) @name)) @definition.parameter
(typed_parameter . (dictionary_splat_pattern (identifier) @name)) @definition.parameter
(default_parameter name: (identifier) @name) @definition.parameter
(typed_default_parameter name: (identifier) @name) @definition.parameter
(parameters (list_splat_pattern (identifier) @name) @definition.parameter)
(parameters (dictionary_splat_pattern (identifier) @name) @definition.parameter)
(lambda_parameters (list_splat_pattern (identifier) @name) @definition.parameter)
(lambda_parameters (dictionary_splat_pattern (identifier) @name) @definition.parameter)
(lambda) @scope

; The first binding of a name in its scope declares it.
(assignment) @binding
(assignment left: (identifier) @assigned.variable)
(assignment left: (identifier) @of type: (_) @type)
(assignment left: (list_splat_pattern (identifier) @assigned.variable))
(pattern_list (identifier) @assigned.variable)
(pattern_list (list_splat_pattern (identifier) @assigned.variable))
(tuple_pattern (identifier) @assigned.variable)
(tuple_pattern (list_splat_pattern (identifier) @assigned.variable))
(list_pattern (identifier) @assigned.variable)
(list_pattern (list_splat_pattern (identifier) @assigned.variable))
(for_statement left: (_) @binding)
(for_statement left: (identifier) @assigned.variable)
(for_in_clause left: (identifier) @assigned.variable)
(named_expression name: (identifier) @assigned.variable) @binding
(as_pattern alias: (as_pattern_target (identifier) @assigned.variable)) @binding
(as_pattern alias: (as_pattern_target (tuple (identifier) @assigned.variable))) @binding
(global_statement (identifier) @excluded)
(nonlocal_statement (identifier) @excluded)
[(list_comprehension) (set_comprehension) (dictionary_comprehension) (generator_expression)] @scope

; What a case binds.
(case_pattern (dotted_name . (identifier) @assigned.variable .))
(case_pattern (as_pattern (identifier) @assigned.variable))
(keyword_pattern (identifier) (dotted_name . (identifier) @assigned.variable .))
(splat_pattern (identifier) @assigned.variable)

; Attributes of instances and classes.
(assignment left: (attribute object: (identifier) @_object attribute: (identifier) @member.field)
  (#any-of? @_object "self" "cls"))
(assignment left: (attribute object: (identifier) @_object attribute: (identifier) @of) type: (_) @type
  (#any-of? @_object "self" "cls"))
(pattern_list (attribute object: (identifier) @_object attribute: (identifier) @member.field)
  (#any-of? @_object "self" "cls"))
(tuple_pattern (attribute object: (identifier) @_object attribute: (identifier) @member.field)
  (#any-of? @_object "self" "cls"))

; Imports. A name given by one belongs to the file.
(import_statement name: (dotted_name) @path @imported) @import
(import_statement name: (aliased_import name: (_) @path alias: (identifier) @alias)) @import
(import_from_statement module_name: (_) @path) @import
(import_from_statement module_name: (_) @path name: (dotted_name) @imported) @import
(import_from_statement module_name: (_) @path name: (aliased_import name: (dotted_name) @imported alias: (identifier) @alias)) @import
(aliased_import) @scope @binding
(import_statement name: (aliased_import alias: (identifier) @bound.namespace))
(import_from_statement name: (aliased_import alias: (identifier) @bound.variable))

; Calls.
(call function: [(identifier) @call (attribute attribute: (identifier) @call) (parenthesized_expression (identifier) @call)])
(decorator [(identifier) @call (attribute attribute: (identifier) @call)])
