; What only TypeScript's grammars have.

(type_identifier) @identifier
(ambient_declaration (_) @inner) @outer
(ambient_declaration "declare" @modifier) @of

; Classes.
(class_declaration name: (type_identifier) @name body: (_) @body) @definition.class
(abstract_class_declaration name: (type_identifier) @name body: (_) @body) @definition.class
(class name: (type_identifier) @name body: (_) @body) @definition.class
(abstract_class_declaration "abstract" @modifier) @of
(class_declaration decorator: (decorator) @attribute) @of
(abstract_class_declaration decorator: (decorator) @attribute) @of
(class_declaration (class_heritage (extends_clause value: (_) @base))) @of
(class_declaration (class_heritage (implements_clause (_) @base))) @of
(abstract_class_declaration (class_heritage (extends_clause value: (_) @base))) @of
(abstract_class_declaration (class_heritage (implements_clause (_) @base))) @of
(variable_declarator value: (class (class_heritage (extends_clause value: (_) @base)))) @of
(variable_declarator value: (class (class_heritage (implements_clause (_) @base)))) @of
(public_field_definition name: [(property_identifier) (private_property_identifier)] @name) @definition.property
(public_field_definition type: (type_annotation (_) @type)) @of
(public_field_definition ["static" "readonly" "abstract" "declare" "accessor" (accessibility_modifier) (override_modifier)] @modifier) @of
(class_body (decorator) @attribute)
(public_field_definition decorator: (decorator) @attribute) @of
(method_definition ["readonly" (accessibility_modifier) (override_modifier)] @modifier) @of
(abstract_method_signature name: [(property_identifier) (private_property_identifier)] @name parameters: (_) @parameters) @definition.method
(abstract_method_signature ["abstract" "get" "set" (accessibility_modifier) (override_modifier)] @modifier) @of
(method_signature name: [(property_identifier) (private_property_identifier)] @name parameters: (_) @parameters) @definition.method
(method_signature ["static" "readonly" "async" "get" "set" (accessibility_modifier) (override_modifier)] @modifier) @of

; Interfaces, types, enumerations, namespaces.
(interface_declaration name: (type_identifier) @name body: (_) @body) @definition.interface
(interface_declaration (extends_type_clause type: (_) @base)) @of
(property_signature name: (property_identifier) @name) @definition.property
(property_signature type: (type_annotation (_) @type)) @of
(property_signature "readonly" @modifier) @of
(type_alias_declaration name: (type_identifier) @name) @definition.typeAlias
(enum_declaration name: (identifier) @name body: (_) @body) @definition.enum
(enum_declaration "const" @modifier) @of
(enum_body name: (property_identifier) @definition.enumMember)
(enum_assignment name: (property_identifier) @name) @definition.enumMember
(internal_module name: (identifier) @name) @definition.namespace
(internal_module name: (nested_identifier object: (_) @qualifier property: (property_identifier) @name)) @definition.namespace
(internal_module body: (_) @body) @of
(module name: (identifier) @name) @definition.namespace
(module name: (nested_identifier object: (_) @qualifier property: (property_identifier) @name)) @definition.namespace
(module name: (string (string_fragment) @name)) @definition.module
(module body: (_) @body) @of
(import_alias . (identifier) @name) @definition.namespace
(import_require_clause (identifier) @bound.namespace)
(import_statement (import_require_clause (identifier) @alias source: (string (string_fragment) @path))) @import

; Signatures.
(function_signature name: (identifier) @name parameters: (_) @parameters) @definition.function
(function_signature "async" @modifier) @of
(function_signature return_type: (_ (_) @result)) @of
(function_declaration return_type: (_ (_) @result)) @of
(generator_function_declaration return_type: (_ (_) @result)) @of
(method_definition return_type: (_ (_) @result)) @of
(method_signature return_type: (_ (_) @result)) @of
(abstract_method_signature return_type: (_ (_) @result)) @of
(variable_declarator value: (arrow_function return_type: (_ (_) @result))) @of
(variable_declarator value: (function_expression return_type: (_ (_) @result))) @of
(function_expression return_type: (_ (_) @result)) @of
(variable_declarator type: (type_annotation (_) @type)) @of
(variable_declarator value: (as_expression (object (pair key: (property_identifier) @name) @definition.property)))
(variable_declarator value: (satisfies_expression (object (pair key: (property_identifier) @name) @definition.property)))

; Parameters. One with a modifier is a property of the class as well.
(formal_parameters [(required_parameter) (optional_parameter)] @parameter) @parameters
(required_parameter type: (type_annotation (_) @type)) @of
(optional_parameter type: (type_annotation (_) @type)) @of
(required_parameter [(accessibility_modifier) (override_modifier) "readonly"] pattern: (identifier) @name) @definition.property
(optional_parameter [(accessibility_modifier) (override_modifier) "readonly"] pattern: (identifier) @name) @definition.property
(required_parameter pattern: (identifier) @name) @definition.parameter
(optional_parameter pattern: (identifier) @name) @definition.parameter
(required_parameter pattern: (rest_pattern (identifier) @name)) @definition.parameter
(required_parameter [(accessibility_modifier) (override_modifier) "readonly"] @modifier) @of
(optional_parameter [(accessibility_modifier) (override_modifier) "readonly"] @modifier) @of
(required_parameter decorator: (decorator) @attribute) @of
(required_parameter pattern: [(object_pattern) (array_pattern)]) @binding
(optional_parameter pattern: [(object_pattern) (array_pattern)]) @binding
(type_parameter name: (type_identifier) @name) @definition.typeParameter
(mapped_type_clause name: (type_identifier) @name) @definition.typeParameter
(infer_type (type_identifier) @name) @definition.typeParameter
