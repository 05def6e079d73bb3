package op_test

import (
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/auralsp/aura/adapters/registry"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/op"
	"github.com/auralsp/aura/daemon/supervise"
	"github.com/auralsp/aura/daemon/workbench"
	"github.com/auralsp/aura/lspclient/proc"
)

// blind is a world in which no server is found.
func blind(t *testing.T) *world {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	spawner, err := proc.NewSpawner(t.Context(), proc.Options{Log: log})
	if err != nil {
		t.Fatal(err)
	}
	s := supervise.Start(supervise.Options{
		Log: log, Spawner: spawner, Scratch: t.TempDir(),
		Look: func(_, name, _ string) (string, error) { return "", &exec.Error{Name: name, Err: exec.ErrNotFound} },
	})
	t.Cleanup(func() {
		if err := errors.Join(s.Close(t.Context()), spawner.Close()); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
	})
	return &world{supervisor: s, langs: registry.Languages()}
}

// openShop opens the shop of a language, from testdata.
func (w *world) openShop(t *testing.T, language string) *workbench.Workspace {
	t.Helper()
	archive, err := txtar.ParseFile("../../testdata/workspaces/" + language + "/shop.txtar")
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	for _, f := range archive.Files {
		write(t, filepath.Join(root, f.Name), f.Data)
	}
	ws, err := workbench.Open(t.Context(), workbench.Options{Root: root, Supervisor: w.supervisor, Languages: w.langs})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ws.Close() })
	return ws
}

// query asks one operation in a session of its own.
func query[T any](t *testing.T, w *world, ws *workbench.Workspace, operation, params string) (T, error) {
	t.Helper()
	var none T
	answer, err := w.answer(t.Context(), ws, operation, json.RawMessage(params))
	if err != nil {
		return none, err
	}
	return *answer.(*T), nil
}

// TestNamesAreResolvedByTheGraph asks every operation that takes a symbol where
// no server is: a name that is not there is refused by the graph, with the
// nearest names, and never by a server.
func TestNamesAreResolvedByTheGraph(t *testing.T) {
	w := blind(t)
	ws := w.openShop(t, "go")
	for _, spec := range api.Specs() {
		takes := false
		for _, f := range api.Fields(spec.Input) {
			takes = takes || f.Name == "symbolId"
		}
		if !takes || spec.Tool == "" {
			continue
		}
		params := map[string]any{"symbolName": "Ordr"}
		for _, f := range api.Fields(spec.Input) {
			if f.Required && f.Name != "symbolName" {
				params[f.Name] = "Fresh"
			}
		}
		raw, err := json.Marshal(params)
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.answer(t.Context(), ws, spec.Name, raw)
		var refused *api.Error
		if !errors.As(err, &refused) || refused.Code != api.SymbolNotFound {
			t.Errorf("%s: %v, want SYMBOL_NOT_FOUND", spec.Name, err)
			continue
		}
		if !strings.Contains(strings.Join(refused.Suggestions, " "), "Order") {
			t.Errorf("%s suggests %q, without Order", spec.Name, refused.Suggestions)
		}
	}
}

// TestMutationsNeverRestOnTheGraph: without a server a name may be resolved, and
// nothing is planned.
func TestMutationsNeverRestOnTheGraph(t *testing.T) {
	w := blind(t)
	for _, language := range []string{"go", "rust", "python", "typescript", "csharp"} {
		name := "Order"
		_, err := w.answer(t.Context(), w.openShop(t, language), "rename", json.RawMessage(`{"symbolName":"`+name+`","symbolKind":"type","newName":"Purchase"}`))
		if _, unserved := api.Unserved(err); !unserved {
			t.Errorf("%s: %v, want the refusal of a server that is not there", language, err)
		}
	}
}

// TestNamesFromOutsideWithoutServers finds by their uses names that no file declares.
func TestNamesFromOutsideWithoutServers(t *testing.T) {
	w := blind(t)
	ws := w.openShop(t, "python")
	write(t, filepath.Join(ws.Root(), "shop", "errors.py"), []byte("import json\n\n\nclass Broken(Exception):\n    pass\n\n\nclass Worse(Broken):\n    pass\n\n\ndef dump(x):\n    return json.dumps(x)\n"))
	derived, err := query[api.Symbols](t, w, ws, "derived_types", `{"symbolName":"Exception","transitive":true}`)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range derived.Symbols {
		names = append(names, s.Name)
	}
	if strings.Join(names, " ") != "Broken Worse" || derived.Complete || derived.Source != "graph" {
		t.Errorf("%q, %+v", names, derived.Trust)
	}
	for _, name := range []string{"json.dumps", "dumps"} {
		used, err := query[api.Places](t, w, ws, "usages", `{"symbolName":"`+name+`"}`)
		if err != nil {
			t.Fatal(err)
		}
		if used.Total != 1 || used.Source != "text" || used.Complete || used.Locations[0].UsageKind != "call" {
			t.Errorf("%s: %+v", name, used)
		}
	}
	if _, err := query[api.Places](t, w, ws, "usages", `{"symbolName":"pickle.dumps"}`); api.CodeOf(err) != api.SymbolNotFound {
		t.Errorf("what no code uses: %v", err)
	}
}

// TestStaleAnswersSaySo changes a file after a session has looked at it.
func TestStaleAnswersSaySo(t *testing.T) {
	w := blind(t)
	ws := w.openShop(t, "go")
	s, err := ws.Begin(t.Context(), workbench.Caller{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ask := func() *api.Places {
		t.Helper()
		answer, err := op.Handlers()["definition"].Query(t.Context(), s, api.Navigate{Address: api.Address{SymbolName: "Order", SymbolKind: "type"}, Limit: 20, Wait: -1})
		if err != nil {
			t.Fatal(err)
		}
		return answer.(*api.Places)
	}
	if got := ask(); got.Stale || got.Total != 1 {
		t.Fatalf("nothing has changed: %+v", got)
	}
	path := filepath.Join(ws.Root(), ask().Locations[0].File)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, append([]byte("// New first line.\n"), content...))
	if got := ask(); !got.Stale || !strings.Contains(strings.Join(got.Warnings, "\n"), "has changed") {
		t.Errorf("the file has another line at its start: %+v", got.Trust)
	}
}
