; What only C++'s grammar has.

(namespace_identifier) @identifier
(raw_string_literal) @string

; Namespaces.
(namespace_definition name: (namespace_identifier) @name body: (_) @body) @definition.namespace
(namespace_definition name: (nested_namespace_specifier) @name body: (_) @body) @definition.namespace
(namespace_alias_definition name: (namespace_identifier) @name) @definition.namespace
(alias_declaration name: (type_identifier) @name) @definition.typeAlias
(concept_definition name: (identifier) @name) @definition.interface

; Types.
(class_specifier name: (type_identifier) @name body: (_) @body) @definition.class
(class_specifier name: (template_type name: (type_identifier) @name) body: (_) @body) @definition.class
(struct_specifier name: (template_type name: (type_identifier) @name) body: (_) @body) @definition.struct
(class_specifier name: (qualified_identifier) @name body: (_) @body) @definition.class
(struct_specifier name: (qualified_identifier) @name body: (_) @body) @definition.struct
(class_specifier (base_class_clause [(type_identifier) (template_type) (qualified_identifier)] @base)) @of
(struct_specifier (base_class_clause [(type_identifier) (template_type) (qualified_identifier)] @base)) @of
(class_specifier (virtual_specifier) @modifier) @of
(class_specifier (attribute_declaration) @attribute) @of
(struct_specifier (attribute_declaration) @attribute) @of
(template_declaration [(class_specifier) (struct_specifier) (union_specifier) (function_definition) (declaration) (alias_declaration) (concept_definition) (field_declaration)] @inner) @outer
(template_declaration (declaration declarator: (_) @inner)) @outer
(type_parameter_declaration (type_identifier) @name) @definition.typeParameter
(variadic_type_parameter_declaration (type_identifier) @name) @definition.typeParameter
(optional_type_parameter_declaration name: (type_identifier) @name) @definition.typeParameter

; Members and what is defined outside of its class.
(function_definition declarator: (function_declarator
  declarator: [(field_identifier) (operator_name) (destructor_name)] @name parameters: (_) @parameters)) @definition.method
(function_definition declarator: (_ (function_declarator
  declarator: [(field_identifier) (operator_name) (identifier)] @name parameters: (_) @parameters))) @definition.method
(function_definition declarator: (function_declarator declarator: (qualified_identifier) @name parameters: (_) @parameters)) @definition.method
(function_definition declarator: (_ (function_declarator declarator: (qualified_identifier) @name parameters: (_) @parameters))) @definition.method
(function_definition declarator: (function_declarator declarator: (template_function name: (identifier) @name) parameters: (_) @parameters)) @definition.function
(function_definition declarator: (function_declarator declarator: (identifier) @name parameters: (_) @parameters)) @definition.function
(function_definition declarator: (operator_cast) @name) @definition.operator
(function_definition body: (_) @body) @of
(function_definition ["virtual" (explicit_function_specifier) (delete_method_clause) (default_method_clause)] @modifier) @of
(function_definition declarator: (function_declarator (virtual_specifier) @modifier)) @of
(function_definition (attribute_declaration) @attribute) @of
(field_declaration declarator: (function_declarator declarator: [(field_identifier) (operator_name)] @name parameters: (_) @parameters) @definition.method)
(field_declaration declarator: (_ (function_declarator declarator: [(field_identifier) (operator_name)] @name parameters: (_) @parameters)) @definition.method)
(field_declaration declarator: (function_declarator (virtual_specifier) @modifier) @of)
(field_declaration ["virtual" (attribute_declaration)] @modifier) @of
(declaration declarator: (function_declarator declarator: [(operator_name) (destructor_name)] @name parameters: (_) @parameters) @definition.method)
(declaration declarator: (_ (function_declarator declarator: [(operator_name) (identifier)] @name parameters: (_) @parameters)) @definition.function)
(declaration declarator: (operator_cast) @definition.operator)
(declaration ["virtual" (explicit_function_specifier)] @modifier) @of
(declaration declarator: (reference_declarator (identifier) @name) @definition.variable)
(declaration declarator: (init_declarator declarator: (reference_declarator (identifier) @name)) @definition.variable)
(declaration declarator: (init_declarator declarator: (qualified_identifier) @name) @definition.variable)
(field_declaration declarator: (reference_declarator (field_identifier) @name) @definition.field)

; Parameters.
(parameter_list [(optional_parameter_declaration) (variadic_parameter_declaration)] @parameter) @parameters
(optional_parameter_declaration type: (_) @type) @of
(variadic_parameter_declaration type: (_) @type) @of
(parameter_declaration declarator: (reference_declarator (identifier) @name)) @definition.parameter
(optional_parameter_declaration declarator: (identifier) @name) @definition.parameter
(optional_parameter_declaration declarator: (_ (identifier) @name)) @definition.parameter
(variadic_parameter_declaration declarator: (_ (identifier) @name)) @definition.parameter
(structured_binding_declarator (identifier) @definition.variable)
(for_range_loop declarator: (identifier) @definition.variable)
(for_range_loop declarator: (_ (identifier) @definition.variable))

[(for_range_loop) (lambda_expression) (catch_clause) (condition_clause)] @scope

; Calls.
(call_expression function: (qualified_identifier name: [(identifier) @call (template_function name: (identifier) @call)
  (qualified_identifier name: [(identifier) @call (template_function name: (identifier) @call) (qualified_identifier name: (identifier) @call)])]))
(call_expression function: (template_function name: (identifier) @call))
(call_expression function: (field_expression field: [(template_method name: (field_identifier) @call) (dependent_name (template_method name: (field_identifier) @call))]))
(new_expression type: [(type_identifier) @call (template_type name: (type_identifier) @call) (qualified_identifier name: [(type_identifier) @call (template_type name: (type_identifier) @call)])])
