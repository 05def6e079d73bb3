package edit

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/lspclient/change"
)

// hookFS is the real file system with a call before each change of names.
type hookFS struct {
	FS
	hook func()
}

func (f *hookFS) OpenRoot(p string) (Dir, error) {
	d, err := f.FS.OpenRoot(p)
	return &hookDir{d, f}, err
}

type hookDir struct {
	Dir
	fs *hookFS
}

func (d *hookDir) Open(rel string) (Dir, error) {
	child, err := d.Dir.Open(rel)
	if err != nil {
		return nil, err
	}
	return &hookDir{child, d.fs}, nil
}

func (d *hookDir) Create(name string, mode uint32) (File, error) {
	d.fs.hook()
	return d.Dir.Create(name, mode)
}

func (d *hookDir) Mkdir(name string, mode uint32) error {
	d.fs.hook()
	return d.Dir.Mkdir(name, mode)
}

func (d *hookDir) Remove(name string) error {
	d.fs.hook()
	return d.Dir.Remove(name)
}

func (d *hookDir) RemoveDir(name string) error {
	d.fs.hook()
	return d.Dir.RemoveDir(name)
}

func (d *hookDir) Rename(name string, to Dir, toName string, how RenameMode) error {
	d.fs.hook()
	return d.Dir.Rename(name, to.(*hookDir).Dir, toName, how)
}

func (d *hookDir) Link(name string, to Dir, toName string) error {
	d.fs.hook()
	return d.Dir.Link(name, to.(*hookDir).Dir, toName)
}

func (d *hookDir) Touch(name string, t time.Time) error {
	d.fs.hook()
	return d.Dir.Touch(name, t)
}

func (d *hookDir) Sync() error {
	d.fs.hook()
	return d.Dir.Sync()
}

func exchangeNames(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}

// swapBed has a folder d with files and, at link, a link to a folder outside
// that has files of the same names.
func swapBed(t *testing.T) (b *bed, victim string) {
	b = newBed(t, map[string]string{"d/a.txt": "0\n", "d/b.txt": "0\n", "d/c.txt": "0\n"})
	victim = filepath.Join(filepath.Dir(b.root), "outside")
	must(t, os.Mkdir(victim, 0o755))
	for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
		must(t, os.WriteFile(filepath.Join(victim, name), []byte("0\n"), 0o644))
	}
	must(t, os.Symlink(victim, b.path("link")))
	return b, victim
}

// escaped says what of the folder outside is not as it was.
func escaped(t *testing.T, victim string) string {
	t.Helper()
	names, err := os.ReadDir(victim)
	must(t, err)
	for _, name := range names {
		got, err := os.ReadFile(filepath.Join(victim, name.Name()))
		if err != nil || string(got) != "0\n" {
			return fmt.Sprintf("%s is %q", name.Name(), got)
		}
	}
	if len(names) != 3 {
		return fmt.Sprintf("%d files instead of 3", len(names))
	}
	return ""
}

func swapFiles(b *bed) []change.File {
	return []change.File{
		{Kind: change.Edit, Path: b.path("d/a.txt"), Before: []byte("0\n"), After: []byte("edited\n")},
		{Kind: change.Delete, Path: b.path("d/b.txt"), Before: []byte("0\n")},
		{Kind: change.Rename, Path: b.path("d/c.txt"), NewPath: b.path("d/sub/c.txt"), Before: []byte("0\n"), After: []byte("edited\n")},
	}
}

// The parent folder of the targets is swapped with a link that leads outside
// before each single change of names, for good or until the next one.
func TestM10_ParentSwappedAtEveryMoment(t *testing.T) {
	tried := 0
	for _, back := range []bool{false, true} {
		for k := 0; ; k++ {
			b, victim := swapBed(t)
			n, swapped := 0, false
			e, err := Open(Options{State: b.state, FS: &hookFS{Disk(), func() {
				if n == k || n == k+1 && back {
					must(t, exchangeNames(b.path("d"), b.path("link")))
					swapped = !swapped
				}
				n++
			}}})
			must(t, err)
			token, err := transact(e, b.root, swapFiles(b))
			if err == nil {
				e.Undo(context.Background(), b.root, token, UndoOptions{})
			}
			tried++
			if what := escaped(t, victim); what != "" {
				t.Errorf("swapped before change %d, back %v: escape: outside %s", k, back, what)
			}
			must(t, e.Close(context.Background()))
			if n <= k {
				break
			}
		}
	}
	t.Logf("%d moments, 0 escapes allowed", tried)
	if tried < 40 {
		t.Errorf("only %d moments", tried)
	}
}

// The same by chance, against a thread that swaps all the time.
func TestM10_ParentSwappedInARace(t *testing.T) {
	b, victim := swapBed(t)
	var stop atomic.Bool
	swaps := make(chan int)
	go func() {
		n := 0
		for ; !stop.Load(); n++ {
			for range 2 { // there and back
				if err := exchangeNames(b.path("d"), b.path("link")); err != nil {
					t.Error(err)
				}
			}
			for end := time.Now().Add(time.Duration(rand.IntN(2000)) * time.Microsecond); time.Now().Before(end); {
				runtime.Gosched()
			}
		}
		swaps <- 2 * n
	}()
	inside, err := os.OpenRoot(b.root) // follows no link out either
	must(t, err)
	defer inside.Close()
	tries, begun, done := 0, 0, 0
	for deadline := time.Now().Add(1500 * time.Millisecond); time.Now().Before(deadline); tries++ {
		tx, err := b.begin(swapFiles(b)...)
		if err != nil {
			inside.RemoveAll("d/sub")
			for _, name := range []string{"d/a.txt", "d/b.txt", "d/c.txt"} {
				inside.WriteFile(name, []byte("0\n"), 0o644)
			}
			continue
		}
		begun++
		if tx.Apply(context.Background()) != nil {
			continue
		}
		token, err := tx.Commit(context.Background(), CommitInfo{})
		if err != nil {
			continue
		}
		done++
		b.undo(token)
	}
	stop.Store(true)
	t.Logf("%d transactions tried, %d begun, %d committed, under %d swaps", tries, begun, done, <-swaps)
	if what := escaped(t, victim); what != "" {
		t.Errorf("escape: outside %s", what)
	}
}

