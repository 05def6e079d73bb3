package store_test

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/auralsp/aura/graph/store"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("STORE_TEST_WRITER"); dir != "" {
		writeForEver(dir)
	}
	goleak.VerifyTestMain(m)
}

const root = "/workspace"

func options(dir string) store.Options {
	return store.Options{Dir: dir, Root: root, Delay: time.Millisecond, LockWait: 100 * time.Millisecond}
}

func open(t testing.TB, o store.Options) (*store.Store, map[string]store.Entry) {
	t.Helper()
	s := store.Open(o)
	t.Cleanup(s.Close)
	entries, err := s.Entries(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s, entries
}

// entry is that of a file in its nth version.
func entry(path string, n int) store.Entry {
	text := fmt.Sprintf("%s in version %d", path, n)
	return store.Entry{
		Hash: sha256.Sum256([]byte(text)), Stamp: fmt.Sprint("stamp ", n), Maker: "m",
		Record: text + strings.Repeat(".", len(path)*n%7000),
	}
}

func fill(t testing.TB, s *store.Store, n int) map[string]store.Entry {
	t.Helper()
	want := map[string]store.Entry{}
	for i := range n {
		path := fmt.Sprintf("folder%d/file%d", i%7, i)
		want[path] = entry(path, i)
		s.Put(path, want[path])
	}
	flush(t, s)
	return want
}

func flush(t testing.TB, s *store.Store) {
	t.Helper()
	if err := s.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func only(t testing.TB, dir, pattern string) string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(list) != 1 {
		t.Fatalf("%s: %v, %v", pattern, list, err)
	}
	return list[0]
}

func TestWhatIsPutIsThereAfterARestart(t *testing.T) {
	dir := t.TempDir()
	s, entries := open(t, options(dir))
	if len(entries) != 0 {
		t.Fatalf("a new store holds %d entries", len(entries))
	}
	want := fill(t, s, 300)
	s.Delete("folder0/file0")
	delete(want, "folder0/file0")
	changed := entry("folder1/file1", 99)
	s.Put("folder1/file1", changed)
	want["folder1/file1"] = changed
	restamped := want["folder2/file2"]
	restamped.Stamp = "another"
	s.Stamp("folder2/file2", restamped.Hash, restamped.Stamp)
	want["folder2/file2"] = restamped
	s.Close()

	info, err := os.Stat(only(t, dir, "*.db"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v, %v", info.Mode(), err)
	}
	s, entries = open(t, options(dir))
	if diff := cmp.Diff(want, entries); diff != "" {
		t.Error(diff)
	}
	if st := s.Status(); !st.Saving || len(st.Notes) > 0 || st.Loaded != len(want) || st.Bytes == 0 {
		t.Errorf("%+v", st)
	}
}

func TestAStampOfAnotherContentIsDropped(t *testing.T) {
	dir := t.TempDir()
	s, _ := open(t, options(dir))
	e := entry("a", 1)
	s.Put("a", e)
	flush(t, s)
	s.Stamp("a", entry("a", 2).Hash, "later")
	s.Close()
	_, entries := open(t, options(dir))
	e.Stamp = ""
	if diff := cmp.Diff(map[string]store.Entry{"a": e}, entries); diff != "" {
		t.Error(diff)
	}
}

func TestStampsAndPutsOfOneBatchAgree(t *testing.T) {
	o := options(t.TempDir())
	o.Delay = time.Hour // Close writes
	s, _ := open(t, o)
	a, b := entry("a", 1), entry("b", 1)
	s.Put("a", a)
	s.Stamp("a", a.Hash, "newer")
	a.Stamp = "newer"
	s.Put("b", b)
	s.Stamp("b", a.Hash, "not of b")
	s.Put("c", a)
	s.Delete("c")
	s.Stamp("c", a.Hash, "of nothing")
	s.Close()
	_, entries := open(t, o)
	if diff := cmp.Diff(map[string]store.Entry{"a": a, "b": b}, entries); diff != "" {
		t.Error(diff)
	}
}

func TestResetForgetsEverything(t *testing.T) {
	dir := t.TempDir()
	s, _ := open(t, options(dir))
	fill(t, s, 50)
	s.Reset()
	want := map[string]store.Entry{"x": entry("x", 1)}
	s.Put("x", want["x"])
	flush(t, s)
	s.Close()
	_, entries := open(t, options(dir))
	if diff := cmp.Diff(want, entries); diff != "" {
		t.Error(diff)
	}
}

func TestOtherWorkspacesHaveOtherFiles(t *testing.T) {
	dir := t.TempDir()
	s, _ := open(t, options(dir))
	fill(t, s, 3)
	o := options(dir)
	o.Root = "/other"
	if _, entries := open(t, o); len(entries) != 0 {
		t.Errorf("%d entries of another workspace", len(entries))
	}
}

func TestStoresThatNobodyUsesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	old, young, foreign := filepath.Join(dir, "old.db"), filepath.Join(dir, "young.db"), filepath.Join(dir, "old.txt")
	for _, name := range []string{old, young, foreign} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	past := time.Now().Add(-100 * 24 * time.Hour)
	for _, name := range []string{old, foreign} {
		if err := os.Chtimes(name, past, past); err != nil {
			t.Fatal(err)
		}
	}
	open(t, options(dir))
	_, errOld := os.Stat(old)
	_, errYoung := os.Stat(young)
	_, errForeign := os.Stat(foreign)
	if !os.IsNotExist(errOld) || errYoung != nil || errForeign != nil {
		t.Errorf("old: %v, young: %v, foreign: %v", errOld, errYoung, errForeign)
	}
}

func TestTheFileDoesNotGrowWithoutEnd(t *testing.T) {
	dir := t.TempDir()
	s, _ := open(t, options(dir))
	r := rand.New(rand.NewPCG(1, 1))
	var after20 int64
	for round := range 200 {
		for range 20 {
			i := r.IntN(100)
			path := fmt.Sprint("file", i)
			s.Put(path, entry(path, r.IntN(50)))
		}
		flush(t, s)
		if round == 20 {
			after20 = s.Status().Bytes
		}
	}
	if now := s.Status().Bytes; now > 3*after20 {
		t.Errorf("%d bytes after 20 rounds, %d after 200", after20, now)
	}
}
