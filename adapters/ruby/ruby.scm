; What the nodes of Ruby's grammar mean; graph/syntax lists the captures.

[(identifier) (constant) (instance_variable) (class_variable) (global_variable) (hash_key_symbol)] @identifier
(comment) @comment
[(string) (subshell) (regex) (heredoc_body) (string_array)] @string
(interpolation) @interpolation

; Classes and modules.
(class name: (constant) @name) @definition.class
(class name: (scope_resolution) @name) @definition.class
(module name: (constant) @name) @definition.module
(module name: (scope_resolution) @name) @definition.module
(class body: (_) @body) @of
(module body: (_) @body) @of
(class superclass: (superclass (_) @base)) @of
((class body: (body_statement (call !receiver method: (identifier) @_mix arguments: (argument_list [(constant) (scope_resolution)] @base)))) @of
  (#any-of? @_mix "include" "extend" "prepend"))
((module body: (body_statement (call !receiver method: (identifier) @_mix arguments: (argument_list [(constant) (scope_resolution)] @base)))) @of
  (#any-of? @_mix "include" "extend" "prepend"))
(assignment left: (constant) @name right: (call receiver: (constant) @_maker method: (identifier) @_new block: (_ body: (_) @body)) (#any-of? @_maker "Struct" "Class" "Data") (#any-of? @_new "new" "define")) @definition.class
(assignment left: (constant) @name right: (call receiver: (constant) @_maker method: (identifier) @_new) (#any-of? @_maker "Struct" "Class" "Data") (#any-of? @_new "new" "define")) @definition.class

; Methods and attributes.
(method name: (_) @name) @definition.method
(method parameters: (_) @parameters) @of
(method body: (_) @body) @of
(singleton_method "def" @modifier name: (_) @name) @definition.method
(singleton_method parameters: (_) @parameters) @of
(singleton_method body: (_) @body) @of
(alias name: (_) @name) @definition.method
((call !receiver method: (identifier) @_make arguments: (argument_list . (simple_symbol) @name)) @definition.method
  (#any-of? @_make "define_method" "alias_method"))
((call !receiver method: (identifier) @_make arguments: (argument_list (simple_symbol) @definition.property))
  (#any-of? @_make "attr_reader" "attr_writer" "attr_accessor"))
((call !receiver method: (identifier) @modifier arguments: (argument_list [(method) (singleton_method)] @of))
  (#any-of? @modifier "private" "protected" "public" "private_class_method" "module_function"))

; Parameters.
(method_parameters [(identifier) (optional_parameter) (keyword_parameter) (splat_parameter) (hash_splat_parameter) (block_parameter) (destructured_parameter)] @parameter) @parameters
(method_parameters (identifier) @definition.parameter)
(block_parameters (identifier) @definition.parameter)
(lambda_parameters (identifier) @definition.parameter)
(optional_parameter name: (identifier) @name) @definition.parameter
(keyword_parameter name: (identifier) @name) @definition.parameter
(splat_parameter name: (identifier) @name) @definition.parameter
(hash_splat_parameter name: (identifier) @name) @definition.parameter
(block_parameter name: (identifier) @name) @definition.parameter
(destructured_parameter (identifier) @definition.parameter)

; The first binding of a name in its scope declares it.
(assignment) @binding
(assignment left: (constant) @name) @assigned.constant
(assignment left: (identifier) @assigned.variable)
(assignment left: (global_variable) @assigned.variable)
(assignment left: (instance_variable) @member.field)
(assignment left: (class_variable) @member.field)
(operator_assignment left: (identifier) @assigned.variable) @binding
(operator_assignment left: (instance_variable) @member.field) @binding
(left_assignment_list (constant) @assigned.constant)
(left_assignment_list (identifier) @assigned.variable)
(left_assignment_list (instance_variable) @member.field)
(destructured_left_assignment (identifier) @assigned.variable)
(rest_assignment (identifier) @assigned.variable)
(exception_variable (identifier) @assigned.variable)
(for pattern: (identifier) @assigned.variable)
(as_pattern name: (identifier) @assigned.variable)
(array_pattern (identifier) @assigned.variable)
(keyword_pattern key: (hash_key_symbol) @assigned.variable !value)

[(block) (lambda)] @scope

; Imports.
((call !receiver method: (identifier) @_call arguments: (argument_list . (string (string_content) @path))) @import
  (#any-of? @_call "require" "require_relative" "load"))
((call !receiver method: (identifier) @_call arguments: (argument_list (string (string_content) @path) .)) @import
  (#eq? @_call "autoload"))

; Calls. Without receiver, arguments and parentheses they look like variables.
(call method: [(identifier) (constant)] @call)
