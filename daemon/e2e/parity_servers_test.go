package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/lspclient/lsptest"
)

var (
	parityN       = flag.Int("parity.n", 6, "symbols of each language to compare with a bare server")
	parityLang    = flag.String("parity.lang", "", "language to compare; all but go when empty")
	parityProject = flag.String("parity.project", "", "project to compare in; the soak's when empty")
)

// patient is how a bare server is brought to whole answers: its command, and
// the documents that it must have open.
type patient struct {
	argv       func(t testing.TB) []string
	options    any
	languageID map[string]string // of files to open, by extension; all of the project
	implements bool              // it answers textDocument/implementation
	calls      bool              // and the call hierarchy
}

func patients() map[string]patient {
	tool := func(name string, args ...string) func(testing.TB) []string {
		return func(t testing.TB) []string { return append([]string{lsptest.Tool(t, name)}, args...) }
	}
	return map[string]patient{
		"rust":       {argv: tool("rust-analyzer"), implements: true, calls: true},
		"python":     {argv: tool("pyright-langserver", "--stdio"), languageID: map[string]string{".py": "python"}, calls: true},
		"typescript": {argv: tool("typescript-language-server", "--stdio"), languageID: map[string]string{".ts": "typescript", ".tsx": "typescriptreact"}, implements: true, calls: true},
		"csharp":     {argv: tool("roslyn-lsp", "-lsp"), implements: true, calls: true},
	}
}

// start starts the server and opens what it must have open.
func (p patient) start(t testing.TB, dir string, env []string) *bare {
	t.Helper()
	b := startServer(t, p.argv(t), p.options, dir, env)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains(skipped, d.Name()) {
			return filepath.SkipDir
		}
		rel, err := filepath.Rel(dir, path)
		if id := p.languageID[filepath.Ext(path)]; err == nil && id != "" {
			b.openAs(t, filepath.ToSlash(rel), id)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// settled asks until the answer has been the same for a while: what a client
// does that knows nothing of the server's signs of readiness and has all day.
func settled(t testing.TB, quiet time.Duration, ask func() ([]string, error)) []string {
	t.Helper()
	var last []string
	since := time.Now()
	deadline := time.After(patience)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		got, err := ask()
		if err != nil || !slices.Equal(got, last) {
			last, since = got, time.Now()
		} else if len(last) > 0 && time.Since(since) > quiet {
			return last
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("no settled answer: %q, %v", got, err)
		}
	}
}

// tryPlaces is places where the server may still refuse.
func (b *bare) tryPlaces(method, file string, line, column int) ([]string, error) {
	params := b.at(file, line, column)
	params["context"] = map[string]any{"includeDeclaration": true}
	raw, err := b.ask(method, params)
	if err != nil {
		return nil, err
	}
	var spans []span
	if err := json.Unmarshal(raw, &spans); err != nil {
		var one span // definition may be answered with a single place
		if json.Unmarshal(raw, &one) != nil {
			return nil, err
		}
		spans = []span{one}
	}
	return b.spans(spans), nil
}

// TestSameAnswersAsBareServers asks Aura, at once, and a patient bare server
// about the same symbols of a real project.
func TestSameAnswersAsBareServers(t *testing.T) {
	all := patients()
	for _, lang := range slices.Sorted(maps.Keys(all)) {
		if *parityLang == "" || *parityLang == lang {
			t.Run(lang, func(t *testing.T) { compare(t, lang, all[lang]) })
		}
	}
}

func compare(t *testing.T, lang string, p patient) {
	s := soakers()[lang]
	name := s.project
	if *parityProject != "" {
		name = *parityProject
	}
	in := s.fetch(t, name)
	w := newWorld(t, in.dir)
	picks := slices.DeleteFunc(choose(t, in.picks, min(2**parityN, len(in.picks)), *soakSeed), func(x pick) bool { return !plain(t, in.dir, x) })
	picks = picks[:min(len(picks), *parityN)]

	// Aura first: its first answers are those that count.
	type answer struct {
		references, definition, implementations, callers []string
		nothing                                          bool // can implement it
	}
	got := map[pick]answer{}
	for _, x := range picks {
		var refs, def api.Places
		var a answer
		w.must(t, "aura_references", address(x.file, x.line, x.column), &refs)
		w.must(t, "aura_definition", address(x.file, x.line, x.column), &def)
		if !refs.Complete {
			t.Errorf("%s: references are not complete: %q", x, refs.Warnings)
		}
		a.references, a.definition = places(refs.Locations), places(def.Locations)
		if p.implements && (x.kind == "type" || x.kind == "interface method") {
			var impl api.Symbols
			refusal := w.call(t, "aura_find_implementations", address(x.file, x.line, x.column), &impl)
			if refusal != nil && refusal.Code != api.InvalidArgument {
				t.Errorf("%s: implementations: %v", x, refusal)
			}
			// Of a type that nothing can implement a server may list other things.
			a.implementations, a.nothing = symbolPlaces(impl.Symbols), refusal != nil
		}
		if p.calls && (x.kind == "function" || x.kind == "method") {
			var calls api.Symbols
			w.must(t, "aura_find_callers", address(x.file, x.line, x.column), &calls)
			a.callers = callPlaces(calls.Symbols)
		}
		got[x] = a
	}
	w.stop(t)

	truth := p.start(t, in.dir, append(os.Environ(), w.env...))
	asked := 0
	for i, x := range picks {
		quiet := 300 * time.Millisecond
		if i == 0 {
			quiet = 8 * time.Second // it has just started
		}
		a := got[x]
		for method, have := range map[string][]string{"textDocument/references": a.references, "textDocument/definition": a.definition} {
			want := settled(t, quiet, func() ([]string, error) { return truth.tryPlaces(method, x.file, x.line, x.column) })
			if d := cmp.Diff(want, have); d != "" {
				t.Errorf("%s: %s (-bare +aura):\n%s", x, method, d)
			}
		}
		if p.implements && !a.nothing && (x.kind == "type" || x.kind == "interface method") {
			want, err := truth.tryPlaces("textDocument/implementation", x.file, x.line, x.column)
			if err != nil {
				t.Errorf("%s: bare implementation: %v", x, err)
			}
			// A class is no implementation of itself, though a server may name it.
			own := fmt.Sprintf("%s:%d:%d", x.file, x.line, x.column)
			want = slices.DeleteFunc(want, func(p string) bool { return p == own })
			if !slices.Equal(want, a.implementations) {
				t.Errorf("%s: implementations (-bare +aura):\n%s", x, cmp.Diff(want, a.implementations))
			}
		}
		if p.calls && (x.kind == "function" || x.kind == "method") {
			want := truth.callers(t, x.file, x.line, x.column)
			if d := cmp.Diff(want, a.callers); d != "" {
				t.Errorf("%s: callers (-bare +aura):\n%s", x, d)
			}
		}
		asked++
	}
	t.Logf("%s %s, seed %d: %d symbols compared", lang, name, *soakSeed, asked)
	if asked == 0 {
		t.Error("nothing was compared")
	}
}

// plain reports whether a symbol stands on a line of ASCII, where columns are
// the same in every encoding that a bare server may count in.
func plain(t *testing.T, dir string, x pick) bool {
	t.Helper()
	content := read(t, filepath.Join(dir, x.file))
	for _, r := range content {
		if r > 127 {
			return false
		}
	}
	return true
}
