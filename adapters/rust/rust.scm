; What the nodes of Rust's grammar mean; graph/syntax lists the captures.

[(identifier) (type_identifier) (field_identifier) (shorthand_field_identifier)] @identifier
[(line_comment) (block_comment)] @comment
[(string_literal) (raw_string_literal)] @string
(attribute_item) @attribute

; Functions. Those with a receiver are methods.
(function_item name: (identifier) @name parameters: (parameters . (self_parameter)) @parameters body: (_) @body) @definition.method
(function_item name: (identifier) @name parameters: (parameters . (parameter pattern: (self))) @parameters body: (_) @body) @definition.method
(function_item name: (identifier) @name parameters: (_) @parameters body: (_) @body) @definition.function
(function_signature_item name: (identifier) @name parameters: (parameters . (self_parameter)) @parameters) @definition.method
(function_signature_item name: (identifier) @name parameters: (parameters . (parameter pattern: (self))) @parameters) @definition.method
(function_signature_item name: (identifier) @name parameters: (_) @parameters) @definition.function
(function_item return_type: (_) @result) @of
(function_signature_item return_type: (_) @result) @of
(function_item (function_modifiers) @modifier) @of
(function_signature_item (function_modifiers) @modifier) @of
(macro_definition name: (identifier) @name) @definition.function

; Types and their members.
(struct_item name: (type_identifier) @name) @definition.struct
(struct_item body: (field_declaration_list) @body) @of
(union_item name: (type_identifier) @name body: (_) @body) @definition.struct
(enum_item name: (type_identifier) @name body: (_) @body) @definition.enum
(enum_variant name: (identifier) @name) @definition.enumMember
(enum_variant body: (field_declaration_list) @body) @of
(field_declaration name: (field_identifier) @name type: (_) @type) @definition.field
(trait_item name: (type_identifier) @name body: (_) @body) @definition.trait
(trait_item bounds: (trait_bounds (_) @base)) @of
(associated_type name: (type_identifier) @name) @definition.typeAlias
(associated_type bounds: (trait_bounds (_) @base)) @of
(type_item name: (type_identifier) @name) @definition.typeAlias
(const_item name: (identifier) @name type: (_) @type) @definition.constant
(static_item name: (identifier) @name type: (_) @type) @definition.variable
(static_item (mutable_specifier) @modifier) @of
(mod_item name: (identifier) @name) @definition.module
(mod_item body: (_) @body) @of

; Implementations carry the name of their type.
(impl_item type: (type_identifier) @name) @container
(impl_item type: (generic_type type: (type_identifier) @name)) @container
(impl_item type: (scoped_type_identifier name: (type_identifier) @name)) @container
(impl_item type: (generic_type type: (scoped_type_identifier name: (type_identifier) @name))) @container
(impl_item type: (reference_type type: (type_identifier) @name)) @container
(impl_item type: (_) @name) @container
(impl_item trait: (_) @trait) @of

; Visibility.
(function_item (visibility_modifier) @modifier) @of
(function_signature_item (visibility_modifier) @modifier) @of
(struct_item (visibility_modifier) @modifier) @of
(union_item (visibility_modifier) @modifier) @of
(enum_item (visibility_modifier) @modifier) @of
(trait_item (visibility_modifier) @modifier) @of
(type_item (visibility_modifier) @modifier) @of
(const_item (visibility_modifier) @modifier) @of
(static_item (visibility_modifier) @modifier) @of
(mod_item (visibility_modifier) @modifier) @of
(field_declaration (visibility_modifier) @modifier) @of
(enum_variant (visibility_modifier) @modifier) @of

; Parameters.
(parameters [(parameter) (variadic_parameter)] @parameter) @parameters
(parameter type: (_) @type) @of
(parameter pattern: (identifier) @name) @definition.parameter
(parameter) @binding
(closure_parameters (identifier) @definition.parameter)
(closure_parameters) @binding
(type_parameter name: (type_identifier) @name) @definition.typeParameter
(const_parameter name: (identifier) @name) @definition.typeParameter
(lifetime_parameter name: (lifetime (identifier) @name)) @definition.typeParameter
[(block) (closure_expression)] @scope

; Patterns.
(let_declaration) @binding
(let_declaration pattern: (identifier) @bound.variable)
(let_declaration pattern: (identifier) @of type: (_) @type)
(let_condition) @binding
(let_condition pattern: (identifier) @bound.variable)
(for_expression pattern: (_) @binding)
(for_expression pattern: (identifier) @bound.variable)
(match_pattern) @binding
(match_pattern . (identifier) @bound.variable)
(tuple_pattern (identifier) @bound.variable)
(slice_pattern (identifier) @bound.variable)
(tuple_struct_pattern type: (_) (identifier) @bound.variable)
(field_pattern name: (shorthand_field_identifier) @bound.variable)
(field_pattern pattern: (identifier) @bound.variable)
(mut_pattern (identifier) @bound.variable)
(ref_pattern (identifier) @bound.variable)
(reference_pattern (identifier) @bound.variable)
(captured_pattern . (identifier) @bound.variable)
(or_pattern (identifier) @bound.variable)

; Imports.
(use_declaration argument: (_) @path) @import
(extern_crate_declaration name: (identifier) @path) @import
((use_as_clause alias: (identifier) @name) @definition.namespace (#not-eq? @name "_"))
(extern_crate_declaration alias: (identifier) @name) @definition.namespace

; Calls. Within the brackets of a macro there are only tokens.
(call_expression function: [(identifier) @call (scoped_identifier name: (identifier) @call) (field_expression field: (field_identifier) @call)])
(call_expression function: (generic_function function: [(identifier) @call (scoped_identifier name: (identifier) @call) (field_expression field: (field_identifier) @call)]))
(call_expression function: (parenthesized_expression (field_expression field: (field_identifier) @call)))
(macro_invocation macro: [(identifier) @call (scoped_identifier name: (identifier) @call)])
(token_tree (identifier) @call . (token_tree . "("))
