package view_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/auralsp/aura/daemon/view"
	"github.com/auralsp/aura/graph/watch"
	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/text"
)

var ctx = context.Background()

func TestReadIsNeverOlderThanTheCall(t *testing.T) {
	r := open(t, map[string]string{"a": "0"}, view.Options{})
	for i := range 500 {
		now := fmt.Sprint(i % 10) // of one size, within one tick of the clock
		r.overwrite("a", now)
		if got := r.read("a"); got != now {
			t.Fatalf("read %q after %q was written", got, now)
		}
	}
}

func TestLogNamesEachChangeOnce(t *testing.T) {
	r := open(t, map[string]string{"a": "1", "sub/b": "1"}, view.Options{})
	at := r.barrier()
	r.want("at first", []string(nil), r.entries(at))
	if at != 0 {
		t.Errorf("opening made %d entries", at)
	}
	r.write("a", "2")
	r.read("a") // seen by the reading already, and told by the watcher later
	r.write("new", "1")
	r.must(os.Remove(r.path("sub/b")))
	r.barrier()
	r.must(os.Chtimes(r.path("a"), time.Unix(0, 0), time.Unix(0, 0))) // no change of text
	r.write("new", "1")
	r.barrier()
	got := r.entries(at)
	r.want("first", "changed a", got[0])
	r.want("number", 3, len(got))
	for _, want := range []string{"created new", "deleted sub/b"} {
		if !strings.Contains(strings.Join(got, ","), want) {
			t.Errorf("%q is not among %q", want, got)
		}
	}
}

func TestFirstReadingOfAnUnchangedFileIsNoNews(t *testing.T) {
	r := open(t, map[string]string{"a": "1", ".gitignore": "out\n", "out/gen": "1"}, view.Options{})
	outside := filepath.Join(t.TempDir(), "library")
	r.must(os.WriteFile(outside, []byte("x"), 0o644))
	for _, p := range []string{r.path("a"), r.path("out/gen"), outside} {
		d, err := r.v.Read(ctx, p)
		r.must(err)
		if d.Seq != 0 || d.Real != p {
			t.Errorf("%s: entry %d, real path %s", p, d.Seq, d.Real)
		}
	}
	r.barrier()
	r.want("entries", []string(nil), r.entries(0))
}

func TestF06_ForgedTimes(t *testing.T) {
	r := open(t, map[string]string{"a": "one"}, view.Options{})
	age(t, r.dir)
	r.read("a")
	at := r.barrier()
	info, err := os.Stat(r.path("a"))
	r.must(err)
	for i, when := range []time.Time{info.ModTime(), time.Unix(0, 0), time.Now().Add(48 * time.Hour)} {
		now := []string{"two", "six", "ten"}[i]
		r.overwrite("a", now)
		r.must(os.Chtimes(r.path("a"), when, when))
		if got := r.read("a"); got != now {
			t.Errorf("with mtime %v: read %q, want %q", when, got, now)
		}
		r.barrier()
		if got := r.entries(at); len(got) == 0 {
			t.Errorf("with mtime %v: no entry", when)
		}
		at = r.v.Seq()
	}
}

func TestF09_NothingButRegularFilesIsOpened(t *testing.T) {
	r := open(t, map[string]string{"a": "1"}, view.Options{})
	r.must(syscall.Mkfifo(r.path("pipe"), 0o644))
	r.must(os.Symlink("pipe", r.path("to-pipe")))
	r.must(os.Symlink("/dev/zero", r.path("to-zero")))
	r.must(os.Symlink("loop", r.path("loop")))
	r.barrier()
	for _, name := range []string{"pipe", "to-pipe", "to-zero", "."} {
		if _, err := r.v.Read(ctx, r.path(name)); !errors.Is(err, view.ErrNotRegular) {
			t.Errorf("Read %s: %v, want ErrNotRegular", name, err)
		}
	}
	if _, err := r.v.Read(ctx, r.path(".")); !errors.Is(err, view.ErrFolder) {
		t.Errorf("a folder: %v", err)
	}
	if _, err := r.v.Read(ctx, r.path("loop")); err == nil {
		t.Error("a link to itself was read")
	}
	// A pipe takes the place of a file that is known.
	r.read("a")
	r.must(os.Remove(r.path("a")))
	r.must(syscall.Mkfifo(r.path("a"), 0o644))
	if _, err := r.v.Read(ctx, r.path("a")); !errors.Is(err, view.ErrNotRegular) {
		t.Errorf("Read of a pipe in a file's place: %v", err)
	}
	r.barrier()
	r.want("entries", []string{"deleted a"}, r.entries(0))
}

