; What only JavaScript's grammar has.

(html_comment) @comment

(class_declaration name: (identifier) @name body: (_) @body) @definition.class
(class name: (identifier) @name body: (_) @body) @definition.class
(class_declaration (class_heritage (_) @base)) @of
(class_declaration decorator: (decorator) @attribute) @of
(variable_declarator value: (class (class_heritage (_) @base))) @of
(field_definition property: [(property_identifier) (private_property_identifier)] @name) @definition.property
(field_definition "static" @modifier) @of
(field_definition decorator: (decorator) @attribute) @of
(method_definition decorator: (decorator) @attribute) @of

(formal_parameters [(identifier) (assignment_pattern) (object_pattern) (array_pattern) (rest_pattern)] @parameter) @parameters
(formal_parameters (identifier) @definition.parameter)
(formal_parameters (assignment_pattern left: (identifier) @name) @definition.parameter)
(formal_parameters (rest_pattern (identifier) @name) @definition.parameter)
(formal_parameters [(object_pattern) (array_pattern)] @binding)
(formal_parameters (assignment_pattern left: [(object_pattern) (array_pattern)]) @binding)

; Properties come into being by assignment.
(assignment_expression left: (member_expression object: (this)
  property: [(property_identifier) (private_property_identifier)] @member.property)) @binding
((assignment_expression left: (member_expression object: (identifier) @_exports property: (property_identifier) @name)
  right: (function_expression parameters: (_) @parameters body: (_) @body)) @definition.function (#eq? @_exports "exports"))
((assignment_expression left: (member_expression object: (identifier) @_exports property: (property_identifier) @name)
  right: (arrow_function parameters: (_) @parameters body: (_) @body)) @definition.function (#eq? @_exports "exports"))
((assignment_expression left: (member_expression object: (identifier) @_exports property: (property_identifier) @name))
  @definition.variable (#eq? @_exports "exports"))
