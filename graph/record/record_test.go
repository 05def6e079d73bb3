package record_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/record"
)

func pack(t testing.TB, symbols []graph.Symbol) record.Record {
	t.Helper()
	r, err := record.Make(symbols, nil)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := record.Of(r.Data()); err != nil || again != r {
		t.Fatalf("the same bytes make another record: %v", err)
	}
	return r
}

// wordOf returns a word of a small vocabulary, so that strings repeat.
func wordOf(r *rand.Rand) string {
	words := []string{"", "a", "Order", "save", "class", "string", "größe", "x.y", "#p", "List<T>", "m.Base(Other)", "\x00", "very long documentation of a thing\nwith lines"}
	return words[r.IntN(len(words))]
}

// symbolsOf makes symbols as a parser does, identified by graph.Identify, with
// every field of some of them set to something unusual.
func symbolsOf(r *rand.Rand, n int) []graph.Symbol {
	content := make([]byte, 1<<16)
	out := make([]graph.Symbol, 0, n)
	at := 0
	list := func() []string {
		if r.IntN(2) == 0 {
			return nil
		}
		l := []string{}
		for range r.IntN(3) {
			l = append(l, wordOf(r))
		}
		return l
	}
	for range n {
		start := at + r.IntN(5)
		end := start + 1 + r.IntN(200)
		name := wordOf(r)
		s := graph.Symbol{
			Name: name, Qualified: name, Kind: graph.KindMethod, Path: "/w/f",
			Decl: graph.Span{Start: start, End: end}, Whole: graph.Span{Start: start, End: end},
			NameSpan: graph.Span{Start: start, End: start + len(name)}, Local: r.IntN(2) == 0, Merged: r.IntN(5) == 0,
			Params: list(), Results: list(), Modifiers: list(), Attributes: list(), Bases: list(), Resolved: list(),
		}
		switch r.IntN(4) {
		case 0:
			s.Container, s.Qualified = "Type", "Type."+name
		case 1:
			s.Container, s.Qualified = "a::b", "a::b::"+name
		case 2:
			s.Qualified, s.Alias, s.Exact = wordOf(r), wordOf(r), wordOf(r)
		}
		if r.IntN(3) == 0 {
			s.Doc, s.Signature, s.Visibility = wordOf(r), wordOf(r), wordOf(r)
			s.Whole.Start, s.Whole.End = max(0, start-7), end+3
			s.Body = graph.Span{Start: start + 1, End: end - 1}
			s.NameSpan.End++
		}
		out = append(out, s)
		if s.Local || r.IntN(2) == 0 {
			at = start
		} else {
			at = end
		}
	}
	graph.Identify(out, content, graph.Home{Language: "l", Project: "p/q", Namespace: wordOf(r), Alias: wordOf(r), Separator: "."})
	for i := range out {
		switch r.IntN(20) {
		case 0:
			out[i].Language, out[i].Project = "other", ""
		case 1:
			out[i].ID = graph.ID(wordOf(r))
		}
	}
	return out
}

func TestEverySymbolComesBackAsItWas(t *testing.T) {
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 1))
		symbols := symbolsOf(r, r.IntN(40))
		rec := pack(t, symbols)
		got, err := rec.Symbols("/w/f")
		if err != nil || rec.Len() != len(symbols) {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if len(symbols) == 0 {
			continue
		}
		if diff := cmp.Diff(symbols, got); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
		oneByOne(t, rec, symbols)
	}
}

// oneByOne compares what single symbols are found by with a look at all of them.
func oneByOne(t *testing.T, rec record.Record, symbols []graph.Symbol) {
	t.Helper()
	byName := map[string][]graph.Symbol{}
	var based []graph.Symbol
	listed, bases, keys := map[string]bool{}, map[string]bool{}, map[uint32]bool{}
	for _, s := range symbols {
		byName[s.Name] = append(byName[s.Name], s)
		if len(s.Bases) > 0 {
			based = append(based, s)
		}
		for _, b := range s.Bases {
			for _, n := range graph.BaseNames(b) {
				bases[n] = true
			}
		}
		if !s.Local && s.Kind != graph.KindPackage {
			listed[s.Name] = true
		}
		keys[record.Key(s.ID)] = true
	}
	for name, want := range byName {
		got, err := rec.Named("/w/f", name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q: %s", name, diff)
		}
	}
	for i := range symbols {
		want := slices.DeleteFunc(slices.Clone(symbols), func(s graph.Symbol) bool { return s.ID != symbols[i].ID })
		got, err := rec.Identified("/w/f", symbols[i].ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q: %s", symbols[i].ID, diff)
		}
	}
	got, err := rec.Based("/w/f")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(based, got); diff != "" {
		t.Fatal(diff)
	}
	gotNames, gotListed, gotBases, gotKeys := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[uint32]bool{}
	rec.Names(func(n string) { gotNames[n] = true })
	rec.Listed(func(n string) { gotListed[n] = true })
	rec.Bases(func(n string) { gotBases[n] = true })
	rec.Keys(func(k uint32) { gotKeys[k] = true })
	if len(gotNames) != len(byName) {
		t.Fatalf("%d names, want %d", len(gotNames), len(byName))
	}
	for _, pair := range [][2]any{{listed, gotListed}, {bases, gotBases}, {keys, gotKeys}} {
		if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
			t.Fatal(diff)
		}
	}
}

