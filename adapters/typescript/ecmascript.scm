; What the nodes that both grammars have mean; graph/syntax lists the captures.

[(identifier) (property_identifier) (private_property_identifier) (statement_identifier)
 (shorthand_property_identifier) (shorthand_property_identifier_pattern)] @identifier
(comment) @comment
[(string) (template_string)] @string
(template_substitution) @interpolation

; Exports and imports.
(export_statement declaration: (_) @inner) @outer
(export_statement ["export" "default"] @modifier) @of
(export_statement decorator: (decorator) @attribute) @of
(export_statement !source (export_clause (export_specifier name: (identifier) @exported)))
(export_statement value: (identifier) @exported)
(export_statement (export_clause (export_specifier alias: (identifier) @name @exported) @definition.variable))
(namespace_export (identifier) @name @exported) @definition.namespace
(export_statement source: (string (string_fragment) @path)) @import
(import_statement (import_clause (namespace_import (identifier) @alias)) source: (string (string_fragment) @path)) @import
(import_statement source: (string (string_fragment) @path)) @import
(import_statement (import_clause (identifier) @default) source: (string (string_fragment) @path)) @import
(import_statement (import_clause (named_imports (import_specifier name: (identifier) @imported !alias))) source: (string (string_fragment) @path)) @import
(import_statement (import_clause (named_imports (import_specifier name: (identifier) @imported alias: (identifier) @alias))) source: (string (string_fragment) @path)) @import
(call_expression function: (import) arguments: (arguments . (string (string_fragment) @path))) @import
((call_expression function: (identifier) @_call arguments: (arguments . (string (string_fragment) @path))) @import
  (#eq? @_call "require"))
((variable_declarator name: (identifier) @alias value: (call_expression function: (identifier) @_call arguments: (arguments . (string (string_fragment) @path))) @import)
  (#eq? @_call "require"))
((variable_declarator name: (object_pattern (shorthand_property_identifier_pattern) @imported)
  value: (call_expression function: (identifier) @_call arguments: (arguments . (string (string_fragment) @path))) @import) (#eq? @_call "require"))
((variable_declarator name: (object_pattern (pair_pattern key: (property_identifier) @imported value: (identifier) @alias))
  value: (call_expression function: (identifier) @_call arguments: (arguments . (string (string_fragment) @path))) @import) (#eq? @_call "require"))
(import_statement) @scope @binding
((lexical_declaration (variable_declarator value: (call_expression function: (identifier) @_call))) @scope (#eq? @_call "require"))
((variable_declaration (variable_declarator value: (call_expression function: (identifier) @_call))) @scope (#eq? @_call "require"))
(import_clause (identifier) @bound.variable)
(namespace_import (identifier) @bound.namespace)
(import_specifier alias: (identifier) @bound.variable)

; Functions and methods.
(function_declaration name: (identifier) @name parameters: (_) @parameters body: (_) @body) @definition.function
(generator_function_declaration name: (identifier) @name parameters: (_) @parameters body: (_) @body) @definition.function
(function_expression name: (identifier) @name parameters: (_) @parameters body: (_) @body) @definition.function
(function_declaration "async" @modifier) @of
(generator_function_declaration "async" @modifier) @of
(method_definition name: [(property_identifier) (private_property_identifier)] @name
  parameters: (_) @parameters body: (_) @body) @definition.method
(method_definition ["static" "async" "get" "set"] @modifier) @of
(method_definition body: (_) @scope)

; Variables. One that holds a function is called as one.
(lexical_declaration (variable_declarator) @inner) @statement
(variable_declaration (variable_declarator) @inner) @statement
(lexical_declaration "const" @modifier) @of
(variable_declarator name: (identifier) @name
  value: (arrow_function parameters: (_) @parameters body: (_) @body)) @definition.function
(variable_declarator name: (identifier) @name
  value: (arrow_function parameter: (_) @parameters body: (_) @body)) @definition.function
(variable_declarator name: (identifier) @name
  value: (function_expression parameters: (_) @parameters body: (_) @body)) @definition.function
(variable_declarator name: (identifier) @name
  value: (generator_function parameters: (_) @parameters body: (_) @body)) @definition.function
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @definition.class
(variable_declarator name: (identifier) @name) @definition.variable
(variable_declarator value: (arrow_function "async" @modifier)) @of
(variable_declarator value: (function_expression "async" @modifier)) @of
(variable_declarator value: (object (pair key: (property_identifier) @name
  value: (arrow_function parameters: (_) @parameters body: (_) @body)) @definition.method))
(variable_declarator value: (object (pair key: (property_identifier) @name
  value: (function_expression parameters: (_) @parameters body: (_) @body)) @definition.method))
(variable_declarator value: (object (pair key: (property_identifier) @name) @definition.property))
(for_in_statement kind: _ left: (identifier) @definition.variable)
(catch_clause parameter: (identifier) @definition.variable)

; Patterns. Those outside of a binding assign.
(variable_declarator name: [(object_pattern) (array_pattern)]) @binding
(for_in_statement kind: _ left: [(object_pattern) (array_pattern)] @binding)
(catch_clause parameter: [(object_pattern) (array_pattern)] @binding)
(object_pattern (shorthand_property_identifier_pattern) @bound.variable)
(object_assignment_pattern left: (shorthand_property_identifier_pattern) @bound.variable)
(object_pattern (rest_pattern (identifier) @bound.variable))
(pair_pattern value: (identifier) @bound.variable)
(pair_pattern value: (assignment_pattern left: (identifier) @bound.variable))
(array_pattern (identifier) @bound.variable)
(array_pattern (assignment_pattern left: (identifier) @bound.variable))
(array_pattern (rest_pattern (identifier) @bound.variable))

; Parameters of arrows without parentheses.
(arrow_function parameter: (identifier) @definition.parameter)
(arrow_function parameter: (identifier) @parameter @parameters)

; Blocks that are not the body of a namespace.
[(arrow_function) (function_expression) (generator_function) (class_static_block) (arguments)
 (for_statement) (for_in_statement) (catch_clause) (switch_body)] @scope
(program (statement_block) @scope)
(statement_block (statement_block) @scope)
(if_statement (statement_block) @scope)
(else_clause (statement_block) @scope)
(while_statement (statement_block) @scope)
(do_statement (statement_block) @scope)
(try_statement (statement_block) @scope)
(finally_clause (statement_block) @scope)
(labeled_statement (statement_block) @scope)

; Calls.
(call_expression function: [(identifier) @call (member_expression property: [(property_identifier) (private_property_identifier)] @call)])
(new_expression constructor: [(identifier) @call (member_expression property: (property_identifier) @call)])
(decorator [(identifier) @call (member_expression property: (property_identifier) @call)])
(call_expression function: (parenthesized_expression (identifier) @call))
