package e2e

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/lspclient/lsptest"
)

// below puts the sample workspace of a language into a folder.
func below(t testing.TB, dir, lang string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, os.DirFS(unpack(t, lang, "shop"))); err != nil {
		t.Fatal(err)
	}
}

// serversOf returns the roots of the running servers, relative to the
// workspace, by engine.
func (w *world) serversOf(t testing.TB) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, s := range w.status(t).Servers {
		if s.PID == 0 {
			continue
		}
		rel, err := filepath.Rel(w.ws, s.Root)
		if err != nil {
			t.Fatal(err)
		}
		out[s.Engine] = append(out[s.Engine], rel)
	}
	return out
}

// git runs a command of git as a user of the test's own.
func git(t testing.TB, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "init.defaultBranch=main"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// TestManyProjectsOfOneWorkspace has three languages in one folder, one of them
// twice: each project is answered for by a server of its own, and none of the
// others' symbols is in its answers.
func TestManyProjectsOfOneWorkspace(t *testing.T) {
	for _, tool := range []string{"pyright-langserver", "typescript-language-server"} {
		lsptest.Tool(t, tool)
	}
	dir := t.TempDir()
	projects := map[string]string{"first": "go", "second": "go", "script": "python", "web": "typescript"}
	for name, lang := range projects {
		below(t, filepath.Join(dir, name), lang)
	}
	w := newWorld(t, dir)
	for _, name := range slices.Sorted(maps.Keys(projects)) {
		s := shops()[projects[name]]
		var got api.Places
		w.must(t, "aura_references", map[string]any{"symbolName": s.order, "filePath": name + "/" + s.store, "limit": all}, &got)
		if got.Total != s.references || !got.Complete {
			t.Errorf("%s: %d references (complete: %v), want %d", name, got.Total, got.Complete, s.references)
		}
		for _, l := range got.Locations {
			if first, _ := filepath.Split(l.File); !inFolder(name, first) {
				t.Errorf("%s: a reference in %s", name, l.File)
			}
		}
	}
	running := w.serversOf(t)
	slices.Sort(running["gopls"])
	if !slices.Equal(running["gopls"], []string{"first", "second"}) || len(running) != 3 {
		t.Errorf("servers %v; want two for Go and one for each other language", running)
	}
}

func inFolder(name, file string) bool {
	rel, err := filepath.Rel(name, file)
	return err == nil && filepath.IsLocal(rel)
}

// TestWorktreesAreKeptApart has three work trees of one repository open, one of
// them within the first: what is changed in one is seen in that one only.
func TestWorktreesAreKeptApart(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "main")
	below(t, dir, "go")
	git(t, dir, "init", "-q")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "Sell")
	w := newWorld(t, dir)
	count := func(where, symbol string) int {
		t.Helper()
		r := w.ok(t, "-C", where, "call", "aura_references", encode(t, map[string]any{"symbolName": symbol, "limit": all}))
		var got api.Places
		if refusal, err := r.answer(&got); err != nil || refusal != nil {
			t.Fatalf("%s in %s: %v, %v", symbol, where, refusal, err)
		}
		return got.Total
	}
	want := shops()["go"].references
	if n := count(dir, "Order"); n != want {
		t.Fatalf("%d references, want %d", n, want)
	}
	trees := []string{filepath.Join(base, "beside"), filepath.Join(dir, ".trees", "within")}
	for _, tree := range trees {
		git(t, dir, "worktree", "add", "-q", "--detach", tree)
		w.ok(t, "trust", tree)
		if n := count(tree, "Order"); n != want {
			t.Errorf("%d references in %s, want %d", n, tree, want)
		}
		if n := count(dir, "Order"); n != want {
			t.Errorf("%d references in the first tree once %s is there, want %d", n, tree, want)
		}
	}
	before := read(t, filepath.Join(dir, "store", "store.go"))
	for _, tree := range trees {
		if r := w.ok(t, "-C", tree, "call", "aura_rename_symbol", encode(t, rename("Order", "Purchase"))); r.exit != 0 {
			t.Fatal(r.stdout)
		}
		if n := count(tree, "Purchase"); n != want {
			t.Errorf("%d references of the new name in %s, want %d", n, tree, want)
		}
	}
	if read(t, filepath.Join(dir, "store", "store.go")) != before || count(dir, "Order") != want {
		t.Error("a rename in another work tree reached the first one")
	}
	if n := len(w.status(t).Workspaces); n != 3 {
		t.Errorf("%d workspaces are open, want 3", n)
	}
	if running := w.serversOf(t)["gopls"]; len(running) != 3 {
		t.Errorf("servers in %v, want one for each tree", running)
	}

	moved := filepath.Join(base, "moved")
	git(t, dir, "worktree", "move", trees[0], moved)
	w.ok(t, "trust", moved)
	if n := count(moved, "Purchase"); n != want {
		t.Errorf("%d references in the moved tree, want %d", n, want)
	}
	until(t, 10*time.Second, "the workspace and the server of the old place to be gone", func() bool {
		count(moved, "Purchase")
		s := w.status(t)
		return len(s.Workspaces) == 3 && !slices.ContainsFunc(s.Servers, func(x api.ServerStatus) bool { return x.Root == trees[0] })
	})
}

// TestProjectsComeAndGo makes a module in an open workspace, and removes it.
func TestProjectsComeAndGo(t *testing.T) {
	dir := t.TempDir()
	below(t, filepath.Join(dir, "old"), "go")
	w := newWorld(t, dir)
	references := func(name string) int {
		t.Helper()
		var got api.Places
		w.must(t, "aura_references", map[string]any{"symbolName": "Order", "filePath": name + "/store/store.go", "limit": all}, &got)
		return got.Total
	}
	want := shops()["go"].references
	if n := references("old"); n != want {
		t.Fatalf("%d references, want %d", n, want)
	}
	below(t, filepath.Join(dir, "new"), "go")
	if n := references("new"); n != want {
		t.Errorf("%d references in the new project, want %d", n, want)
	}
	if running := w.serversOf(t)["gopls"]; len(running) != 2 {
		t.Errorf("servers in %v, want two", running)
	}
	if err := os.RemoveAll(filepath.Join(dir, "new")); err != nil {
		t.Fatal(err)
	}
	if n := references("old"); n != want {
		t.Errorf("%d references once the new project is gone, want %d", n, want)
	}
	until(t, 10*time.Second, "the server of the removed project to be gone", func() bool {
		return slices.Equal(w.serversOf(t)["gopls"], []string{"old"})
	})
}
