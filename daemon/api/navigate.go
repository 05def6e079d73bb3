package api

// Navigate is the input of definition, type_definition, references, usages,
// implementations and supertypes.
type Navigate struct {
	Request
	Address
	Limit int `json:"limit" default:"20" min:"1" doc:"most results to answer with; total says how many there are"`
	Wait  int `json:"wait" default:"-1" min:"-1" doc:"milliseconds to wait for a language server that is still loading before the symbol graph answers in its place; 0 asks only one that is ready, -1 waits while loading makes progress"`
}

// Calls is the input of callers and callees.
type Calls struct {
	Navigate
	Depth int `json:"depth" default:"1" min:"1" doc:"levels of the call hierarchy"`
}

// DerivedTypes is the input of derived_types.
type DerivedTypes struct {
	Navigate
	Transitive bool `json:"transitive,omitempty" doc:"follow the hierarchy to its end"`
}

func navigateSpecs() []Spec {
	spec := func(name, summary string, input, output any) Spec {
		return Spec{
			Name: name, Tool: "code.navigate", Group: "Navigate", Summary: summary,
			Positional: []string{"symbolName"}, Input: input, Output: output,
		}
	}
	definition := spec("definition", "Where a symbol is declared, with its body", Navigate{}, Places{})
	definition.Example = "auractl definition OrderService.Save\nauractl definition order.go:12:9"
	typeDefinition := spec("type_definition", "Where the type of a symbol is declared", Navigate{}, Places{})
	references := spec("references", "Every reference to a symbol, its declaration marked", Navigate{}, Places{})
	references.Example = "auractl references Command\nauractl references command.go:54:6 --limit 100"
	usages := spec("usages", "References without the declaration, grouped by kind", Navigate{}, Places{})
	usages.Method = "aura_find_usages"
	usages.Long = "A symbol from outside the workspace is answered too: by the language server where it can, else as whole\nwords of indexed text, and the answer says which."
	callers := spec("callers", "Functions that call a symbol", Calls{}, Symbols{})
	callers.Method = "aura_find_callers"
	callers.Example = "auractl callers Execute --depth 2"
	callees := spec("callees", "Functions that a symbol calls", Calls{}, Symbols{})
	implementations := spec("implementations", "What implements an interface, or a member of one", Navigate{}, Symbols{})
	implementations.Method = "aura_find_implementations"
	derived := spec("derived_types", "Types whose base or implemented type is this one", DerivedTypes{}, Symbols{})
	derived.Method = "aura_find_derived_types"
	derived.Long = "The base may live outside the workspace, in the sources of a dependency."
	derived.Example = "auractl derived-types error --transitive"
	supertypes := spec("supertypes", "Bases and interfaces of a type", Navigate{}, Symbols{})
	return []Spec{definition, typeDefinition, references, usages, callers, callees, implementations, derived, supertypes}
}
