package e2e

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/auralsp/aura/daemon/api"
)

// questions are asked as people ask them, each with files that answer it.
var questions = []struct {
	query string
	files string
}{
	{"how are flags parsed", "command.go"},
	{"suggest similar commands on a typo", "command.go cobra.go"},
	{"levenshtein distance", "cobra.go"},
	{"generate markdown documentation", "doc/md_docs.go"},
	{"generate man pages", "doc/man_docs.go"},
	{"validate the number of positional arguments", "args.go"},
	{"exactly n args", "args.go"},
	{"powershell completion script", "powershell_completions.go"},
	{"mutually exclusive flags", "flag_groups.go"},
	{"error for a required flag that is not set", "command.go flag_groups.go"},
	{"fish shell completion", "fish_completions.go"},
	{"active help messages", "active_help.go"},
	{"print the version of a command", "command.go"},
	{"in which order do the hooks before run come", "command.go cobra.go site/content/user_guide.md"},
	{"help template function", "command.go cobra.go"},
	{"add a subcommand to its parent", "command.go"},
	{"mark a flag as required", "shell_completions.go flag_groups.go"},
	{"mousetrap on windows", "command_win.go cobra.go"},
	{"zsh descriptions escaped", "zsh_completions.go"},
	{"yaml docs generation", "doc/yaml_docs.go"},
	{"dynamic completion of arguments", "completions.go site/content/completions/_index.md"},
	{"execute with context", "command.go"},
}

// TestQuestionsFindTheirFiles asks about a real module, without trust and hence
// without a server.
func TestQuestionsFindTheirFiles(t *testing.T) {
	w := newStranger(t, module(t, cobra))
	first, top := 0, 0
	for _, q := range questions {
		var r api.SearchResults
		w.must(t, "code.search", map[string]any{"query": q.query, "limit": 5}, &r)
		at := slices.IndexFunc(r.Results, func(x api.SearchResult) bool { return slices.Contains(strings.Fields(q.files), x.File) })
		if at == 0 {
			first++
		}
		if at >= 0 {
			top++
			continue
		}
		var files []string
		for _, x := range r.Results {
			files = append(files, x.File)
		}
		t.Logf("%q finds %v, not %s", q.query, files, q.files)
	}
	t.Logf("%d of %d questions have a file that answers in the first place, %d among the first five", first, len(questions), top)
	if top*10 < len(questions)*9 {
		t.Errorf("only %d of %d questions find their files", top, len(questions))
	}
	var exact api.SearchResults
	w.must(t, "aura_search_code", map[string]any{"query": "Command.ExecuteC"}, &exact)
	if len(exact.Results) == 0 || exact.Results[0].Type != "exact_match" || exact.Results[0].Score != 1 || exact.Results[0].File != "command.go" || !exact.Complete {
		t.Errorf("an exact name is answered with %+v", exact)
	}
	var typed api.SearchResults
	w.must(t, "aura_semantic_code_query", map[string]any{"concept": "sort commands", "implementsInterface": "sort.Interface"}, &typed)
	if typed.Complete && len(typed.Results) == 0 && len(typed.Warnings) == 0 {
		t.Error("nothing is found, and nothing says why")
	}
	shown := w.ok(t, "search", "generate man pages", "--limit", "2")
	if !strings.Contains(shown.stdout, "doc/man_docs.go:") || strings.Contains(shown.stdout, "\x1b") {
		t.Errorf("the command line shows\n%s", shown.stdout)
	}
}

// TestOnlyTheUsersConfigurationSendsTextAway has an endpoint asked once the user's
// file names it, and not before.
func TestOnlyTheUsersConfigurationSendsTextAway(t *testing.T) {
	var asked atomic.Int32
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		asked.Add(1)
		type embedding struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		}
		out := struct {
			Data []embedding `json:"data"`
		}{}
		for i, text := range in.Input {
			out.Data = append(out.Data, embedding{i, []float32{1, float32(len(text))}})
		}
		if err := json.NewEncoder(w).Encode(out); err != nil {
			t.Error(err)
		}
	}))
	defer endpoint.Close()
	ws := t.TempDir()
	write(t, filepath.Join(ws, "a.md"), "# Apples\n\nfruit\n")
	settings := "[search.embeddings]\nurl = \"" + endpoint.URL + "\"\nmodel = \"m\"\n"
	write(t, filepath.Join(ws, ".aura.toml"), settings)
	write(t, filepath.Join(ws, "config.toml"), settings)
	w := newStranger(t, ws)
	var r api.SearchResults
	w.must(t, "code.search", map[string]any{"query": "fruit"}, &r)
	if r.Ranking != "lexical" || asked.Load() != 0 {
		t.Fatalf("%s, asked %d times", r.Ranking, asked.Load())
	}
	write(t, filepath.Join(w.dir, "config", "aura", "config.toml"), settings)
	w.ok(t, "reload")
	for range 2 {
		w.must(t, "code.search", map[string]any{"query": "fruit"}, &r)
		if r.Ranking != "hybrid" || asked.Load() != 1 {
			t.Fatalf("%s, asked %d times: %v", r.Ranking, asked.Load(), r.Warnings)
		}
	}
}
