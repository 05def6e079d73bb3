; What the nodes of Java's grammar mean; graph/syntax lists the captures.

[(identifier) (type_identifier)] @identifier
[(line_comment) (block_comment)] @comment
(string_literal) @string
(string_interpolation) @interpolation

(package_declaration [(identifier) (scoped_identifier)] @package)
(import_declaration [(identifier) (scoped_identifier)] @path) @import

; Types.
(class_declaration name: (identifier) @name body: (_) @body) @definition.class
(interface_declaration name: (identifier) @name body: (_) @body) @definition.interface
(annotation_type_declaration name: (identifier) @name body: (_) @body) @definition.interface
(enum_declaration name: (identifier) @name body: (_) @body) @definition.enum
(record_declaration name: (identifier) @name body: (_) @body) @definition.record
(enum_constant name: (identifier) @name) @definition.enumMember
(enum_constant body: (_) @body) @of
(type_parameter (type_identifier) @name) @definition.typeParameter
(class_declaration superclass: (superclass (_) @base)) @of
(class_declaration interfaces: (super_interfaces (type_list (_) @base))) @of
(enum_declaration interfaces: (super_interfaces (type_list (_) @base))) @of
(record_declaration interfaces: (super_interfaces (type_list (_) @base))) @of
(interface_declaration (extends_interfaces (type_list (_) @base))) @of

; Members.
(method_declaration type: (_) @result name: (identifier) @name parameters: (_) @parameters) @definition.method
(method_declaration body: (_) @body) @of
(annotation_type_element_declaration type: (_) @result name: (identifier) @name) @definition.method
(constructor_declaration name: (identifier) @name parameters: (_) @parameters body: (_) @body) @definition.constructor
(compact_constructor_declaration name: (identifier) @name body: (_) @body) @definition.constructor
(field_declaration declarator: (variable_declarator name: (identifier) @name) @definition.field)
(field_declaration type: (_) @type declarator: (variable_declarator) @of)
(field_declaration declarator: (variable_declarator) @inner) @statement
(constant_declaration declarator: (variable_declarator name: (identifier) @name) @definition.constant)
(constant_declaration type: (_) @type declarator: (variable_declarator) @of)
(constant_declaration declarator: (variable_declarator) @inner) @statement

; Modifiers and annotations.
([(class_declaration (modifiers ["public" "protected" "private" "abstract" "static" "final" "strictfp" "sealed" "non-sealed"] @modifier))
  (interface_declaration (modifiers ["public" "protected" "private" "abstract" "static" "sealed" "non-sealed"] @modifier))
  (annotation_type_declaration (modifiers ["public" "protected" "private" "abstract" "static"] @modifier))
  (enum_declaration (modifiers ["public" "protected" "private" "static"] @modifier))
  (record_declaration (modifiers ["public" "protected" "private" "static" "final"] @modifier))
  (method_declaration (modifiers ["public" "protected" "private" "abstract" "static" "final" "synchronized" "native" "default"] @modifier))
  (constructor_declaration (modifiers ["public" "protected" "private"] @modifier))
  (compact_constructor_declaration (modifiers ["public" "protected" "private"] @modifier))
  (field_declaration (modifiers ["public" "protected" "private" "static" "final" "transient" "volatile"] @modifier))
  (constant_declaration (modifiers ["public" "static" "final"] @modifier))
  (local_variable_declaration (modifiers "final" @modifier))] @of)
([(class_declaration (modifiers [(annotation) (marker_annotation)] @attribute))
  (interface_declaration (modifiers [(annotation) (marker_annotation)] @attribute))
  (annotation_type_declaration (modifiers [(annotation) (marker_annotation)] @attribute))
  (enum_declaration (modifiers [(annotation) (marker_annotation)] @attribute))
  (record_declaration (modifiers [(annotation) (marker_annotation)] @attribute))
  (method_declaration (modifiers [(annotation) (marker_annotation)] @attribute))
  (annotation_type_element_declaration (modifiers [(annotation) (marker_annotation)] @attribute))
  (constructor_declaration (modifiers [(annotation) (marker_annotation)] @attribute))
  (field_declaration (modifiers [(annotation) (marker_annotation)] @attribute))
  (constant_declaration (modifiers [(annotation) (marker_annotation)] @attribute))
  (enum_constant (modifiers [(annotation) (marker_annotation)] @attribute))
  (formal_parameter (modifiers [(annotation) (marker_annotation)] @attribute))] @of)

; Parameters. Those of a record are its properties.
(formal_parameters [(formal_parameter) (spread_parameter)] @parameter) @parameters
(record_declaration parameters: (formal_parameters (formal_parameter name: (identifier) @name) @definition.property))
(formal_parameter type: (_) @type) @of
(formal_parameter name: (identifier) @name) @definition.parameter
(spread_parameter [(type_identifier) (scoped_type_identifier) (generic_type) (array_type) (integral_type) (floating_point_type) (boolean_type)] @type) @of
(spread_parameter (variable_declarator name: (identifier) @name)) @definition.parameter
(lambda_expression parameters: (identifier) @definition.parameter)
(inferred_parameters (identifier) @definition.parameter)

; Variables.
(local_variable_declaration declarator: (variable_declarator name: (identifier) @name) @definition.variable)
(local_variable_declaration type: (_) @type declarator: (variable_declarator) @of)
(local_variable_declaration declarator: (variable_declarator) @inner) @statement
(enhanced_for_statement type: (_) name: (identifier) @definition.variable)
(resource name: (identifier) @name) @definition.variable
(catch_formal_parameter name: (identifier) @name) @definition.variable
(instanceof_expression name: (identifier) @definition.variable)
(type_pattern (identifier) @definition.variable)
(record_pattern_component (identifier) @definition.variable)

[(block) (lambda_expression) (static_initializer)] @scope

; Calls.
(method_invocation name: (identifier) @call)
(object_creation_expression type: [(type_identifier) @call (generic_type . (type_identifier) @call) (scoped_type_identifier (type_identifier) @call .)
  (generic_type . (scoped_type_identifier (type_identifier) @call .))])
