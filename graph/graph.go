// Package graph owns the vocabulary of symbols: what a symbol is, how its
// stable id is made, and the Reader through which the rest asks about symbols.
//
// It knows neither storage nor LSP and starts no goroutines.
package graph

import (
	"context"
	"slices"
)

// ID is a symbol's stable id, made by MakeID. It is opaque to clients.
type ID string

// Kind is the kind of a symbol as answers print it: LSP's SymbolKind in camel
// case, plus trait, record and typeAlias.
type Kind string

// The kinds that syntax can tell.
const (
	KindFile      Kind = "file"
	KindModule    Kind = "module"
	KindNamespace Kind = "namespace"
	KindPackage   Kind = "package"
	KindClass     Kind = "class"
	KindMethod    Kind = "method"
	KindProperty  Kind = "property"
	KindField     Kind = "field"
	KindConstruct Kind = "constructor"
	KindEnum      Kind = "enum"
	KindInterface Kind = "interface"
	KindFunction  Kind = "function"
	KindVariable  Kind = "variable"
	KindConstant  Kind = "constant"
	KindParameter Kind = "parameter"
	KindEnumMem   Kind = "enumMember"
	KindStruct    Kind = "struct"
	KindEvent     Kind = "event"
	KindOperator  Kind = "operator"
	KindTypeParam Kind = "typeParameter"
	KindTrait     Kind = "trait"
	KindRecord    Kind = "record"
	KindTypeAlias Kind = "typeAlias"
)

// Associated is the modifier of a type alias that is a member of another type:
// it stands for a type there, and is none that is declared.
const Associated = "associated"

// Span is a half-open range of byte offsets in one file.
type Span struct{ Start, End int }

// Contains reports whether the offset lies in the span; the end counts, so
// that a caret behind a name is still on it.
func (s Span) Contains(offset int) bool { return s.Start <= offset && offset <= s.End }

// Symbol is one declaration of one symbol. A symbol with several declarations
// (C# partial classes, merged TypeScript interfaces) is several values with one ID.
type Symbol struct {
	ID         ID
	Language   string   // id of the language, "go"
	Project    string   // root of the build unit, relative to the workspace with "/", "." for the workspace itself
	Name       string   // as written: "Save"
	Qualified  string   // within the project: "store.Order.Save"; a parser fills it within the file, Identify puts the namespace before it
	Alias      string   // a second qualified name, when sources call its namespace or container otherwise than the tools do; else empty. A parser may fill it within the file
	Exact      string   // stands for Qualified in the ID where that is not enough: types that differ by the number of their type parameters, and what is in them; else empty. Within the file
	Container  string   // qualified name of what encloses it: "store.Order"; empty at top level
	Kind       Kind     //
	Signature  string   // one line, as people read it: "func (o *Order) Save(ctx context.Context) error"
	Params     []string // parameter types as written; part of the ID; nil when it takes no parameter list
	Results    []string // result types as written
	Visibility string   // public, internal, protected, private
	Modifiers  []string // static, abstract, async, pointer, …
	Attributes []string // attributes, decorators, struct tags, directives as written
	Bases      []string // bases, embedded and implemented types as written
	Resolved   []string // for each of Bases what the file's imports make of its name, "django.db.models.Model", or empty; nil when they say nothing
	Path       string   // file, absolute
	Whole      Span     // with doc comment and attributes
	Decl       Span     // without them
	NameSpan   Span     // the name itself
	Body       Span     // between the braces; zero when there is none
	Doc        string   // documentation as text
	Local      bool     // declared within a function: a local variable, a parameter
	Merged     bool     // declarations like this one are one symbol together, in one file as well: partial classes, namespaces, accessors
}

// Reader answers questions about the symbols of a workspace. Spans are those
// of the content that the reader saw; answers are fresh as of the request.
type Reader interface {
	// ByName returns the declarations whose Name equals name, in order of path and position.
	ByName(ctx context.Context, name string) ([]Symbol, error)
	// ByID returns the declarations of a symbol, nil when there is none.
	ByID(ctx context.Context, id ID) ([]Symbol, error)
	// InFile returns the declarations of a file in order of position.
	InFile(ctx context.Context, path string) ([]Symbol, error)
	// ByBase returns the declarations that write a base of that bare name (see
	// BaseNames), in order of path and position; with an empty name all that
	// write a base at all.
	ByBase(ctx context.Context, name string) ([]Symbol, error)
	// Each calls yield with the declarations that keep wants, in order of path and
	// position, until it returns false. Locals come only with keep.Locals.
	Each(ctx context.Context, keep Keep, yield func(Symbol) bool) error
	// Names returns up to limit names nearest to name by edit distance, nearest first.
	Names(ctx context.Context, name string, limit int) ([]string, error)
}

// Keep says which declarations are wanted of all that there are. An empty field
// leaves out nothing.
type Keep struct {
	Kinds      []Kind                 // of these kinds only
	Path       func(path string) bool // in files of which this is true only
	Attributed bool                   // that carry an attribute only
	Locals     bool                   // those within functions as well
}

// Wants reports whether a declaration is kept, its path aside.
func (k Keep) Wants(s *Symbol) bool {
	return (k.Locals || !s.Local) && (!k.Attributed || len(s.Attributes) > 0) && (len(k.Kinds) == 0 || slices.Contains(k.Kinds, s.Kind))
}
