; What the nodes that the grammars of C and C++ share mean; graph/syntax lists the captures.

[(identifier) (type_identifier) (field_identifier) (statement_identifier)] @identifier
(comment) @comment
[(string_literal) (system_lib_string)] @string

(preproc_include path: [(string_literal (string_content) @path) (system_lib_string) @path]) @import
(preproc_def name: (identifier) @name) @definition.constant
(preproc_function_def name: (identifier) @name parameters: (_) @parameters) @definition.function
(preproc_params (identifier) @parameter) @parameters
(preproc_params (identifier) @definition.parameter)

; Types.
(struct_specifier name: (type_identifier) @name body: (_) @body) @definition.struct
(union_specifier name: (type_identifier) @name body: (_) @body) @definition.struct
(enum_specifier name: (type_identifier) @name body: (_) @body) @definition.enum
(enumerator name: (identifier) @name) @definition.enumMember
(type_definition type: (struct_specifier !name body: (_) @body) declarator: (type_identifier) @name) @definition.struct
(type_definition type: (union_specifier !name body: (_) @body) declarator: (type_identifier) @name) @definition.struct
(type_definition type: (enum_specifier !name body: (_) @body) declarator: (type_identifier) @name) @definition.enum
(type_definition type: [(struct_specifier) (union_specifier) (enum_specifier)] @inner) @outer
(type_definition declarator: (type_identifier) @definition.typeAlias)
(type_definition declarator: (_ declarator: (type_identifier) @name) @definition.typeAlias)
(type_definition declarator: (function_declarator declarator: (parenthesized_declarator (_ declarator: (type_identifier) @name))) @definition.typeAlias)
(type_definition type: [(primitive_type) (type_identifier) (sized_type_specifier) (struct_specifier !body) (union_specifier !body) (enum_specifier !body)]
  declarator: (_) @inner) @statement

; Functions, by how far their result is pointed to.
(function_definition declarator: (function_declarator declarator: (identifier) @name parameters: (_) @parameters) body: (_) @body) @definition.function
(function_definition declarator: (_ declarator: (function_declarator declarator: (identifier) @name parameters: (_) @parameters)) body: (_) @body) @definition.function
(function_definition declarator: (_ declarator: (_ declarator: (function_declarator declarator: (identifier) @name parameters: (_) @parameters))) body: (_) @body) @definition.function
(declaration declarator: (function_declarator declarator: (identifier) @name parameters: (_) @parameters) @definition.function)
(declaration declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name parameters: (_) @parameters)) @definition.function)
(declaration declarator: (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name parameters: (_) @parameters))) @definition.function)
(function_definition type: (_) @result) @of
(function_definition [(storage_class_specifier) (type_qualifier)] @modifier) @of
(function_definition (attribute_specifier) @attribute) @of

; Variables and fields.
(declaration declarator: (identifier) @definition.variable)
(declaration declarator: (_ declarator: (identifier) @name) @definition.variable)
(declaration declarator: (_ declarator: (_ declarator: (identifier) @name)) @definition.variable)
(declaration declarator: (_ declarator: (_ declarator: (_ declarator: (identifier) @name))) @definition.variable)
(declaration declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @name))) @definition.variable)
(declaration declarator: (init_declarator declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @name)))) @definition.variable)
(declaration type: (_) @type declarator: (_) @of)
(declaration declarator: (_) @inner) @statement
(declaration [(storage_class_specifier) (type_qualifier)] @modifier) @of
(declaration (attribute_specifier) @attribute) @of
(field_declaration declarator: (field_identifier) @definition.field)
(field_declaration declarator: (_ declarator: (field_identifier) @name) @definition.field)
(field_declaration declarator: (_ declarator: (_ declarator: (field_identifier) @name)) @definition.field)
(field_declaration declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (field_identifier) @name))) @definition.field)
(field_declaration type: (_) @type declarator: (_) @of)
(field_declaration declarator: (_) @inner) @statement
(field_declaration [(storage_class_specifier) (type_qualifier)] @modifier) @of

; Parameters.
(parameter_list (parameter_declaration) @parameter) @parameters
(parameter_declaration type: (_) @type) @of
(parameter_declaration declarator: (identifier) @name) @definition.parameter
(parameter_declaration declarator: (_ declarator: (identifier) @name)) @definition.parameter
(parameter_declaration declarator: (_ declarator: (_ declarator: (identifier) @name))) @definition.parameter
(parameter_declaration declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @name)))) @definition.parameter

(for_statement) @scope

; Calls.
(call_expression function: [(identifier) @call (field_expression field: (field_identifier) @call)])
(call_expression function: (parenthesized_expression (pointer_expression argument: [(identifier) @call (field_expression field: (field_identifier) @call)])))
