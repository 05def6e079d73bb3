package op_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/adapters/registry"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/op"
	"github.com/auralsp/aura/daemon/workbench"
	"github.com/auralsp/aura/graph/search"
)

// searched is a workspace that is asked without any server.
type searched struct {
	*testing.T
	ws *workbench.Workspace
}

func openSearched(t *testing.T, o workbench.Options) searched {
	t.Helper()
	o.Languages = registry.Languages()
	ws, err := workbench.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ws.Close(); err != nil {
			t.Error(err)
		}
	})
	return searched{t, ws}
}

func (w searched) ask(in api.SearchQuery) *api.SearchResults {
	w.Helper()
	s, err := w.ws.Begin(w.Context(), workbench.Caller{})
	if err != nil {
		w.Fatal(err)
	}
	defer s.Close()
	if in.ContentType == "" {
		in.ContentType = "all"
	}
	out, err := op.Handlers()["search"].Query(w.Context(), s, in)
	if err != nil {
		w.Fatal(err)
	}
	return out.(*api.SearchResults)
}

func names(r *api.SearchResults) []string {
	out := []string{}
	for _, x := range r.Results {
		out = append(out, x.File+" "+x.Name)
	}
	return out
}

// TestMeaningIsFusedWithWordsWhereTheUserNamesAnEndpoint goes from words alone to
// an endpoint that answers, and to one that does not.
func TestMeaningIsFusedWithWordsWhereTheUserNamesAnEndpoint(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "a.md"), []byte("# Apples\n\nfruit fruit fruit of trees\n"))
	write(t, filepath.Join(root, "b.md"), []byte("# Bananas\n\nfruit fruit that is yellow\n"))
	write(t, filepath.Join(root, "c.md"), []byte("# Cherries\n\nfruit, red and small and sweet and sour and round\n"))
	fails := false
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Input []string }
		if fails || json.NewDecoder(r.Body).Decode(&in) != nil {
			http.Error(w, "down", http.StatusBadGateway)
			return
		}
		type embedding struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		}
		out := map[string][]embedding{}
		for i, text := range in.Input { // a question is near to cherries
			out["data"] = append(out["data"], embedding{i, []float32{float32(1 + strings.Count(text, "Cherries")), float32(1 + 8*strings.Count(text, "les"))}})
		}
		if strings.HasPrefix(in.Input[0], "fruit") {
			out["data"][0].Embedding = []float32{9, 1}
		}
		if err := json.NewEncoder(w).Encode(out); err != nil {
			t.Error(err)
		}
	}))
	defer endpoint.Close()
	var vectors *search.Vectors
	w := openSearched(t, workbench.Options{Root: root, Vectors: func() (*search.Vectors, int) { return vectors, 10 }})
	words := w.ask(api.SearchQuery{Query: "fruit", Limit: 10})
	if diff := cmp.Diff([]string{"a.md Apples", "b.md Bananas", "c.md Cherries"}, names(words)); diff != "" || words.Ranking != "lexical" {
		t.Errorf("%s (-want +got):\n%s", words.Ranking, diff)
	}
	vectors = &search.Vectors{Endpoint: search.Endpoint{URL: endpoint.URL, Model: "m", Timeout: time.Minute}}
	both := w.ask(api.SearchQuery{Query: "fruit", Limit: 10})
	if both.Ranking != "hybrid" || len(both.Warnings) != 0 || slices.Index(names(both), "c.md Cherries") > slices.Index(names(words), "c.md Cherries")-1 {
		t.Errorf("%s %q %v", both.Ranking, names(both), both.Warnings)
	}
	fails = true
	again := w.ask(api.SearchQuery{Query: "fruit", Limit: 10})
	if diff := cmp.Diff(words.Results, again.Results); diff != "" || again.Ranking != "lexical" {
		t.Errorf("%s (-want +got):\n%s", again.Ranking, diff)
	}
	if !slices.ContainsFunc(again.Warnings, func(s string) bool { return strings.Contains(s, "502") }) {
		t.Errorf("warnings %q", again.Warnings)
	}
}

// TestSearchFollowsEveryChange edits a workspace at random; its searches say what
// those of a workspace say that is opened anew.
func TestSearchFollowsEveryChange(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	root := t.TempDir()
	w := openSearched(t, workbench.Options{Root: root})
	words := strings.Fields("order store save load parse flag retry error config user token cache")
	word := func() string { return words[r.IntN(len(words))] }
	step := func() error {
		path := filepath.Join(root, fmt.Sprintf("d%d", r.IntN(3)), fmt.Sprintf("f%d%s", r.IntN(6), []string{".go", ".py", ".md", ".yaml", ".txt"}[r.IntN(5)]))
		switch r.IntN(10) {
		case 0:
			if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
			return nil
		case 1:
			err := os.Rename(path, path+".md")
			if errors.Is(err, os.ErrNotExist) {
				return nil
			}
			return err
		case 2:
			return os.RemoveAll(filepath.Dir(path))
		case 3:
			return os.WriteFile(filepath.Join(root, ".gitignore"), []byte(fmt.Sprintf("f%d*\n", r.IntN(6))), 0o644)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		body := fmt.Sprintf("package p\n\n# %s\n\nfunc %s() { %s(%q) }\n\ndef %s(): return %s\n", word(), word(), word(), word(), word(), word())
		return os.WriteFile(path, []byte(body), 0o644)
	}
	for round := range 25 {
		for range 1 + r.IntN(12) {
			if err := step(); err != nil {
				t.Fatal(err)
			}
		}
		q := api.SearchQuery{Query: word() + " " + word(), Limit: 50}
		got := w.ask(q)
		fresh := openSearched(t, workbench.Options{Root: root})
		if diff := cmp.Diff(fresh.ask(q), got); diff != "" {
			t.Fatalf("seed %d, round %d: %s (-anew +followed):\n%s", seed, round, q.Query, diff)
		}
		for _, x := range got.Results {
			content, err := os.ReadFile(filepath.Join(root, x.File))
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(string(content), "\n")
			if shown := strings.Join(lines[x.Line-1:x.EndLine], "\n"); shown != x.Snippet {
				t.Fatalf("%s:%d-%d is %q, not %q", x.File, x.Line, x.EndLine, shown, x.Snippet)
			}
		}
	}
}
