package api

// Scope narrows a question about the whole workspace.
type Scope struct {
	FilePath       string `json:"filePath,omitempty" doc:"in this file only" cli:"path"`
	FilePattern    string `json:"filePattern,omitempty" doc:"glob of files: src/**, or of file names: *_test.*"`
	ContainingType string `json:"containingType,omitempty" doc:"what is declared in this type only"`
	Limit          int    `json:"limit" default:"100" min:"1" doc:"most symbols to answer with; total says how many there are"`
}

// ListTypes is the input of list_types.
type ListTypes struct {
	Request
	NamePattern string `json:"namePattern,omitempty" also:"symbolName,typeName" doc:"glob of the name, or of the end of the qualified name: *Service, store.*"`
	SymbolKind  string `json:"symbolKind,omitempty" doc:"class (records and structs too), or exactly struct, record, interface, trait, enum, typeAlias"`
	Scope
}

// TypeMembers is the input of type_members.
type TypeMembers struct {
	Request
	Address
	IncludeInherited bool `json:"includeInherited,omitempty" doc:"also members of bases, embedded and implemented types"`
	Limit            int  `json:"limit" default:"100" min:"1" doc:"most members to answer with; total says how many there are"`
}

// ByAttribute is the input of by_attribute.
type ByAttribute struct {
	Request
	AttributeName string `json:"attributeName" required:"true" also:"symbolName" doc:"attribute, decorator, derive, tag key or directive; brackets, arguments and namespace may be left out"`
	SymbolType    string `json:"symbolType" default:"all" enum:"all|class|method|function|property|field" also:"symbolKind" doc:"kind of symbols; class stands for all types"`
	Scope
}

// ExtensionMethods is the input of extension_methods.
type ExtensionMethods struct {
	Request
	TargetType  string `json:"targetType" required:"true" also:"symbolName,typeName" doc:"type that is extended, of the workspace or of anywhere else"`
	FilePath    string `json:"filePath,omitempty" doc:"in this file only" cli:"path"`
	FilePattern string `json:"filePattern,omitempty" doc:"glob of files: src/**, or of file names: *_test.*"`
	Limit       int    `json:"limit" default:"100" min:"1" doc:"most symbols to answer with; total says how many there are"`
}

// BySignature is the input of by_signature.
type BySignature struct {
	Request
	ReturnType    string `json:"returnType,omitempty" doc:"type of a result; with type arguments exactly those: Task, Task<Order>"`
	ParameterType string `json:"parameterType,omitempty" doc:"type of a parameter"`
	SymbolKind    string `json:"symbolKind,omitempty" doc:"method, function, constructor or operator only"`
	Scope
}

// ListedSymbol is one symbol of a Listing. Its place is that of its name.
type ListedSymbol struct {
	SymbolEntry
	BodyRange    *Range     `json:"bodyRange,omitempty"`    // the whole declaration
	Static       bool       `json:"static,omitempty"`       // a member of the type, not of its values
	Inherited    bool       `json:"inherited,omitempty"`    // a member of the base that container names
	Via          string     `json:"via,omitempty"`          // extension_methods: extension, impl, method, firstParameter
	Declarations []Location `json:"declarations,omitempty"` // further ones of the same symbol
}

// Listing is the answer of list_types, type_members, by_attribute,
// extension_methods and by_signature.
type Listing struct {
	Operation  string         `json:"operation"`
	Symbol     *SymbolRef     `json:"symbol,omitempty"`
	Candidates []Candidate    `json:"candidates,omitempty"`
	Symbols    []ListedSymbol `json:"symbols"`
	Total      int            `json:"total"`
	Truncated  bool           `json:"truncated"`
	Trust
}

func graphSpecs() []Spec {
	spec := func(name, method, summary string, input any, positional ...string) Spec {
		return Spec{
			Name: name, Tool: "code.inspect", Method: method, Group: "Inspect", Summary: summary,
			Positional: positional, Input: input, Output: Listing{},
		}
	}
	types := spec("list_types", "aura_list_classes", "Types of the workspace, nested and local ones too", ListTypes{}, "namePattern")
	types.Example = "auractl list-types '*Service'\nauractl list-types --symbol-kind interface --file-pattern 'src/**'"
	members := spec("type_members", "aura_get_type_members", "Members of a type, wherever they are declared", TypeMembers{}, "symbolName")
	members.Long = "Methods in other files, further parts of the type and what implements traits for it count. Inherited members\nare those of bases in the workspace; the answer names the bases that are elsewhere."
	members.Example = "auractl type-members Order --include-inherited"
	attribute := spec("by_attribute", "aura_find_by_attribute", "Symbols that carry an attribute, decorator, derive, tag or directive", ByAttribute{}, "attributeName")
	attribute.Example = "auractl by-attribute pytest.fixture\nauractl by-attribute json --symbol-type field"
	extensions := spec("extension_methods", "aura_find_extension_methods", "What extends a type from outside of it", ExtensionMethods{}, "targetType")
	extensions.Example = "auractl extension-methods Order"
	signature := spec("by_signature", "aura_find_methods_by_signature", "Methods and functions by the types of results and parameters", BySignature{}, "returnType")
	signature.Aliases = []string{"aura_find_by_return_type"}
	signature.Long = "Types are compared as they are written: a name stands for all that has it, with any namespace, type arguments,\npointers and nullability; what is given of these must be there."
	signature.Example = "auractl by-signature error --parameter-type context.Context\nauractl by-signature 'Task<Order>' --containing-type OrderService"
	return []Spec{types, members, attribute, extensions, signature}
}
