; What the nodes of Bash's grammar mean; graph/syntax lists the captures.

(variable_name) @identifier
(command_name (word) @identifier)
(function_definition name: (word) @identifier)
(comment) @comment
[(string) (raw_string) (ansi_c_string) (heredoc_body)] @string
(string [(simple_expansion) (expansion) (command_substitution) (arithmetic_expansion)] @interpolation)
(heredoc_body [(simple_expansion) (expansion) (command_substitution) (arithmetic_expansion)] @interpolation)

(function_definition name: (word) @name body: (_) @body) @definition.function

; The first binding of a name in its scope declares it.
(variable_assignment) @binding
(variable_assignment name: (variable_name) @assigned.variable)
(declaration_command) @binding
(declaration_command (variable_name) @assigned.variable)
(declaration_command (variable_assignment) @inner) @outer
(declaration_command ["declare" "typeset" "export" "readonly" "local"] @modifier) @of
(for_statement variable: (variable_name) @assigned.variable)
((command name: (command_name (word) @_read) argument: (word) @assigned.variable) (#eq? @_read "read") (#not-any-of? @assigned.variable "-r" "-a" "-p" "-s" "-n" "-d" "-t" "-e"))

((command name: (command_name (word) @_source) argument: [(word) (string) (concatenation) (raw_string)] @path) @import (#any-of? @_source "source" "."))

; Calls.
(command name: (command_name (word) @call))
