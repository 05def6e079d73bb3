package record

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"github.com/auralsp/aura/graph"
)

// Make packs the symbols of one file, all but their paths, and the words of its
// content. Spans must lie within 0 and 1 GiB; ErrDamaged says that one does not.
func Make(symbols []graph.Symbol, content []byte) (Record, error) {
	e := encoder{symbols: symbols, number: make(map[string]int, 2*len(symbols)), owners: make(map[graph.ID]int, len(symbols))}
	for i, s := range fixed {
		e.number[s] = i
	}
	// The names come first, so that they can be told from other strings.
	names := e.names()
	var head []byte
	var language, project int
	if len(symbols) > 0 {
		language, project = e.string(symbols[0].Language), e.string(symbols[0].Project)
	}
	heads := make([]byte, 0, 3*len(symbols))
	for i := range symbols {
		s := &symbols[i]
		if !fits(s) {
			return Record{}, ErrDamaged
		}
		before := len(e.body)
		e.symbol(i, s)
		if _, known := e.owners[s.ID]; !known && !s.Local && !e.owned {
			e.owners[s.ID] = i
		}
		h := names[i] << headBits
		if len(s.Bases) > 0 {
			h |= headBased
		}
		if !s.Local && s.Kind != graph.KindPackage {
			h |= headListed
		}
		heads = binary.AppendUvarint(heads, uint64(h))
		heads = binary.AppendUvarint(heads, uint64(len(e.body)-before))
	}
	bases := e.bases()
	keys := e.keys()
	filter := packWords(content)
	words := append(binary.AppendUvarint(nil, uint64(len(filter))), filter...)

	for _, n := range []int{len(symbols), len(e.strings), e.named, language, project} {
		head = binary.AppendUvarint(head, uint64(n))
	}
	size := 0
	for _, s := range e.strings {
		head = binary.AppendUvarint(head, uint64(len(s)))
		size += len(s)
	}
	out := make([]byte, 0, len(head)+size+len(bases)+len(keys)+len(words)+len(heads)+len(e.body))
	out = append(out, head...)
	for _, s := range e.strings {
		out = append(out, s...)
	}
	for _, part := range [][]byte{bases, keys, words, heads, e.body} {
		out = append(out, part...)
	}
	return Of(string(out))
}

// maxOffset bounds offsets, so that every number fits.
const maxOffset = 1 << 29

func fits(s *graph.Symbol) bool {
	for _, span := range [...]graph.Span{s.Whole, s.Decl, s.NameSpan, s.Body} {
		if span.Start < 0 || span.End < 0 || span.Start > maxOffset || span.End > maxOffset {
			return false
		}
	}
	return true
}

// encoder packs the symbols of one file.
type encoder struct {
	symbols []graph.Symbol
	number  map[string]int // of a string
	strings []string
	named   int // how many of the strings are names
	body    []byte
	owners  map[graph.ID]int // symbols that others may name as their owner
	owned   bool             // the last symbol names its owner
}

// names numbers the names, which stand before all other strings.
func (e *encoder) names() []int {
	seen := make(map[string]int, len(e.symbols))
	out := make([]int, len(e.symbols))
	for i := range e.symbols {
		name := e.symbols[i].Name
		n, ok := seen[name]
		if !ok {
			n = len(fixed) + len(e.strings)
			e.strings = append(e.strings, name)
			seen[name] = n
			if _, known := e.number[name]; !known {
				e.number[name] = n
			}
		}
		out[i] = n
	}
	e.named = len(e.strings)
	return out
}

// string numbers a string.
func (e *encoder) string(s string) int {
	n, ok := e.number[s]
	if !ok {
		n = len(fixed) + len(e.strings)
		e.strings = append(e.strings, s)
		e.number[s] = n
	}
	return n
}

func (e *encoder) put(n int)     { e.body = binary.AppendUvarint(e.body, uint64(n)) }
func (e *encoder) text(s string) { e.put(e.string(s)) }
func (e *encoder) signed(n int)  { e.put(n<<1 ^ n>>63) }
func (e *encoder) list(l []string) {
	e.put(len(l))
	for _, s := range l {
		e.text(s)
	}
}

