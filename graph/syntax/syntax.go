// Package syntax turns one file into Go values by an exact parser or, for the
// languages that have none in Go, by tree-sitter: declarations, identifiers,
// comments, strings and imports. What a language looks like arrives as a Spec.
//
// It knows no language, no server and no daemon, and starts no goroutines.
package syntax

import (
	"fmt"
	"path/filepath"

	"github.com/auralsp/aura/graph"
)

// MaxFile is the largest file that is parsed, in bytes; a larger one is listed
// without content (reliability: minified and generated files end parsers).
const MaxFile = 16 << 20

// Spec is how the files of one language are read.
type Spec struct {
	Version string // of the extractor; in the key of every cached record
	// Missing says why this build cannot parse the language's files, in words
	// for people; it is empty when it can. Parse then fails with ErrNotBuilt.
	Missing string
	// Parse reads a file. A broken file gives what can be read and Tree.Errors;
	// err is for content that cannot be read at all.
	Parse func(path string, content []byte) (*Tree, error)
	// Namespace returns the qualified name, within the project at root, of what
	// the file's top level stands in, and the same as sources write it when that
	// differs. nil means that files have no namespace.
	Namespace func(root, path string, t *Tree) (name, alias string)
	// Imported returns the qualified name, within the project at root, of what an
	// import of the file at path writes relative to it, and everything else as it
	// is. nil means that imports are absolute.
	Imported  func(root, path, imported string) string
	Separator string // between the parts of a qualified name
}

// Tree is what syntax says of one file. Spans are byte offsets into the
// content that was parsed. It is immutable and safe for concurrent use.
type Tree struct {
	Path    string
	Package string // the package, module or namespace clause as written
	// Constraint is the condition under which the file is part of a build, as
	// the language writes it; empty means always.
	Constraint string
	Symbols    []graph.Symbol // declarations, locals and parameters included, in order of position; ID, Project and Language are filled by the caller's Identify
	Idents     []Ident        // every identifier occurrence in code, in order
	Tokens     []Token        // comments and string literals, in order
	Imports    []Import
	Errors     []Problem
}

// Ident is one occurrence of an identifier in code.
type Ident struct {
	Name string
	Span graph.Span
	// Called says that the syntax around calls what this names: f in f(x), Save
	// in o.Save(), Order in new Order(), log in log!(x), a decorator. Where
	// conversions look like calls they count as well. Who calls a function by
	// name alone: of Snapshot.Grep's files, the Called of Tree.Named, each within
	// what Tree.Enclosing says.
	Called bool
}

// TokenKind tells comments from strings.
type TokenKind uint8

// The kinds of a Token.
const (
	Comment TokenKind = iota
	String
)

// Token is a comment or a string literal, delimiters included.
type Token struct {
	Kind TokenKind
	Span graph.Span
}

// Import is one imported package or module.
type Import struct {
	Path  string // as written, without quotes
	Alias string // local name if given
	Span  graph.Span
	Names []Binding // what the file may call by name for it
}

// Binding is a name that an import brings into its file.
type Binding struct {
	Name string // in the module that is imported; empty for the module itself
	As   string // in the file; dotted where the language writes all of a path
}

// Problem is a place that could not be parsed.
type Problem struct {
	Offset  int // bytes
	Message string
}

// Place says where a file stands, for the ids of its symbols.
type Place struct {
	Language string // id of the language
	Root     string // absolute folder of the build unit
	Project  string // the same relative to the workspace with "/", "." for the workspace itself
}

// Read parses a file within MaxFile bytes and identifies its symbols.
func (s *Spec) Read(path string, content []byte, at Place) (*Tree, error) {
	t, err := s.parse(path, content)
	if err != nil {
		return nil, err
	}
	s.bases(t, at, path)
	home := graph.Home{Language: at.Language, Project: at.Project, Separator: s.Separator}
	if s.Namespace != nil {
		home.Namespace, home.Alias = s.Namespace(at.Root, path, t)
	}
	graph.Identify(t.Symbols, content, home)
	return t, nil
}

// ParseFile reads a file by its Spec within MaxFile bytes, as if the project
// were its folder; its symbols have no ids.
func (s *Spec) ParseFile(path string, content []byte) (*Tree, error) {
	t, err := s.parse(path, content)
	if err == nil {
		s.bases(t, Place{Root: filepath.Dir(path)}, path)
	}
	return t, err
}

func (s *Spec) parse(path string, content []byte) (*Tree, error) {
	if len(content) > MaxFile {
		return nil, fmt.Errorf("%s: %d bytes are more than the %d that are parsed", path, len(content), MaxFile)
	}
	return s.Parse(path, content)
}
