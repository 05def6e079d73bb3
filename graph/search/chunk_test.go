package search

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/graph"
)

// declare makes the symbol of the lines from the one that holds first to the one
// that holds last.
func declare(text, name string, kind graph.Kind, first, last string) graph.Symbol {
	at := strings.Index(text, first)
	end := at + strings.Index(text[at:], last) + len(last)
	span := graph.Span{Start: at, End: end}
	n := at + strings.Index(text[at:], name)
	return graph.Symbol{Name: name, Kind: kind, Whole: span, Decl: span, NameSpan: graph.Span{Start: n, End: n + len(name)}}
}

// shown writes chunks down as "first line..last line name".
func shown(text string, chunks []Chunk) []string {
	var out []string
	for _, c := range chunks {
		lines := strings.Split(strings.TrimSuffix(text[c.Span.Start:c.Span.End], "\n"), "\n")
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s..%s %s %s", lines[0], lines[len(lines)-1], c.Kind, c.Name)))
	}
	return out
}

func TestCodeIsCutAlongItsDeclarations(t *testing.T) {
	body := strings.Repeat("\tstep()\n", 30)
	text := "import a\n\nconst one = 1\nconst two = 2\n\nclass Big {\n\tfield x\n\tfield y\n\n\tsave() {\n" + body + "\t} // save\n\n\tload() {\n" + body + "\t} // load\n} // Big\n\nfunc small() {\n} // small\n"
	symbols := []graph.Symbol{
		declare(text, "one", graph.KindConstant, "const one", "1"),
		declare(text, "two", graph.KindConstant, "const two", "2"),
		declare(text, "Big", graph.KindClass, "class Big", "// Big"),
		declare(text, "x", graph.KindField, "field x", "x"),
		declare(text, "y", graph.KindField, "field y", "y"),
		declare(text, "save", graph.KindMethod, "\tsave()", "// save"),
		declare(text, "load", graph.KindMethod, "\tload()", "// load"),
		declare(text, "small", graph.KindFunction, "func small", "// small"),
	}
	want := []string{
		"import a..const two = 2",
		"class Big {..\tfield y class Big",
		"save() {..\t} // save method save",
		"load() {..\t} // load method load",
		"} // Big..} // Big class Big",
		"func small() {..} // small function small",
	}
	got := shown(text, Chunks(File{Category: Code, Content: []byte(text), Symbols: symbols}))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestASmallTypeIsOneChunkWithItsMembers(t *testing.T) {
	text := "type Saver {\n\tsave()\n\tload()\n}\n"
	symbols := []graph.Symbol{
		declare(text, "Saver", graph.KindInterface, "type Saver", "}"),
		declare(text, "save", graph.KindMethod, "\tsave()", "()"),
		declare(text, "load", graph.KindMethod, "\tload()", "()"),
	}
	got := shown(text, Chunks(File{Category: Code, Content: []byte(text), Symbols: symbols}))
	if diff := cmp.Diff([]string{"type Saver {..} interface Saver"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestProseIsCutAtItsHeadings(t *testing.T) {
	text := "Shop\n====\n\nAn order.\n\n## Saving\n\nHow.\n\n```sh\n# no heading\n```\n\nLoading\n-------\nBack.\n"
	want := []string{"Shop..An order.  Shop", "## Saving..```  Saving", "Loading..Back.  Loading"}
	got := shown(text, Chunks(File{Category: Docs, Content: []byte(text)}))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// FuzzChunks cuts any text with any declarations: chunks lie in order, do not
// overlap, begin and end at line borders, and leave out only lines without words.
func FuzzChunks(f *testing.F) {
	f.Add("a\nb\n\nc() {\n}\n", 0, 3, 1, 9, uint8(1))
	f.Add("# x\n\ny\r\nz", 2, 4, 0, 100, uint8(2))
	f.Fuzz(func(t *testing.T, text string, a, b, c, d int, category uint8) {
		var symbols []graph.Symbol
		for i, s := range []graph.Span{{Start: a, End: b}, {Start: c, End: d}, {Start: a, End: d}} {
			symbols = append(symbols, graph.Symbol{Name: "n", Kind: []graph.Kind{graph.KindClass, graph.KindField, graph.KindMethod}[i], Whole: s, NameSpan: graph.Span{Start: s.Start, End: s.Start}})
		}
		end := 0
		covered := ""
		for _, ch := range Chunks(File{Category: Category(category % 4), Content: []byte(text), Symbols: symbols}) {
			s := ch.Span
			if s.Start < end || s.End <= s.Start || s.End > len(text) {
				t.Fatalf("chunk %v after %d of %d", s, end, len(text))
			}
			if s.Start > 0 && text[s.Start-1] != '\n' || s.End < len(text) && text[s.End-1] != '\n' {
				t.Fatalf("chunk %v begins or ends within a line", s)
			}
			covered += text[end:s.Start]
			end = s.End
		}
		covered += text[end:]
		for line := range strings.Lines(covered) {
			eachWord([]byte(line), func(w []byte) { t.Fatalf("no chunk holds %q", w) })
		}
	})
}
