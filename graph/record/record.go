// Package record packs the symbols of one file, and which words it may hold, into
// a few bytes, which an index keeps in memory and a store on disk, and reads
// single symbols out of them.
//
// A record holds no path: the same file elsewhere has the same record. It knows
// neither storage nor syntax, holds no state and starts no goroutines.
package record

import (
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"

	"github.com/auralsp/aura/graph"
)

// Version is that of the encoding. Another one means that older records are
// made anew; it is for the key under which they are kept.
const Version = "2"

// ErrDamaged says that bytes are no record.
var ErrDamaged = errors.New("the record of a file's symbols is damaged")

// Record is the packed symbols of one file. The zero Record has none. It is
// immutable and may be copied.
type Record struct {
	data    string
	count   int
	strings int // number of strings; the first names of them are names of symbols
	names   int
	lengths int // where the strings' lengths begin
	blob    int // where their bytes begin
	bases   int // where the bare names of bases begin
	keys    int // where the keys begin, in number keyed
	keyed   int
	heads   int // where the symbols' heads begin
	bodies  int // where their bodies begin

	words, wordBytes int // where the filter of words begins, and its length
}

// The layout, all numbers as varints unless said otherwise:
//
//	symbols, strings, names, language, project
//	a length for each string, then their bytes
//	number of bases' names, a string for each
//	number of keys, four bytes for each
//	length of the filter of words, its bytes
//	for each symbol: its string, whether it is listed and has bases; the length of its body
//	the bodies
//
// A string is a number: those of fixed first, then those of the record.

// What a head says beside the name.
const (
	headBased  = 1 << iota // it writes bases
	headListed             // it is neither local nor a package clause
	headBits   = 2
)

// fixed are strings that nearly every file has. Their order is part of the encoding.
var fixed = [...]string{
	"", "class", "method", "property", "field", "constructor", "enum", "interface", "function", "variable",
	"constant", "parameter", "enumMember", "struct", "event", "operator", "typeParameter", "trait", "record", "typeAlias",
	"namespace", "package", "module", "file", "public", "internal", "private", "protected", "static", "abstract",
}

