; What only the grammars with elements of markup have; graph/syntax lists the captures.

; An element calls its component.
(jsx_opening_element name: [(identifier) @call (member_expression property: (property_identifier) @call)])
(jsx_self_closing_element name: [(identifier) @call (member_expression property: (property_identifier) @call)])
