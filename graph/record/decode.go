package record

import (
	"math"

	"github.com/auralsp/aura/graph"
)

// decoder reads numbers; after a fault all are zero.
type decoder struct {
	data   string
	at     int
	failed bool
}

// number reads a varint that fits an int32.
func (d *decoder) number() int {
	var n uint64
	for shift := 0; shift < 35; shift += 7 {
		if d.at >= len(d.data) {
			break
		}
		b := d.data[d.at]
		d.at++
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			if n > math.MaxInt32 {
				break
			}
			return int(n)
		}
	}
	d.failed = true
	return 0
}

// signed reads a zigzag varint.
func (d *decoder) signed() int {
	n := d.number()
	return n>>1 ^ -(n & 1)
}

func (d *decoder) skip(n int) {
	if n < 0 || n > len(d.data)-d.at {
		d.failed = true
		return
	}
	d.at += n
}

// reader decodes symbols of one record.
type reader struct {
	record            Record
	path              string
	table             table
	language, project string
	bad               bool
	owners            map[int]graph.Symbol // decoded for the sake of their locals
}

func newReader(r Record, path string) *reader {
	x := &reader{record: r, path: path, table: r.table(), owners: map[int]graph.Symbol{}}
	d := decoder{data: r.data}
	d.number()
	d.number()
	d.number()
	x.language = x.text(d.number())
	x.project = x.text(d.number())
	return x
}

func (x *reader) text(n int) string {
	s, ok := x.table.get(n)
	if !ok {
		x.bad = true
	}
	return s
}

func (x *reader) list(d *decoder) []string {
	n := d.number()
	if n > len(d.data)-d.at {
		d.failed = true
		return nil
	}
	out := make([]string, n)
	for i := range out {
		out[i] = x.text(d.number())
	}
	return out
}

// owner decodes the symbol at a place, which must not have an owner itself.
func (x *reader) owner(i int) (graph.Symbol, bool) {
	if s, ok := x.owners[i]; ok {
		return s, true
	}
	if i < 0 || i >= x.record.count {
		return graph.Symbol{}, false
	}
	d, at := decoder{data: x.record.data, at: x.record.heads}, x.record.bodies
	for range i {
		d.number()
		at += d.number()
	}
	head, size := d.number(), d.number()
	f := decoder{data: x.record.data, at: at}
	if flags := f.number(); flags&flagOwned != 0 || flags>>idShift&3 == idOwned {
		return graph.Symbol{}, false
	}
	s, err := x.symbol(i, head, at, size)
	return s, err == nil
}

// symbol decodes the body of size bytes at a place.
func (x *reader) symbol(i, head, at, size int) (graph.Symbol, error) {
	d := &decoder{data: x.record.data[:at+size], at: at}
	s := graph.Symbol{Path: x.path, Name: x.text(head >> headBits), Language: x.language, Project: x.project}
	flags := d.number()
	s.Local, s.Merged = flags&flagLocal != 0, flags&flagMerged != 0
	if flags&flagElsewhere != 0 {
		s.Language, s.Project = x.text(d.number()), x.text(d.number())
	}
	s.Kind = graph.Kind(x.text(d.number()))
	optional := func(flag int) string {
		if flags&flag == 0 {
			return ""
		}
		return x.text(d.number())
	}
	s.Alias, s.Exact, s.Container = optional(flagAlias), optional(flagExact), optional(flagContainer)
	s.Signature, s.Visibility, s.Doc = optional(flagSignature), optional(flagVisibility), optional(flagDoc)
	lists := func(flag int) []string {
		if flags&flag == 0 {
			return nil
		}
		return x.list(d)
	}
	s.Params, s.Results, s.Modifiers = lists(flagParams), lists(flagResults), lists(flagModifiers)
	s.Attributes, s.Bases, s.Resolved = lists(flagAttributes), lists(flagBases), lists(flagResolved)
	x.spans(d, flags, &s)

	var owner graph.Symbol
	form := flags >> idShift & 3
	if flags&flagOwned != 0 || form == idOwned {
		var ok bool
		if owner, ok = x.owner(i - d.number()); !ok {
			return s, ErrDamaged
		}
	}
	if flags&flagOwned != 0 {
		s.Container = owner.Qualified
	}
	switch {
	case flags&flagQualified == 0:
		s.Qualified = x.text(d.number())
	case flags&flagJoined != 0:
		n := flags >> separatorShift & 3
		if n >= len(separators) {
			return s, ErrDamaged
		}
		s.Qualified = s.Container + separators[n] + s.Name
	default:
		s.Qualified = s.Name
	}
	switch form {
	case idLiteral:
		s.ID = graph.ID(x.text(d.number()))
	case idMade:
		s.ID = graph.MakeID(identity(&s, d.number()))
	default:
		id := owner.ID
		if form == idLocal {
			id = graph.ID(x.text(d.number()))
		}
		nth := d.number()
		s.ID = graph.MakeLocalID(id, s.Name, nth, x.text(d.number()))
	}
	if d.failed || x.bad || d.at != at+size {
		return s, ErrDamaged
	}
	if !s.Local {
		x.owners[i] = s
	}
	return s, nil
}

func (x *reader) spans(d *decoder, flags int, s *graph.Symbol) {
	s.Decl.Start = d.number()
	s.Decl.End = s.Decl.Start + d.signed()
	s.Whole = s.Decl
	if flags&flagWhole != 0 {
		s.Whole.Start += d.signed()
		s.Whole.End += d.signed()
	}
	s.NameSpan.Start = s.Decl.Start + d.signed()
	length := len(s.Name)
	if flags&flagNameLength != 0 {
		length = d.signed()
	}
	s.NameSpan.End = s.NameSpan.Start + length
	if flags&flagBody != 0 {
		s.Body.Start = s.Decl.Start + d.signed()
		s.Body.End = s.Body.Start + d.signed()
	}
}

// identity is what the id of a symbol is made of, if nothing special is.
func identity(s *graph.Symbol, nth int) graph.Identity {
	return graph.Identity{Language: s.Language, Project: s.Project, Qualified: s.Qualified, Params: s.Params, Nth: nth}
}