// separators stand between the parts of a qualified name.
var separators = [...]string{".", "::", "/", `\`}

// What the flags of a body say.
const (
	flagLocal = 1 << iota
	flagMerged
	flagElsewhere // language and project follow
	flagAlias
	flagExact
	flagContainer
	flagOwned // the container is the qualified name of the owner
	flagSignature
	flagParams // the list is there, if perhaps empty
	flagResults
	flagModifiers
	flagAttributes
	flagBases
	flagVisibility
	flagDoc
	flagWhole // differs from Decl
	flagBody
	flagNameLength // differs from that of the name
	flagQualified  // is the name, with flagJoined the container's, a separator and the name
	flagJoined
	separatorShift = 20 // two bits
	idShift        = 22 // two bits
	flagResolved   = 1 << 24
)

// How an id is written.
const (
	idLiteral = iota
	idMade    // graph.MakeID of what the symbol says, with a number among equals
	idOwned   // a local of an earlier symbol: its place before this one, a number, a hash
	idLocal   // the same with the owner's id as text
)

// Of returns the record in data, which must not change.
func Of(data string) (Record, error) {
	r := Record{data: data}
	d := decoder{data: data}
	r.count, r.strings, r.names = d.number(), d.number(), d.number()
	d.number()
	d.number()
	if d.failed || r.names > r.strings || r.strings > len(data) || r.count > len(data) {
		return Record{}, ErrDamaged
	}
	r.lengths = d.at
	total := 0
	for range r.strings {
		total += d.number()
		if d.failed || total > len(data) {
			return Record{}, ErrDamaged
		}
	}
	r.blob = d.at
	d.skip(total)
	r.bases = d.at
	for range d.number() {
		d.number()
		if d.failed {
			return Record{}, ErrDamaged
		}
	}
	r.keyed = d.number()
	r.keys = d.at
	if r.keyed > len(data) {
		return Record{}, ErrDamaged
	}
	d.skip(4 * r.keyed)
	r.wordBytes = d.number()
	r.words = d.at
	d.skip(r.wordBytes)
	if d.failed || r.wordBytes&(r.wordBytes-1) != 0 {
		return Record{}, ErrDamaged
	}
	r.heads = d.at
	size := 0
	for range r.count {
		d.number()
		size += d.number()
		if d.failed || size > len(data) {
			return Record{}, ErrDamaged
		}
	}
	r.bodies = d.at
	if d.failed || len(data)-d.at != size {
		return Record{}, ErrDamaged
	}
	return r, nil
}

// Data returns the bytes that Of takes.
func (r Record) Data() string { return r.data }

// Len returns the number of symbols.
func (r Record) Len() int { return r.count }

// Names calls yield with each bare name that a symbol has.
func (r Record) Names(yield func(name string)) {
	d, at := decoder{data: r.data, at: r.lengths}, r.blob
	for range r.names {
		n := d.number()
		yield(r.data[at : at+n])
		at += n
	}
}

// Listed calls yield with the names of symbols that are neither local nor a
// package clause; a name may come several times.
func (r Record) Listed(yield func(name string)) {
	if r.count == 0 {
		return
	}
	table := r.table()
	d := decoder{data: r.data, at: r.heads}
	for range r.count {
		head := d.number()
		d.number()
		if head&headListed != 0 {
			if name, ok := table.get(head >> headBits); ok {
				yield(name)
			}
		}
	}
}

// Bases calls yield with the bare names of the bases that symbols write.
func (r Record) Bases(yield func(name string)) {
	if r.count == 0 {
		return
	}
	d := decoder{data: r.data, at: r.bases}
	n := d.number()
	if n == 0 {
		return
	}
	table := r.table()
	for range n {
		if name, ok := table.get(d.number()); ok {
			yield(name)
		}
	}
}

// Keys calls yield with the Key of each symbol's id, each once.
func (r Record) Keys(yield func(key uint32)) {
	for i := range r.keyed {
		at := r.keys + 4*i
		yield(uint32(r.data[at]) | uint32(r.data[at+1])<<8 | uint32(r.data[at+2])<<16 | uint32(r.data[at+3])<<24)
	}
}

// Key returns the number under which symbols of an id are found: that of the
// owner for a local. Different ids may have the same one.
func Key(id graph.ID) uint32 { return Hash(string(ownerID(id))) }

// Hash returns the number under which a name is found. It is the same in every
// process.
func Hash(s string) uint32 { return crc32.Update(0, castagnoli, []byte(s)) }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ownerID returns the part of an id that is the owner's, all of it when it is no local's.
func ownerID(id graph.ID) graph.ID {
	at := strings.LastIndexByte(string(id), '#')
	if at < 0 || !strings.Contains(string(id[at:]), "@") {
		return id
	}
	return id[:at]
}

// Symbols returns all symbols of the record as those of a file.
func (r Record) Symbols(path string) ([]graph.Symbol, error) {
	if r.count == 0 {
		return nil, nil
	}
	return r.pick(path, func(int, int) bool { return true })
}

// Named returns the symbols of a name.
func (r Record) Named(path, name string) ([]graph.Symbol, error) {
	at, want := 0, -1
	r.Names(func(have string) {
		if have == name {
			want = at
		}
		at++
	})
	if want < 0 {
		return nil, nil
	}
	want += len(fixed)
	return r.pick(path, func(head, _ int) bool { return head>>headBits == want })
}

// Based returns the symbols that write a base at all.
func (r Record) Based(path string) ([]graph.Symbol, error) {
	return r.pick(path, func(head, _ int) bool { return head&headBased != 0 })
}

// Identified returns the symbols of an id.
func (r Record) Identified(path string, id graph.ID) ([]graph.Symbol, error) {
	if r.count == 0 {
		return nil, nil
	}
	names := r.table()
	ofLocal := ownerID(id) != id
	all, err := r.pick(path, func(head, flags int) bool {
		// Most ids hold the name, and then most symbols need not be unpacked; of
		// locals, with their short names, none unless the id is a local's.
		form := flags >> idShift & 3
		if form == idLiteral {
			return true
		}
		if form != idMade && !ofLocal {
			return false
		}
		if flags&flagQualified == 0 {
			return true
		}
		name, ok := names.get(head >> headBits)
		return !ok || ends(string(id), name)
	})
	return slices.DeleteFunc(all, func(s graph.Symbol) bool { return s.ID != id }), err
}

// ends reports whether a name stands in an id where the qualified name of a
// symbol, or the name of a local, can end: before parameters, before which of
// several it is, or at the very end.
func ends(id, name string) bool {
	for {
		i := strings.Index(id, name)
		if i < 0 || name == "" {
			return i == 0
		}
		id = id[i+len(name):]
		if id == "" || id[0] == '(' || id[0] == '~' {
			return true
		}
	}
}

// pick decodes the symbols whose head and flags are wanted.
func (r Record) pick(path string, wanted func(head, flags int) bool) ([]graph.Symbol, error) {
	if r.count == 0 {
		return nil, nil
	}
	var out []graph.Symbol
	var x *reader
	d, at := decoder{data: r.data, at: r.heads}, r.bodies
	for i := range r.count {
		head := d.number()
		size := d.number()
		if f := (decoder{data: r.data, at: at}); wanted(head, f.number()) {
			if x == nil {
				x = newReader(r, path)
			}
			s, err := x.symbol(i, head, at, size)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			out = append(out, s)
		}
		at += size
	}
	return out, nil
}

// table gives the strings of a record by number.
type table struct {
	data string
	ends []int32 // of the record's own, from start on
	blob int
}

func (r Record) table() table {
	t := table{data: r.data, ends: make([]int32, r.strings), blob: r.blob}
	d := decoder{data: r.data, at: r.lengths}
	end := int32(0)
	for i := range t.ends {
		end += int32(d.number())
		t.ends[i] = end
	}
	return t
}

func (t *table) get(n int) (string, bool) {
	if n >= 0 && n < len(fixed) {
		return fixed[n], true
	}
	n -= len(fixed)
	if n < 0 || n >= len(t.ends) {
		return "", false
	}
	start := int32(0)
	if n > 0 {
		start = t.ends[n-1]
	}
	return t.data[t.blob+int(start) : t.blob+int(t.ends[n])], true
}
