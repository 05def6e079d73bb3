package api

// SearchQuery is the input of search.
type SearchQuery struct {
	Request
	Query       string `json:"query" required:"true" doc:"a symbol's name, some words, or a question in a sentence"`
	FilePattern string `json:"filePattern,omitempty" doc:"glob of files, relative to the workspace: src/**/*.x; a pattern without / is matched against the file's name"`
	ContentType string `json:"contentType" default:"all" enum:"code|docs|config|all" doc:"what kind of files to search"`
	Limit       int    `json:"limit" default:"10" min:"1" doc:"most results to answer with; total says how many there are"`
}

// SemanticQuery is the input of semantic_query.
type SemanticQuery struct {
	Request
	Concept             string `json:"concept" required:"true" also:"query" doc:"what to look for, in words"`
	ImplementsInterface string `json:"implementsInterface,omitempty" doc:"only in types that implement this interface, trait or protocol, also by way of others"`
	InheritsFrom        string `json:"inheritsFrom,omitempty" doc:"only in types that derive from this type, also by way of others"`
	HasAttribute        string `json:"hasAttribute,omitempty" doc:"only what carries this attribute, decorator or derive, itself or on what holds it"`
	Limit               int    `json:"limit" default:"10" min:"1" doc:"most results to answer with; total says how many there are"`
}

// SearchResult is one answer of a search. Line to EndLine are the lines of the snippet.
type SearchResult struct {
	Type     string  `json:"type"`  // exact_match, chunk
	Score    float64 `json:"score"` // above 0, at most 1
	Name     string  `json:"name,omitempty"`
	Kind     string  `json:"kind,omitempty"`
	SymbolID string  `json:"symbolId,omitempty"`
	File     string  `json:"file"`
	Line     int     `json:"line"`
	EndLine  int     `json:"endLine"` // included
	Snippet  string  `json:"snippet"`
}

// SearchResults is the answer of search and semantic_query.
type SearchResults struct {
	Operation string         `json:"operation"`
	Results   []SearchResult `json:"results"`
	Ranking   string         `json:"ranking"` // lexical, hybrid
	Total     int            `json:"total"`
	Truncated bool           `json:"truncated"`
	Trust
}

func searchSpecs() []Spec {
	return []Spec{
		{
			Name: "search", Method: "code.search", Aliases: []string{"aura_search_code", "code_search"}, Group: "Search",
			Summary: "Find code, documents and settings by a name, words or a question",
			Long: "An exact symbol name comes first; then parts of files, ranked by their words: identifiers are taken apart,\n" +
				"words stemmed, names and doc comments weigh more. Ignored, vendored, generated and binary files stay out.",
			Example:    "auractl search OrderService\nauractl search \"where are flags parsed\" --content-type code\nauractl search retry --file-pattern 'client/**'",
			Positional: []string{"query"}, Input: SearchQuery{}, Output: SearchResults{},
		},
		{
			Name: "semantic_query", Method: "aura_semantic_code_query", Group: "Search",
			Summary:    "Search that also asks for bases, interfaces or attributes",
			Example:    "auractl semantic-query \"save an order\" --implements-interface Store",
			Positional: []string{"concept"}, Input: SemanticQuery{}, Output: SearchResults{},
		},
	}
}