func TestF09_LinksKeepTheirPathAndTellTheRealOne(t *testing.T) {
	r := &rig{t: t, dir: filepath.Join(real(t, t.TempDir()), "root")}
	away := real(t, t.TempDir())
	r.must(os.WriteFile(filepath.Join(away, "secret"), []byte("s"), 0o644))
	r.write("sub/a", "word")
	r.must(os.Symlink("sub/a", r.path("link")))
	r.must(os.Symlink(filepath.Join(away, "secret"), r.path("out")))
	r.must(os.Symlink(away, r.path("outdir")))
	r.start(watch.Options{}, view.Options{})
	s := r.v.Snapshot(r.barrier())
	r.want("files", []string{"sub/a"}, r.rels(s.Files(ctx)))
	r.want("grep", []string{"sub/a"}, r.rels(s.Grep(ctx, "word")))
	for name, want := range map[string]string{
		"link": r.path("sub/a"), "out": filepath.Join(away, "secret"),
		"outdir/secret": filepath.Join(away, "secret"), "sub/a": r.path("sub/a"),
	} {
		d, err := r.v.Read(ctx, r.path(name))
		r.must(err)
		r.want(name, []string{r.path(name), want}, []string{d.Path, d.Real})
	}
	at := r.v.Seq()
	r.write("sub/a", "new")
	r.barrier()
	r.want("entries", []string{"changed link", "changed sub/a"}, r.entries(at))
}

func TestF10_LargeFiles(t *testing.T) {
	r := open(t, map[string]string{"a": "1"}, view.Options{MaxFile: 1000})
	r.must(os.Truncate(r.path("a"), 2<<30))
	r.must(os.WriteFile(r.path("limit"), make([]byte, 1000), 0o644))
	var e *view.TooLargeError
	if _, err := r.v.Read(ctx, r.path("a")); !errors.As(err, &e) || e.Size != 2<<30 || !errors.Is(err, view.ErrTooLarge) {
		t.Errorf("Read of 2 GB: %v", err)
	}
	s := r.v.Snapshot(r.barrier())
	r.want("files", []string{"limit"}, r.rels(s.Files(ctx)))
	r.write("a", "small again")
	if got := r.read("a"); got != "small again" {
		t.Errorf("read %q", got)
	}
	r.barrier()
	r.want("entries", 3, len(r.entries(0)))
}

func TestF12_FileThatIsRewrittenWhileItIsRead(t *testing.T) {
	r := open(t, map[string]string{"a": strings.Repeat("a", 1<<20)}, view.Options{})
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				_ = os.WriteFile(r.path("a"), []byte(strings.Repeat(string(rune('a'+i%26)), 1<<(i%21))), 0o644)
			}
		}
	})
	for range 200 {
		r.read("a") // checks that the hash is that of the content
	}
	close(stop)
	wg.Wait()
	want, err := os.ReadFile(r.path("a"))
	r.must(err)
	if got := r.read("a"); got != string(want) {
		t.Error("the last text was not read")
	}
}

func TestF04_RootReplaced(t *testing.T) {
	r := open(t, map[string]string{"a": "mine", "b": "1"}, view.Options{})
	r.read("a")
	at := r.barrier()
	r.must(os.Rename(r.dir, r.dir+".away"))
	r.write("a", "foreign")
	if d, err := r.v.Read(ctx, r.path("a")); !errors.Is(err, view.ErrRootGone) {
		t.Errorf("Read below another folder: %q, %v", d.Content, err)
	}
	if _, err := r.v.Barrier(ctx); !errors.Is(err, view.ErrRootGone) {
		t.Errorf("Barrier: %v", err)
	}
	r.want("entries", []string(nil), r.entries(at))
	r.must(os.RemoveAll(r.dir))
	r.must(os.WriteFile(r.dir+".away/b", []byte("2"), 0o644))
	r.must(os.Rename(r.dir+".away", r.dir))
	r.barrier()
	if got := r.read("a"); got != "mine" {
		t.Errorf("read %q", got)
	}
	r.want("entries", []string{"changed b"}, r.entries(at))
}

func TestF15_IgnoreFiles(t *testing.T) {
	r := open(t, map[string]string{
		".gitignore": "*.log\nbuild/\n/top\n!keep.log\n", "a.log": "word", "keep.log": "word", "build/x": "word",
		"top": "word", "sub/top": "word", "sub/.gitignore": "deep\n", "sub/deep": "word", "sub/.ignore": "!deep\n",
		"node_modules/m/x": "word", "lib/vendor/modules.txt": "", "lib/vendor/x": "word", "shop/vendor/x": "word",
		"env/pyvenv.cfg": "", "env/x": "word", ".git/config": "word",
	}, view.Options{})
	list := func() []string { return r.rels(r.v.Snapshot(r.barrier()).Grep(ctx, "word")) }
	r.want("files with the word", []string{"keep.log", "shop/vendor/x", "sub/deep", "sub/top"}, list())
	for _, name := range []string{"a.log", "build/x", "node_modules/m/x", "lib/vendor/x"} {
		r.read(name)
	}
	at := r.v.Seq()
	// A compiler reads ignored and vendored files too, so their changes are told.
	r.write("a.log", "other")
	r.write("lib/vendor/x", "other")
	r.write("node_modules/m/x", "other")
	r.barrier()
	r.want("entries", []string{"changed a.log", "changed lib/vendor/x"}, r.entries(at))
	r.write(".gitignore", "sub\n")
	r.want("after an edit of .gitignore", []string{"build/x", "keep.log", "shop/vendor/x", "top"}, list())
	r.write("build/y", "word")
	r.want("in a folder that was ignored", []string{"build/x", "build/y", "keep.log", "shop/vendor/x", "top"}, list())
	r.must(os.Remove(r.path(".gitignore")))
	r.want("without .gitignore", []string{"build/x", "build/y", "keep.log", "shop/vendor/x", "sub/deep", "sub/top", "top"}, list())
}

