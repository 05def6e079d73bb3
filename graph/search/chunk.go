package search

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/auralsp/aura/graph"
)

// Category is what a file is for its readers.
type Category uint8

// The categories of files.
const (
	Other Category = iota // text of no known kind
	Code
	Docs
	Config
)

// File is what is searched: one text with what its syntax says of it.
type File struct {
	Path     string // relative, with "/": its words count as well
	Category Category
	Content  []byte
	Symbols  []graph.Symbol // of exactly this content; nil for text without declarations
}

// Chunk is one part of a file. Its span begins and ends at line borders.
type Chunk struct {
	Span  graph.Span
	Name  string     // of the declaration or the heading; may be empty
	Kind  graph.Kind // of the declaration; else empty
	Owner *graph.Symbol
	names []*graph.Symbol // declared within it
}

// Declares returns the declarations of which a chunk shows the name, and the one
// that it is a part of.
func (c Chunk) Declares() []graph.Symbol {
	var out []graph.Symbol
	if c.Owner != nil {
		out = append(out, *c.Owner)
	}
	for _, s := range c.names {
		if s != c.Owner {
			out = append(out, *s)
		}
	}
	return out
}

// Sizes of chunks, in lines.
const (
	maxLines   = 60 // a declaration that is longer is cut into what it holds
	softLines  = 40 // of declarations of one line that stand together
	windowSize = 40 // where nothing says where a part ends
)

// Chunks cuts a file. The same file is always cut in the same way.
func Chunks(f File) []Chunk {
	c := &cutter{text: f.Content}
	c.lines = append(c.lines, 0)
	for i, b := range f.Content {
		if b == '\n' && i+1 < len(f.Content) {
			c.lines = append(c.lines, i+1)
		}
	}
	switch {
	case len(f.Content) == 0:
	case f.Category == Docs:
		c.sections()
	case len(f.Symbols) > 0:
		c.declarations(f.Symbols)
	default:
		c.window(0, len(c.lines), nil, nil)
	}
	return c.out
}

// cutter makes the chunks of one file; from and to are numbers of lines.
type cutter struct {
	text  []byte
	lines []int // offset of each
	out   []Chunk

	soft      []*graph.Symbol // of the chunk that is being gathered
	from, end int             // its lines
}

func (c *cutter) lineOf(offset int) int {
	i, found := slices.BinarySearch(c.lines, offset)
	if !found {
		i--
	}
	return max(i, 0)
}

func (c *cutter) start(line int) int {
	if line >= len(c.lines) {
		return len(c.text)
	}
	return c.lines[line]
}

// add puts a chunk, unless nothing stands in it that could be looked for.
func (c *cutter) add(from, to int, ch Chunk) {
	for from < to && blank(c.text[c.start(from):c.start(from+1)]) {
		from++
	}
	for from < to && blank(c.text[c.start(to-1):c.start(to)]) {
		to--
	}
	ch.Span = graph.Span{Start: c.start(from), End: c.start(to)}
	found := false
	eachWord(c.text[ch.Span.Start:ch.Span.End], func([]byte) { found = true })
	if found {
		c.out = append(c.out, ch)
	}
}

func blank(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 }

// window cuts lines into parts of about the same size, at an empty line where
// one is near.
func (c *cutter) window(from, to int, owner *graph.Symbol, names []*graph.Symbol) {
	for from < to {
		end := c.windowEnd(from, to)
		c.add(from, end, owned(owner, within(names, c.start(from), c.start(end))))
		from = end
	}
}

// windowEnd returns where the first part of lines that are too many for one ends.
func (c *cutter) windowEnd(from, to int) int {
	if to-from <= maxLines {
		return to
	}
	end := from + windowSize
	for at := end + windowSize/4; at > from+windowSize/2; at-- {
		if blank(c.text[c.start(at-1):c.start(at)]) {
			return at
		}
	}
	return end
}

func within(names []*graph.Symbol, from, to int) []*graph.Symbol {
	var out []*graph.Symbol
	for _, s := range names {
		if from <= s.NameSpan.Start && s.NameSpan.Start < to {
			out = append(out, s)
		}
	}
	return out
}

func owned(owner *graph.Symbol, names []*graph.Symbol) Chunk {
	ch := Chunk{Owner: owner, names: names}
	if owner != nil {
		ch.Name, ch.Kind = owner.Name, owner.Kind
	}
	return ch
}

// node is a declaration with those that lie in it.
type node struct {
	sym      *graph.Symbol
	from, to int // lines
	below    []*node
}