// Another program saves the file in the gap between the last look and the
// rename, in the two ways that programs save. Its last save must be what the
// file holds, or the edit on top of it, and never be gone.
func TestE13_SaveInTheGap(t *testing.T) {
	for _, way := range []string{"rename", "in place"} {
		t.Run(way, func(t *testing.T) {
			b := newBed(t, map[string]string{"a.txt": "0\n"})
			var stop atomic.Bool
			saved := make(chan int)
			go func() {
				n := 0
				for !stop.Load() {
					n++
					content := fmt.Appendf(nil, "theirs %d\n", n)
					if way == "rename" {
						tmp := b.path("a.tmp")
						must(t, os.WriteFile(tmp, content, 0o644))
						must(t, os.Rename(tmp, b.path("a.txt")))
					} else {
						must(t, os.WriteFile(b.path("a.txt"), content, 0o644))
					}
					for end := time.Now().Add(time.Duration(rand.IntN(1500)) * time.Microsecond); time.Now().Before(end); {
						runtime.Gosched()
					}
				}
				saved <- n
			}()
			tries, done, late := 0, 0, 0
			last := ""
			for deadline := time.Now().Add(1500 * time.Millisecond); time.Now().Before(deadline); tries++ {
				now, err := os.ReadFile(b.path("a.txt"))
				must(t, err)
				last = string(now) + "edited\n"
				tx, err := b.begin(change.File{Kind: change.Edit, Path: b.path("a.txt"), Before: now, After: []byte(last)})
				if err != nil {
					continue
				}
				if err := tx.Apply(context.Background()); err != nil {
					late++
					continue
				}
				if _, err := tx.Commit(context.Background(), CommitInfo{}); err != nil {
					late++
					continue
				}
				done++
			}
			stop.Store(true)
			n := <-saved
			t.Logf("%d tries, %d committed, %d taken back for a late save, %d saves", tries, done, late, n)
			got := b.read("a.txt")
			theirs := fmt.Sprintf("theirs %d\n", n)
			if !strings.HasPrefix(got, theirs) && !b.holds(theirs) {
				t.Errorf("their last save is lost: the file holds %q", got)
			}
			if rest := strings.ReplaceAll(strings.TrimPrefix(got, theirs), "edited\n", ""); rest != "" && strings.HasPrefix(got, theirs) {
				t.Errorf("the file is mixed: %q", got)
			}
		})
	}
}

// holds reports whether a slot of the staging folders has the content.
func (b *bed) holds(content string) bool {
	slots, err := filepath.Glob(b.path(stagingGit + "/*/*"))
	must(b.t, err)
	for _, slot := range slots {
		if got, _ := os.ReadFile(slot); string(got) == content {
			return true
		}
	}
	return false
}

// A program keeps the old file open across the exchange and writes into it
// afterwards: noticed at the commit, its bytes stay.
func TestE34_InPlaceWriterAcrossTheExchange(t *testing.T) {
	b := newBed(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n"})
	f, err := os.OpenFile(b.path("a.txt"), os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	defer f.Close()
	tx, err := b.begin(b.edit("a.txt", "A\n"), b.edit("b.txt", "B\n"))
	must(t, err)
	must(t, tx.Apply(context.Background()))
	_, err = f.WriteString("written late\n")
	must(t, err)
	_, err = tx.Commit(context.Background(), CommitInfo{})
	b.refused(err, api.StaleContent, map[string]string{
		".git/": "folder", "a.txt": "0644 a\nwritten late\n", "b.txt": "0644 b\n",
	}, "a.txt")
	// And the other way round: the new file is open when it is taken back.
	tx, err = b.begin(b.edit("b.txt", "B\n"))
	must(t, err)
	must(t, tx.Apply(context.Background()))
	g, err := os.OpenFile(b.path("b.txt"), os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	defer g.Close()
	_, err = g.WriteString("written on top\n")
	must(t, err)
	err = tx.Abort(context.Background())
	if api.CodeOf(err) != api.StaleContent || !strings.Contains(err.Error(), "b.txt") {
		t.Errorf("abort under somebody's save: %v", err)
	}
	if got := b.read("b.txt"); got != "B\nwritten on top\n" {
		t.Errorf("their text is %q", got)
	}
	report, err := b.e.Doctor(context.Background(), b.root)
	must(t, err)
	if len(report.Conflicts) != 1 || report.Conflicts[0].Path != b.path("b.txt") {
		t.Fatalf("doctor reports %+v", report.Conflicts)
	}
	if kept, err := os.ReadFile(report.Conflicts[0].Kept); err != nil || string(kept) != "b\n" {
		t.Errorf("kept is %q, %v", kept, err)
	}
	// The report is still there after a restart.
	b.close()
	b.open()
	if again, err := b.e.Doctor(context.Background(), b.root); err != nil || len(again.Conflicts) != 1 || again.Conflicts[0].Kept != report.Conflicts[0].Kept {
		t.Errorf("doctor after a restart: %+v, %v", again.Conflicts, err)
	}
}
