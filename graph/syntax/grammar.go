package syntax

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/auralsp/aura/graph"
)

// ErrNotBuilt is returned for files whose parser is not part of this build.
var ErrNotBuilt = errors.New("the parser is not part of this build")

// ErrTooSlow is returned for files that a parser did not read in time.
var ErrTooSlow = errors.New("parsing took too long")

// Parsing may take a part of a second for any file and, beyond that, a fraction
// of the usual speed (5 to 10 MB/s a core): a grammar's conflicts can make it
// exponential in the length of odd input.
const (
	budgetFloor = 2 * time.Second
	budgetSpeed = 256 << 10 // bytes a second
)

// CommentKind says what a comment before a declaration has to do with it.
type CommentKind uint8

// The kinds of a comment.
const (
	PlainComment   CommentKind = iota // belongs to the declaration when no empty line is between them
	DocComment                        // documents it
	ForeignComment                    // is of something else, as is all before it
)

// Grammar is one of tree-sitter's grammars with the query that says what its
// nodes mean; a language has several where its dialects do.
type Grammar struct {
	// Extensions are those of the files it reads, with the dot, in lower case;
	// none means every file that no other grammar of the language reads.
	Extensions []string
	// Language returns the grammar's tables. It is nil in a build without cgo.
	Language func() unsafe.Pointer
	// Query is in tree-sitter's query language. Captures name what a node is;
	// they are listed at plan. Of the patterns that declare the same name at the
	// same node the first one counts. The predicates eq?, not-eq?, any-of? and
	// not-any-of? may be used.
	Query string
}

// TreeSitter is how the files of a language are read by tree-sitter. The
// functions are pure and safe for concurrent use; each may be nil.
type TreeSitter struct {
	Version   string // of queries and functions, for Spec.Version
	Separator string // between the parts of a qualified name
	Grammars  []Grammar
	// Namespace is that of Spec.
	Namespace func(root, path string, t *Tree) (name, alias string)
	// Imported is that of Spec.
	Imported func(root, path, imported string) string
	// Binds reports whether a name in a pattern is declared there; without it all are.
	Binds func(name string) bool
	// Comment says what a comment before a declaration is, and its text if it
	// documents it. Without it all are plain.
	Comment func(comment string) (kind CommentKind, doc string)
	// Doc returns the text of a node captured as documentation.
	Doc func(node string) string
	// Parameter returns what stands for a parameter in Symbol.Params: typ is its
	// type as written, empty when it has none, node the whole of it. An empty
	// result means that it does not count. Without it typ counts, or "_".
	Parameter func(node, typ string) string
	// Complete finishes a symbol: visibility, a kind that the query cannot tell,
	// whether its declarations merge. parent is what it is declared in, nil at
	// the file's top level; it is complete.
	Complete func(s, parent *graph.Symbol)
	// Mask returns places that are parsed as if they were blank, as macros that no
	// grammar can follow.
	Mask func(path string, content []byte) []graph.Span
	// Finish looks at the whole file at last.
	Finish func(t *Tree, content []byte)
}

// Spec returns how the files are read. In a build without cgo the result's
// Missing says so and its Parse fails with ErrNotBuilt.
func (l TreeSitter) Spec() *Spec {
	readers := make([]*reader, len(l.Grammars))
	lacks := ""
	for i, g := range l.Grammars {
		readers[i] = &reader{language: &l, compile: sync.OnceValues(func() (*compiled, error) { return compile(g) })}
		if lacks == "" {
			lacks = missing(g)
		}
	}
	s := &Spec{Version: l.Version, Namespace: l.Namespace, Imported: l.Imported, Separator: l.Separator, Missing: lacks}
	s.Parse = func(path string, content []byte) (*Tree, error) {
		if lacks != "" {
			return nil, fmt.Errorf("%s: %w: %s", path, ErrNotBuilt, lacks)
		}
		for i, g := range l.Grammars {
			if len(g.Extensions) == 0 || slices.Contains(g.Extensions, strings.ToLower(filepath.Ext(path))) {
				t, err := readers[i].parse(path, content)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", path, err)
				}
				return t, nil
			}
		}
		return nil, fmt.Errorf("%s: no grammar reads such files", path)
	}
	return s
}

// reader reads the files of one grammar. The query is compiled when the first
// file arrives, as it takes longer than a start should.
type reader struct {
	language *TreeSitter
	compile  func() (*compiled, error)
}

func (r *reader) parse(path string, content []byte) (*Tree, error) {
	c, err := r.compile()
	if err != nil {
		return nil, err
	}
	budget := budgetFloor + time.Duration(len(content))*time.Second/budgetSpeed
	text := content
	if r.language.Mask != nil {
		text = blank(content, r.language.Mask(path, content))
	}
	captures, err := c.scan(text, budget)
	if err != nil {
		return nil, err
	}
	x := &extraction{
		language: r.language, plan: &c.plan, src: content, symbol: c.symbol,
		tree: &Tree{Path: path}, names: map[string]string{},
	}
	x.read(captures)
	x.build()
	if r.language.Finish != nil {
		r.language.Finish(x.tree, content)
	}
	return x.tree, nil
}

// blank returns content with spaces at the places.
func blank(content []byte, places []graph.Span) []byte {
	if len(places) == 0 {
		return content
	}
	out := slices.Clone(content)
	for _, p := range places {
		for i := p.Start; i < p.End; i++ {
			out[i] = ' '
		}
	}
	return out
}