// symbol writes a body.
func (e *encoder) symbol(i int, s *graph.Symbol) {
	id := e.id(i, s)
	owner := -1
	if s.Local {
		if at, ok := e.owners[ownerID(s.ID)]; ok {
			owner = at
		}
	}
	flags := id.form << idShift
	container := s.Container
	set := func(flag int, on bool) {
		if on {
			flags |= flag
		}
	}
	e.owned = id.form == idOwned
	if owner >= 0 && container != "" && container == e.symbols[owner].Qualified {
		flags |= flagOwned
		e.owned = true
		container = ""
	}
	set(flagLocal, s.Local)
	set(flagMerged, s.Merged)
	set(flagElsewhere, s.Language != e.symbols[0].Language || s.Project != e.symbols[0].Project)
	set(flagAlias, s.Alias != "")
	set(flagExact, s.Exact != "")
	set(flagContainer, container != "")
	set(flagSignature, s.Signature != "")
	set(flagVisibility, s.Visibility != "")
	set(flagDoc, s.Doc != "")
	set(flagParams, s.Params != nil)
	set(flagResults, s.Results != nil)
	set(flagModifiers, s.Modifiers != nil)
	set(flagAttributes, s.Attributes != nil)
	set(flagBases, s.Bases != nil)
	set(flagResolved, s.Resolved != nil)
	set(flagWhole, s.Whole != s.Decl)
	set(flagBody, s.Body != graph.Span{})
	set(flagNameLength, s.NameSpan.End-s.NameSpan.Start != len(s.Name))
	if s.Qualified == s.Name {
		flags |= flagQualified
	} else {
		for n, sep := range separators {
			if len(s.Qualified) == len(s.Container)+len(sep)+len(s.Name) && s.Qualified == s.Container+sep+s.Name {
				flags |= flagQualified | flagJoined | n<<separatorShift
				break
			}
		}
	}

	e.put(flags)
	if flags&flagElsewhere != 0 {
		e.text(s.Language)
		e.text(s.Project)
	}
	e.text(string(s.Kind))
	for _, v := range [...]string{s.Alias, s.Exact, container, s.Signature, s.Visibility, s.Doc} {
		if v != "" {
			e.text(v)
		}
	}
	for _, l := range [...][]string{s.Params, s.Results, s.Modifiers, s.Attributes, s.Bases, s.Resolved} {
		if l != nil {
			e.list(l)
		}
	}
	e.spans(flags, s)
	if e.owned {
		e.put(i - owner)
	}
	if flags&flagQualified == 0 {
		e.text(s.Qualified)
	}
	switch id.form {
	case idLiteral:
		e.text(string(s.ID))
	case idMade:
		e.put(id.nth)
	case idLocal:
		e.text(id.owner)
		fallthrough
	default:
		e.put(id.nth)
		e.text(id.hash)
	}
}

func (e *encoder) spans(flags int, s *graph.Symbol) {
	e.put(s.Decl.Start)
	e.signed(s.Decl.End - s.Decl.Start)
	if flags&flagWhole != 0 {
		e.signed(s.Whole.Start - s.Decl.Start)
		e.signed(s.Whole.End - s.Decl.End)
	}
	e.signed(s.NameSpan.Start - s.Decl.Start)
	if flags&flagNameLength != 0 {
		e.signed(s.NameSpan.End - s.NameSpan.Start)
	}
	if flags&flagBody != 0 {
		e.signed(s.Body.Start - s.Decl.Start)
		e.signed(s.Body.End - s.Body.Start)
	}
}

// written is how an id is written.
type written struct {
	form        int
	nth         int
	owner, hash string
}

// id finds the shortest way to write an id from which it can be made again.
func (e *encoder) id(i int, s *graph.Symbol) written {
	id := string(s.ID)
	if head := ownerID(s.ID); len(head) < len(id) {
		nth, hash, ok := tail(id[len(head):], s.Name)
		if ok && graph.MakeLocalID(head, s.Name, nth, hash) == s.ID {
			if at, known := e.owners[head]; known && s.Local && at < i {
				return written{form: idOwned, nth: nth, hash: hash}
			}
			return written{form: idLocal, nth: nth, hash: hash, owner: string(head)}
		}
	}
	made := string(graph.MakeID(identity(s, 0)))
	if made == id {
		return written{form: idMade}
	}
	if rest, ok := strings.CutPrefix(id, made+"~"); ok {
		if n, err := strconv.Atoi(rest); err == nil && n > 1 && n < maxOffset && string(graph.MakeID(identity(s, n-1))) == id {
			return written{form: idMade, nth: n - 1}
		}
	}
	return written{form: idLiteral}
}

// tail reads what a local's id has behind its owner's.
func tail(rest, name string) (nth int, hash string, ok bool) {
	rest, ok = strings.CutPrefix(rest, "#"+name+"~")
	if !ok {
		return 0, "", false
	}
	digits, hash, ok := strings.Cut(rest, "@")
	n, err := strconv.Atoi(digits)
	return n - 1, hash, ok && err == nil && n > 0 && n < maxOffset
}

// bases writes the bare names of all bases.
func (e *encoder) bases() []byte {
	var names []string
	for i := range e.symbols {
		for _, b := range e.symbols[i].Bases {
			names = append(names, graph.BaseNames(b)...)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	out := binary.AppendUvarint(nil, uint64(len(names)))
	for _, n := range names {
		out = binary.AppendUvarint(out, uint64(e.string(n)))
	}
	return out
}

// keys writes the keys of all ids.
func (e *encoder) keys() []byte {
	keys := make([]uint32, 0, len(e.symbols))
	last := graph.ID("")
	for i := range e.symbols {
		if head := ownerID(e.symbols[i].ID); i == 0 || head != last {
			keys = append(keys, Hash(string(head)))
			last = head
		}
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	out := binary.AppendUvarint(nil, uint64(len(keys)))
	for _, k := range keys {
		out = binary.LittleEndian.AppendUint32(out, k)
	}
	return out
}
