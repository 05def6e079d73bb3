package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/auralsp/aura/daemon/api"
)

// indexed is a world whose workspace holds a few hundred real files, and whose
// saved index is its own.
func indexed(t *testing.T) *world {
	t.Helper()
	ws := t.TempDir()
	write(t, filepath.Join(ws, "go.mod"), "module big\n\ngo 1.24\n")
	for _, part := range []string{"go", "net"} {
		if err := copyTree(filepath.Join(goroot(t), "src", part), filepath.Join(ws, part)); err != nil {
			t.Fatal(err)
		}
	}
	w := newStranger(t, ws)
	w.env = append(w.env, "XDG_CACHE_HOME="+filepath.Join(w.dir, "cache"))
	return w
}

// index asks for the state of the index.
func (w *world) index(t testing.TB, action string) api.IndexReport {
	t.Helper()
	r := w.aura(t, "index", action, "--json")
	var out api.IndexReport
	if err := json.Unmarshal([]byte(r.stdout), &out); err != nil {
		t.Fatalf("index %s: %v\n%s%s", action, err, r.stdout, r.stderr)
	}
	return out
}

// verified checks the index against its files.
func (w *world) verified(t testing.TB, when string) api.IndexReport {
	t.Helper()
	r := w.index(t, "verify")
	if !r.Success || r.Files < 200 || r.Pending != 0 {
		t.Fatalf("%s: %d files, %d wait, %d differ: %v %q", when, r.Files, r.Pending, r.Total, r.Differences, r.Warnings)
	}
	return r
}

// C05, C06: however often the daemon is killed while it indexes and saves, and
// whatever is changed while it is down, its index says what the files say.
func TestC05IndexOutlivesKills(t *testing.T) {
	w := indexed(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	var paths []string
	for path := range snapshot(t, w.ws) {
		if strings.HasSuffix(path, ".go") {
			paths = append(paths, filepath.Join(w.ws, path))
		}
	}
	for round := range 8 {
		before := w.status(t)
		w.index(t, "status") // begins to index
		<-time.After(time.Duration(r.IntN(1500)) * time.Millisecond)
		if err := syscall.Kill(before.PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		w.nothingRuns(t)
		for i := range 5 {
			path := paths[r.IntN(len(paths))]
			switch r.IntN(3) {
			case 0: // another name, and the size and time of before
				forge(t, path)
			case 1:
				_ = os.Remove(path)
			default:
				write(t, path, fmt.Sprintf("package p\n\nfunc Added%d_%d() {}\n", round, i))
			}
		}
		w.verified(t, fmt.Sprintf("after kill %d", round))
	}
	w.ok(t, "stop")
	w.nothingRuns(t)
	if r := w.verified(t, "after a stop"); r.Saved == nil || r.Saved.Loaded != r.Files || len(r.Warnings) > 0 {
		t.Errorf("%d files, saved %+v, %q", r.Files, r.Saved, r.Warnings)
	}
}

// forge changes a letter of a file and sets its time back.
func forge(t testing.TB, path string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		return // removed before
	}
	changed := strings.Replace(read(t, path), "func ", "func X", 1)
	if at := strings.Index(changed, "func X"); at >= 0 {
		end := at + len("func X") + 1
		changed = changed[:end] + changed[end+1:] // as long as before
	}
	if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
}

// C01, C09: a saved index that is garbage, or that cannot be written, costs
// time, is told, and changes no answer.
func TestC01GarbageInPlaceOfTheSavedIndex(t *testing.T) {
	w := indexed(t)
	saved := w.verified(t, "first").Saved
	if saved == nil || !saved.Saving {
		t.Fatalf("nothing is saved: %+v", saved)
	}
	w.ok(t, "stop")
	w.nothingRuns(t)
	write(t, saved.File, strings.Repeat("garbage ", 10_000))
	r := w.verified(t, "after garbage")
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "damaged") || !r.Saved.Saving {
		t.Errorf("%+v, %q", r.Saved, r.Warnings)
	}
	if st := w.status(t); !strings.Contains(strings.Join(st.Warnings, "\n"), "damaged") {
		t.Errorf("status does not tell: %q", st.Warnings)
	}
	w.ok(t, "stop")
	w.nothingRuns(t)
	if r := w.verified(t, "after the repair"); len(r.Warnings) > 0 || r.Saved.Loaded != r.Files {
		t.Errorf("%+v, %q", r.Saved, r.Warnings)
	}
	if r := w.index(t, "rebuild"); !r.Success || r.Files < 200 || r.Saved.Waiting != 0 {
		t.Errorf("%+v", r)
	}
	w.verified(t, "after a rebuild")
	w.ok(t, "stop")
	w.nothingRuns(t)
	if err := os.Chmod(filepath.Dir(saved.File), 0o777); err != nil {
		t.Fatal(err)
	}
	if r := w.verified(t, "in a folder of everybody"); len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "chmod 700") || r.Saved.Saving {
		t.Errorf("%+v, %q", r.Saved, r.Warnings)
	}
}