func TestF15_IgnoreFilesAboveTheRoot(t *testing.T) {
	r := &rig{t: t, dir: filepath.Join(real(t, t.TempDir()), "repo")}
	r.write(".git/info/exclude", "excluded\n")
	r.write(".gitignore", "ignored\n/service/only\n")
	for _, name := range []string{"ignored", "excluded", "only", "kept"} {
		r.write("service/"+name, "x")
	}
	r.dir = r.path("service")
	r.start(watch.Options{}, view.Options{})
	r.want("files", []string{"kept"}, r.rels(r.v.Snapshot(r.barrier()).Files(ctx)))
}

func TestOwnWritesAreLoggedOnceAndEchoesDropped(t *testing.T) {
	r := open(t, map[string]string{"a": "1", "b": "1", "c": "1"}, view.Options{})
	r.write("a", "2")
	r.write("sub/new", "1")
	r.must(os.Remove(r.path("b")))
	r.must(os.Rename(r.path("c"), r.path("d")))
	seq := r.v.Wrote(ctx, []change.File{
		{Kind: change.Edit, Path: r.path("a"), After: []byte("2")},
		{Kind: change.Create, Path: r.path("sub/new"), After: []byte("1")},
		{Kind: change.Delete, Path: r.path("b")},
		{Kind: change.Rename, Path: r.path("c"), NewPath: r.path("d"), After: []byte("1")},
	})
	want := []string{"changed a", "created sub/new", "deleted b", "deleted c", "created d"}
	if seq != 5 {
		t.Errorf("last entry is %d, want 5", seq)
	}
	r.barrier()
	r.barrier()
	r.want("entries", want, r.entries(0))
	// Somebody else writes right after our commit: no echo.
	r.write("a", "3")
	r.barrier()
	r.want("entries", append(want, "changed a"), r.entries(0))
	if got := r.read("a"); got != "3" {
		t.Errorf("read %q", got)
	}
}

func TestCursorThatIsTooOldIsReset(t *testing.T) {
	r := open(t, map[string]string{"a": "0"}, view.Options{KeepEntries: 10})
	for i := range 40 {
		r.write("a", fmt.Sprint("x", i))
		r.read("a")
	}
	if _, now, reset := r.v.Since(0); !reset || now != 40 {
		t.Errorf("Since(0): now %d, reset %v", now, reset)
	}
	entries, now, reset := r.v.Since(35)
	if reset || now != 40 || len(entries) != 5 || entries[0].Seq != 36 || entries[4].Hash != text.Sum([]byte("x39")) {
		t.Errorf("Since(35): %+v, now %d, reset %v", entries, now, reset)
	}
	if _, _, reset := r.v.Since(41); !reset {
		t.Error("a cursor of the future is not reset")
	}
}

func TestWaitSeesChangesThatNobodyAsksFor(t *testing.T) {
	r := open(t, map[string]string{"a": "0"}, view.Options{})
	r.write("a", "1")
	within, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	seq, err := r.v.Wait(within, 0)
	if err != nil || seq != 1 {
		t.Errorf("Wait: %d, %v", seq, err)
	}
	over, cancel2 := context.WithCancel(ctx)
	cancel2()
	if _, err := r.v.Wait(over, seq); !errors.Is(err, context.Canceled) {
		t.Errorf("Wait with a cancelled context: %v", err)
	}
}

func TestReadErrors(t *testing.T) {
	r := open(t, map[string]string{"a": "0"}, view.Options{})
	for path, want := range map[string]error{
		"a": view.ErrPath, r.dir + "/./a": view.ErrPath, r.path("none"): fs.ErrNotExist, r.path("a/b"): syscall.ENOTDIR,
	} {
		if _, err := r.v.Read(ctx, path); !errors.Is(err, want) {
			t.Errorf("Read %s: %v, want %v", path, err, want)
		}
	}
	r.barrier()
	r.want("entries", []string(nil), r.entries(0))
}

func TestF16_TwoViewsOfOneTree(t *testing.T) {
	r := open(t, map[string]string{"inner/a": "1"}, view.Options{})
	inner, err := view.Open(ctx, view.Options{Root: r.path("inner"), Watcher: r.w})
	r.must(err)
	r.write("inner/a", "2")
	for _, v := range []*view.View{r.v, inner} {
		seq, err := v.Barrier(ctx)
		if err != nil || seq != 1 {
			t.Errorf("Barrier of %s: %d, %v", v.Root(), seq, err)
		}
	}
	r.must(inner.Close())
	if _, err := inner.Barrier(ctx); !errors.Is(err, view.ErrClosed) {
		t.Errorf("Barrier of a closed view: %v", err)
	}
	r.write("inner/a", "3")
	r.barrier()
	r.want("entries", 2, len(r.entries(0)))
}