// A field that is added to a symbol must not be lost in the store.
func TestEveryFieldIsPacked(t *testing.T) {
	for i := range reflect.TypeFor[graph.Symbol]().NumField() {
		var s graph.Symbol
		f := reflect.ValueOf(&s).Elem().Field(i)
		name := reflect.TypeFor[graph.Symbol]().Field(i).Name
		switch v := f.Addr().Interface().(type) {
		case *graph.Span:
			*v = graph.Span{Start: 3, End: 9}
		case *[]string:
			*v = []string{"x", "y"}
		case *bool:
			*v = true
		default:
			f.SetString("text")
		}
		path := s.Path
		got, err := pack(t, []graph.Symbol{s}).Symbols(path)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff([]graph.Symbol{s}, got); diff != "" {
			t.Errorf("%s is lost: %s", name, diff)
		}
	}
}

func TestSpansOutsideAFileAreRefused(t *testing.T) {
	for _, span := range []graph.Span{{Start: -1, End: 2}, {Start: 0, End: 1 << 40}} {
		if _, err := record.Make([]graph.Symbol{{Name: "a", Body: span}}, nil); !errors.Is(err, record.ErrDamaged) {
			t.Errorf("%v: %v", span, err)
		}
	}
}

func TestKeyOfALocalIsItsOwners(t *testing.T) {
	owner := graph.MakeID(graph.Identity{Language: "l", Project: ".", Qualified: "f"})
	if record.Key(graph.MakeLocalID(owner, "x", 2, "abc")) != record.Key(owner) {
		t.Error("a local is not found with its owner")
	}
	if private := graph.ID("1:l:.:C.#p"); record.Key(private) != record.Hash(string(private)) {
		t.Error("a name with # is taken for a local")
	}
}

// readAll asks a record everything; it must end without a panic.
func readAll(rec record.Record) {
	rec.Names(func(string) {})
	rec.Listed(func(string) {})
	rec.Bases(func(string) {})
	rec.Keys(func(uint32) {})
	for _, err := range []error{
		second(rec.Symbols("/f")), second(rec.Named("/f", "a")), second(rec.Based("/f")),
	} {
		if err != nil && !errors.Is(err, record.ErrDamaged) {
			panic(fmt.Sprintf("an error of another kind: %v", err))
		}
	}
}

func second(_ []graph.Symbol, err error) error { return err }

// C01: whatever is flipped or cut off, reading ends with an answer or an error.
func TestC01DamagedRecordsDoNotPanic(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	data := pack(t, symbolsOf(r, 60)).Data()
	for range 20000 {
		b := []byte(data)
		for range 1 + r.IntN(3) {
			b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		}
		if r.IntN(4) == 0 {
			b = b[:r.IntN(len(b))]
		}
		if rec, err := record.Of(string(b)); err == nil {
			readAll(rec)
		}
	}
}

func FuzzRecord(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(pack(f, symbolsOf(rand.New(rand.NewPCG(seed, 3)), int(seed)*3)).Data())
	}
	f.Fuzz(func(t *testing.T, data string) {
		rec, err := record.Of(data)
		if err != nil {
			return
		}
		readAll(rec)
		symbols, err := rec.Symbols("/f")
		if err != nil || slices.ContainsFunc(symbols, wild) {
			return
		}
		made, err := record.Make(symbols, nil)
		if err != nil {
			t.Fatalf("what was read cannot be packed again: %v", err)
		}
		again, err := made.Symbols("/f")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(symbols, again); diff != "" {
			t.Fatal(diff)
		}
	})
}

// wild reports whether a symbol's spans lie where no file has text.
func wild(s graph.Symbol) bool {
	for _, span := range []graph.Span{s.Whole, s.Decl, s.NameSpan, s.Body} {
		if span.Start < 0 || span.End < 0 || span.Start > 1<<29 || span.End > 1<<29 {
			return true
		}
	}
	return false
}

func BenchmarkMake(b *testing.B) {
	symbols := symbolsOf(rand.New(rand.NewPCG(1, 1)), 200)
	for b.Loop() {
		pack(b, symbols)
	}
}

func BenchmarkNamed(b *testing.B) {
	rec := pack(b, symbolsOf(rand.New(rand.NewPCG(1, 1)), 200))
	for b.Loop() {
		if _, err := rec.Named("/f", "Order"); err != nil {
			b.Fatal(err)
		}
	}
}
