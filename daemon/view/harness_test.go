package view_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/auralsp/aura/daemon/view"
	"github.com/auralsp/aura/graph/watch"
	"github.com/auralsp/aura/lspclient/text"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a workspace with an open View.
type rig struct {
	t   testing.TB
	dir string
	v   *view.View
	w   *watch.Watcher
}

func open(t testing.TB, files map[string]string, opts view.Options) *rig {
	t.Helper()
	r := &rig{t: t, dir: filepath.Join(real(t, t.TempDir()), "root")}
	r.must(os.MkdirAll(r.dir, 0o755))
	for name, content := range files {
		r.write(name, content)
	}
	r.start(watch.Options{}, opts)
	return r
}

// forms runs a test with notifications and with polling. What changes is looked
// at when a barrier asks, and not before.
func forms(t *testing.T, files map[string]string, test func(*rig)) {
	for name, poll := range map[string]bool{"notify": false, "poll": true} {
		t.Run(name, func(t *testing.T) {
			r := &rig{t: t, dir: filepath.Join(real(t, t.TempDir()), "tree")}
			for name, content := range files {
				r.write(name, content)
			}
			r.start(watch.Options{Poll: poll, Settle: time.Minute, MaxWait: time.Minute, PollInterval: time.Minute}, view.Options{})
			test(r)
		})
	}
}

func real(t testing.TB, dir string) string {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func (r *rig) start(wopts watch.Options, opts view.Options) {
	r.t.Helper()
	wopts.CookieDir = filepath.Join(r.t.TempDir(), "run")
	w, err := watch.Start(context.Background(), wopts)
	r.must(err)
	opts.Root, opts.Watcher = r.dir, w
	v, err := view.Open(context.Background(), opts)
	r.must(err)
	r.v, r.w = v, w
	r.t.Cleanup(func() { r.must(v.Close()); r.must(w.Close()) })
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// until waits for a condition that other goroutines or the clock bring about.
func until(t testing.TB, what string, cond func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(15 * time.Second); !cond(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("timed out: %s", what)
		}
	}
}

func (r *rig) path(name string) string { return filepath.Join(r.dir, name) }

// write puts a file in place in one step, so that nobody sees it half done.
func (r *rig) write(name, content string) {
	r.t.Helper()
	r.must(os.MkdirAll(filepath.Dir(r.path(name)), 0o755))
	temp := r.dir + ".new"
	r.must(os.MkdirAll(filepath.Dir(temp), 0o755))
	r.must(os.WriteFile(temp, []byte(content), 0o644))
	r.must(os.Rename(temp, r.path(name)))
}

// overwrite keeps the file's inode.
func (r *rig) overwrite(name, content string) {
	r.t.Helper()
	r.must(os.WriteFile(r.path(name), []byte(content), 0o644))
}

func (r *rig) barrier() uint64 {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	seq, err := r.v.Barrier(ctx)
	if err != nil {
		r.t.Fatalf("Barrier: %v; %+v", err, r.v.Watching())
	}
	return seq
}

func (r *rig) read(name string) string {
	r.t.Helper()
	d, err := r.v.Read(context.Background(), r.path(name))
	if err != nil {
		r.t.Fatalf("Read %s: %v", name, err)
	}
	if d.Hash != text.Sum(d.Content) {
		r.t.Fatalf("Read %s: the hash is not that of the content", name)
	}
	return string(d.Content)
}

// entries returns the log after a cursor without numbers and hashes.
func (r *rig) entries(after uint64) []string {
	r.t.Helper()
	list, _, reset := r.v.Since(after)
	if reset {
		r.t.Fatal("Since: reset")
	}
	var out []string
	for _, e := range list {
		s := e.Kind.String() + " " + r.rel(e.Path)
		if e.Owner != "" {
			s += " by " + e.Owner
		}
		out = append(out, s)
	}
	return out
}

func (r *rig) rel(path string) string {
	rel, err := filepath.Rel(r.dir, path)
	r.must(err)
	return rel
}

func (r *rig) rels(paths []string, err error) []string {
	r.t.Helper()
	r.must(err)
	var out []string
	for _, p := range paths {
		out = append(out, r.rel(p))
	}
	return out
}

func (r *rig) want(what string, want, got any) {
	r.t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		r.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// walk is the oracle: the regular files below the root that are no litter.
func (r *rig) walk() map[string]string {
	out := map[string]string{}
	_ = filepath.WalkDir(r.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			data, _ := os.ReadFile(path)
			out[path] = string(data)
		}
		return nil
	})
	return out
}

// mirror follows the log alone, as a server does: it reads a file only when an
// entry names it.
type mirror struct {
	r      *rig
	cursor uint64
	files  map[string]string
}

func (r *rig) mirror() *mirror {
	m := &mirror{r: r, files: r.walk()}
	m.cursor = r.barrier()
	return m
}

// agree catches up and compares with the oracle.
func (m *mirror) agree() {
	r := m.r
	r.t.Helper()
	seq := r.barrier()
	entries, now, reset := r.v.Since(m.cursor)
	if reset || now < seq {
		r.t.Fatalf("Since(%d) at %d: reset %v, now %d", m.cursor, seq, reset, now)
	}
	m.cursor = now
	for _, e := range entries {
		if superseded(entries, e) {
			continue
		}
		if e.Kind == view.Deleted {
			delete(m.files, e.Path)
			continue
		}
		data, err := os.ReadFile(e.Path)
		r.must(err)
		m.files[e.Path] = string(data)
		if !bytes.Equal(e.Hash[:], hashOf(data)) {
			r.t.Fatalf("%s of %s: the hash is not that of the file", e.Kind, e.Path)
		}
	}
	if diff := cmp.Diff(r.walk(), m.files); diff != "" {
		for _, e := range entries {
			r.t.Logf("%d %s %s %s", e.Seq, e.Kind, r.rel(e.Path), e.Hash.String()[:6])
		}
		r.t.Fatalf("the log told another tree (-disk +told):\n%s", diff)
	}
}

func hashOf(data []byte) []byte {
	h := text.Sum(data)
	return h[:]
}

func superseded(entries []view.Entry, e view.Entry) bool {
	for _, o := range entries {
		if o.Path == e.Path && o.Seq > e.Seq {
			return true
		}
	}
	return false
}