// declarations cuts along declarations: one that is short is a chunk with all
// that it holds, a longer one is cut into what it holds and the rest.
func (c *cutter) declarations(symbols []graph.Symbol) {
	var list []*node
	for i := range symbols {
		s := &symbols[i]
		whole := s.Whole
		if whole == (graph.Span{}) {
			whole = s.Decl
		}
		if s.Local || whole.Start < 0 || whole.End > len(c.text) || whole.End <= whole.Start || unwanted(s.Kind) {
			continue
		}
		list = append(list, &node{sym: s, from: c.lineOf(whole.Start), to: c.lineOf(whole.End-1) + 1})
	}
	slices.SortStableFunc(list, func(a, b *node) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to), cmp.Compare(a.sym.NameSpan.Start, b.sym.NameSpan.Start))
	})
	root := &node{to: len(c.lines)}
	open := []*node{root}
	for _, n := range list {
		for n.from >= open[len(open)-1].to && len(open) > 1 {
			open = open[:len(open)-1]
		}
		above := open[len(open)-1]
		n.to = min(n.to, above.to)
		above.below = append(above.below, n)
		open = append(open, n)
	}
	c.cut(root)
	c.flush(nil)
}

// unwanted are declarations that hold the whole file or nothing.
func unwanted(k graph.Kind) bool {
	return k == graph.KindFile || k == graph.KindPackage || k == graph.KindParameter || k == graph.KindTypeParam
}

// solid reports whether a declaration is a chunk of its own, however short.
func (n *node) solid() bool {
	switch n.sym.Kind {
	case graph.KindField, graph.KindProperty, graph.KindEnumMem, graph.KindVariable, graph.KindConstant, graph.KindEvent:
		return n.to-n.from > softLines/4
	}
	return true
}

// all returns the declarations of a node and those below it.
func (n *node) all(out []*graph.Symbol) []*graph.Symbol {
	if n.sym != nil {
		out = append(out, n.sym)
	}
	for _, b := range n.below {
		out = b.all(out)
	}
	return out
}

// cut puts the chunks of what lies in n.
func (c *cutter) cut(n *node) {
	at := n.from
	for _, b := range n.below {
		if b.from > at {
			c.gather(at, b.from, nil, n.sym)
			at = b.from
		}
		if b.to <= at { // on a line that is taken
			if c.end > c.from && c.end >= b.to {
				c.soft = b.all(c.soft)
			} else if last := len(c.out) - 1; last >= 0 {
				c.out[last].names = b.all(c.out[last].names)
			}
			continue
		}
		b.from = at
		switch {
		case !b.solid():
			c.gather(at, b.to, b.all(nil), n.sym)
		case b.to-b.from <= maxLines || len(b.below) == 0:
			c.flush(n.sym)
			c.window(b.from, b.to, b.sym, b.all(nil))
		default:
			c.flush(n.sym)
			c.soft = append(c.soft, b.sym)
			c.cut(b)
			c.flush(b.sym)
		}
		at = b.to
	}
	if n.to > at {
		c.gather(at, n.to, nil, n.sym)
	}
}

// gather adds lines to the chunk of what is too small for one of its own.
func (c *cutter) gather(from, to int, symbols []*graph.Symbol, owner *graph.Symbol) {
	if c.end > c.from && (c.end != from || to-c.from > softLines) {
		c.flush(owner)
	}
	if c.end <= c.from {
		c.from = from
	}
	c.end = to
	c.soft = append(c.soft, symbols...)
}

// flush ends the chunk that is being gathered.
func (c *cutter) flush(owner *graph.Symbol) {
	from, to, names := c.from, c.end, c.soft
	c.from, c.end, c.soft = 0, 0, nil
	if to <= from {
		return
	}
	if owner == nil && len(names) == 1 {
		owner = names[0]
	}
	c.window(from, to, owner, names)
}

// sections cuts prose at its headings, and a long section at empty lines.
func (c *cutter) sections() {
	from, name := 0, ""
	fenced := false
	put := func(to int) {
		for from < to {
			end := c.windowEnd(from, to)
			c.add(from, end, Chunk{Name: name})
			from = end
		}
	}
	for i := range c.lines {
		line := bytes.TrimRight(c.text[c.start(i):c.start(i+1)], " \t\r\n")
		if bytes.HasPrefix(line, []byte("```")) || bytes.HasPrefix(line, []byte("~~~")) {
			fenced = !fenced
		}
		if fenced {
			continue
		}
		switch {
		case heading(line) != "":
			put(i)
			name = heading(line)
		case i > 0 && underline(line):
			above := strings.TrimSpace(string(c.text[c.start(i-1):c.start(i)]))
			if above != "" && heading([]byte(above)) == "" && len(above) <= 2*len(line) {
				if from < i-1 {
					put(i - 1)
				}
				from, name = i-1, above
			}
		}
	}
	put(len(c.lines))
}

// heading returns the text of a line like "## Text".
func heading(line []byte) string {
	rest := bytes.TrimLeft(line, "#")
	if n := len(line) - len(rest); n == 0 || n > 6 || len(rest) == 0 || rest[0] != ' ' {
		return ""
	}
	return strings.TrimSpace(strings.TrimRight(string(rest), "#"))
}

// underline reports whether a line makes a heading of the one above it.
func underline(line []byte) bool {
	if len(line) < 3 || !bytes.ContainsRune([]byte("=-~^*+#\"'"), rune(line[0])) {
		return false
	}
	return len(bytes.Trim(line, string(line[:1]))) == 0
}
