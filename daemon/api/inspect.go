package api

// Outline is the input of outline: the symbols of a file, or of the one symbol
// in it that the address names.
type Outline struct {
	Request
	FilePath       string `json:"filePath" required:"true" doc:"file to list" cli:"path"`
	SymbolName     string `json:"symbolName,omitempty" also:"fullName,fullyQualifiedName,typeName" doc:"list this symbol only, with what it holds"`
	ContainingType string `json:"containingType,omitempty" doc:"type that declares the symbol"`
	SymbolKind     string `json:"symbolKind,omitempty" doc:"list symbols of this kind only"`
	Limit          int    `json:"limit" default:"100" min:"1" doc:"most symbols to answer with; total says how many there are"`
}

// SymbolQuery is the input of symbol.
type SymbolQuery struct {
	Request
	Address
	Limit int `json:"limit" default:"100" min:"1" doc:"most symbols to answer with, when several match"`
}

// Counts says how often a symbol is used. A field is absent where it cannot be known.
type Counts struct {
	References      *int `json:"references,omitempty"` // the declaration not counted
	Callers         *int `json:"callers,omitempty"`
	Implementations *int `json:"implementations,omitempty"`
}

// SymbolDetail is what symbol says about one symbol.
type SymbolDetail struct {
	SymbolEntry
	Documentation string  `json:"documentation,omitempty"`
	BodyRange     *Range  `json:"bodyRange,omitempty"`
	Counts        *Counts `json:"counts,omitempty"`
}

// SymbolDetails is the answer of symbol.
type SymbolDetails struct {
	Operation  string         `json:"operation"`
	Symbol     *SymbolRef     `json:"symbol,omitempty"`
	Candidates []Candidate    `json:"candidates,omitempty"`
	Symbols    []SymbolDetail `json:"symbols"`
	Total      int            `json:"total"`
	Truncated  bool           `json:"truncated"`
	Trust
}

// DiagnosticsQuery is the input of diagnostics.
type DiagnosticsQuery struct {
	Request
	FilePath    string `json:"filePath,omitempty" doc:"file to report; without one, all files that servers have reported" cli:"path"`
	MinSeverity string `json:"minSeverity" default:"hint" enum:"error|warning|information|hint" doc:"least severity to report"`
	Limit       int    `json:"limit" default:"100" min:"1" doc:"most diagnostics to answer with; total says how many there are"`
}

// Diagnostic is one finding of a language server.
type Diagnostic struct {
	Problem
	EndLine   int    `json:"endLine"`
	EndColumn int    `json:"endColumn"`
	Origin    string `json:"origin,omitempty"` // the tool that found it, as the server names it: compiler, unusedparams
}

// Diagnostics is the answer of diagnostics.
type Diagnostics struct {
	Operation   string       `json:"operation"`
	Diagnostics []Diagnostic `json:"diagnostics"`
	Total       int          `json:"total"`
	Truncated   bool         `json:"truncated"`
	Trust
}

func inspectSpecs() []Spec {
	return []Spec{
		{
			Name: "outline", Tool: "code.inspect", Group: "Inspect", Summary: "Symbol tree of a file",
			Example:    "auractl outline command.go",
			Positional: []string{"filePath"}, Input: Outline{}, Output: Symbols{},
		},
		{
			Name: "symbol", Tool: "code.inspect", Group: "Inspect", Summary: "Signature, documentation and use counts of a symbol",
			Example:    "auractl symbol OrderService.Save\nauractl symbol order.go:12:9",
			Positional: []string{"symbolName"}, Input: SymbolQuery{}, Output: SymbolDetails{},
		},
		{
			Name: "diagnostics", Tool: "code.inspect", Group: "Inspect", Summary: "What the language servers report about a file, or all files",
			Example:    "auractl diagnostics order.go --min-severity warning",
			Positional: []string{"filePath"}, Input: DiagnosticsQuery{}, Output: Diagnostics{},
		},
	}
}
