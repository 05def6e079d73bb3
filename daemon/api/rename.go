package api

// Rename is the input of rename.
type Rename struct {
	Request
	Address
	NewName            string `json:"newName" required:"true" doc:"the new name, without qualification"`
	IncludeComments    bool   `json:"includeComments" default:"true" doc:"change whole words in comments of files that refer to the symbol"`
	IncludeStrings     bool   `json:"includeStrings,omitempty" doc:"change whole words in string literals of those files"`
	RenameOverloads    bool   `json:"renameOverloads,omitempty" doc:"rename all overloads of the containing type"`
	RenameBackingField bool   `json:"renameBackingField" default:"true" doc:"a private backing field named after its property follows"`
	RenameFile         bool   `json:"renameFile,omitempty" doc:"a file named after the type follows"`
	Mutation
}

func refactorSpecs() []Spec {
	return []Spec{{
		Name: "rename", Tool: "code.refactor", Method: "aura_rename_symbol", Group: "Refactor",
		Summary: "Rename a symbol everywhere it is used",
		Long: "Implementations and overrides of an interface member follow, and so do doc references, names that follow\n" +
			"by convention, and words in comments. Illegal names and clashes are refused before anything is written;\n" +
			"new build errors put everything back.",
		Example:    "auractl rename OrderService PurchaseService --preview\nauractl rename order.go:12:9 Store",
		Positional: []string{"symbolName", "newName"}, Input: Rename{}, Output: EditResult{},
		Mutating: true, Tier: ApplyTier,
	}}
}
