package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/auralsp/aura/graph/store"
)

// saved returns the bytes of a store that holds what is returned too. Some of
// it was deleted, so that there are free pages.
func saved(t *testing.T, n int) ([]byte, map[string]store.Entry) {
	t.Helper()
	dir := t.TempDir()
	s, _ := open(t, options(dir))
	want := fill(t, s, n)
	for i := range n / 10 {
		path := fmt.Sprintf("folder%d/file%d", i%7, i)
		s.Delete(path)
		delete(want, path)
	}
	flush(t, s)
	s.Close()
	b, err := os.ReadFile(only(t, dir, "*.db"))
	if err != nil {
		t.Fatal(err)
	}
	return b, want
}

// fileName is that of the store of root.
const fileName = "c52ddf65534b7b4603508435.db"

// memory returns a new folder, where the system allows it on a file system for
// which a sync is nothing.
func memory(t *testing.T) string {
	t.Helper()
	if dir, err := os.MkdirTemp("/dev/shm", "store"); err == nil {
		return dir
	}
	return t.TempDir()
}

// spoil opens a store whose file holds b, and checks that nothing wrong comes
// out of it and that it works from there on. It reports whether all was there.
func spoil(t *testing.T, what string, b []byte, want map[string]store.Entry) bool {
	t.Helper()
	dir := memory(t)
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, fileName)
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	s := store.Open(options(dir))
	defer s.Close()
	entries, err := s.Entries(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for path, e := range entries {
		w := want[path]
		if e.Stamp == "" {
			w.Stamp = "" // proves nothing
		}
		if e != w {
			t.Fatalf("%s: %s came back changed", what, path)
		}
	}
	whole := len(entries) == len(want)
	if st := s.Status(); !whole && len(st.Notes) == 0 {
		t.Fatalf("%s: %d of %d entries, and the user is not told", what, len(entries), len(want))
	}
	if rand.IntN(10) > 0 {
		return whole // writing costs more than all else
	}
	fresh := entry("fresh", 3)
	s.Put("fresh", fresh)
	flush(t, s)
	if st := s.Status(); !st.Saving {
		if slices.ContainsFunc(st.Notes, func(n string) bool { return strings.Contains(n, "in memory only until") }) {
			return whole // found while writing
		}
		t.Fatalf("%s: nothing is saved any more: %q", what, st.Notes)
	}
	s.Close()
	s = store.Open(options(dir))
	defer s.Close()
	if entries, err = s.Entries(t.Context()); err != nil || entries["fresh"] != fresh {
		t.Fatalf("%s: what was saved afterwards is lost: %v %q", what, err, s.Status().Notes)
	}
	return whole
}

// C01: flipped bits never give a panic or a wrong answer.
func TestC01FlippedBits(t *testing.T) {
	b, want := saved(t, 400)
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 1))
	whole := 0
	for range 1000 {
		at, bit := r.IntN(len(b)), r.IntN(8)
		bad := slices.Clone(b)
		bad[at] ^= 1 << bit
		if spoil(t, fmt.Sprintf("seed %d, bit %d of byte %d", seed, bit, at), bad, want) {
			whole++
		}
	}
	t.Logf("of 1000 flips %d hit nothing that is used", whole)
}

// C01: neither do files that were cut off, zeroed or are something else.
func TestC01OtherDamage(t *testing.T) {
	b, want := saved(t, 400)
	r := rand.New(rand.NewPCG(2, 2))
	for range 60 {
		n := r.IntN(len(b))
		spoil(t, fmt.Sprintf("cut at %d", n), b[:n], want)
		bad := slices.Clone(b)
		clear(bad[n:min(n+1+r.IntN(20000), len(bad))])
		spoil(t, fmt.Sprintf("zeroed at %d", n), bad, want)
		page := os.Getpagesize()
		from, to := r.IntN(len(b)/page)*page, r.IntN(len(b)/page)*page
		bad = slices.Clone(b)
		copy(bad[to:to+page], b[from:from+page])
		spoil(t, fmt.Sprintf("page at %d over that at %d", from, to), bad, want)
	}
	garbage := make([]byte, 100_000)
	for i := range garbage {
		garbage[i] = byte(r.Uint32())
	}
	for what, b := range map[string][]byte{"garbage": garbage, "text": []byte("hello"), "zeros": make([]byte, 1<<16), "empty": {}} {
		if what == "empty" {
			want = nil
		}
		spoil(t, what, b, want)
	}
}

// C03: while another process holds the file, nothing is saved and nothing is harmed.
func TestC03HeldByAnother(t *testing.T) {
	dir := t.TempDir()
	first, _ := open(t, options(dir))
	want := fill(t, first, 20)
	second, entries := open(t, options(dir))
	if st := second.Status(); st.Saving || len(st.Notes) != 1 || !strings.Contains(st.Notes[0], "another process") || len(entries) != 0 {
		t.Errorf("%+v, %d entries", st, len(entries))
	}
	second.Put("x", entry("x", 1))
	flush(t, second)
	second.Close()
	first.Close()
	_, entries = open(t, options(dir))
	if len(entries) != len(want) {
		t.Errorf("%d entries, want %d", len(entries), len(want))
	}
}

// C04: a file that shrinks under the map is an error, no crash.
func TestC04ShrunkWhileOpen(t *testing.T) {
	dir := t.TempDir()
	s, _ := open(t, options(dir))
	fill(t, s, 400)
	if err := os.Truncate(only(t, dir, "*.db"), int64(2*os.Getpagesize())); err != nil {
		t.Fatal(err)
	}
	for i := range 400 {
		path := fmt.Sprintf("folder%d/file%d", i%7, i)
		s.Put(path, entry(path, i+1))
	}
	flush(t, s)
	if st := s.Status(); len(st.Notes) > 0 && st.Saving {
		t.Errorf("%+v", st)
	}
	s.Close()
	s, entries := open(t, options(dir))
	for path, e := range entries {
		var i int
		if _, err := fmt.Sscanf(filepath.Base(path), "file%d", &i); err != nil || e != entry(path, i+1) {
			t.Errorf("%s came back changed", path)
		}
	}
	fill(t, s, 10)
	if !s.Status().Saving {
		t.Errorf("%+v", s.Status())
	}
}

// writeForEver is the life of the process that TestC05 kills.
func writeForEver(dir string) {
	s := store.Open(options(dir))
	if _, err := s.Entries(context.Background()); err != nil {
		panic(err)
	}
	r := rand.New(rand.NewPCG(uint64(os.Getpid()), 1))
	fmt.Println("writing")
	for n := 0; ; n++ {
		for range 30 {
			path := fmt.Sprint("file", r.IntN(200))
			if r.IntN(10) == 0 {
				s.Delete(path)
			} else {
				s.Put(path, entry(path, n))
			}
		}
		if err := s.Flush(context.Background()); err != nil {
			panic(err)
		}
	}
}

// C05: a process that is killed while it writes leaves a file that is whole.
func TestC05KilledWhileWriting(t *testing.T) {
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(5, 5))
	saw := 0
	for round := range 60 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "STORE_TEST_WRITER="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 8)); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Duration(r.IntN(20_000)) * time.Microsecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		var exit *exec.ExitError
		if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		s := store.Open(options(dir))
		entries, err := s.Entries(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if st := s.Status(); len(st.Notes) > 0 || !st.Saving {
			t.Fatalf("round %d: %+v", round, st)
		}
		for path, e := range entries {
			var n int
			if _, err := fmt.Sscanf(e.Stamp, "stamp %d", &n); err != nil || e != entry(path, n) {
				t.Fatalf("round %d: %s came back changed: %v", round, path, err)
			}
		}
		saw += len(entries)
		s.Close()
	}
	if saw == 0 {
		t.Error("nothing was ever written before the kill")
	}
}

// C08: a folder that others can change, or that is not one, is refused.
func TestC08FoldersOfOthers(t *testing.T) {
	base := t.TempDir()
	open2 := filepath.Join(base, "open")
	if err := os.Mkdir(open2, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open2, 0o777); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(base, "link")
	if err := os.Symlink(t.TempDir(), link); err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(base, "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{open2, link, plain} {
		s, _ := open(t, options(dir))
		if st := s.Status(); st.Saving || len(st.Notes) != 1 {
			t.Errorf("%s: %+v", dir, st)
		}
		s.Put("x", entry("x", 1))
		flush(t, s)
	}
	// A link in place of the file is not followed.
	dir, victim := t.TempDir(), filepath.Join(base, "victim")
	if err := os.WriteFile(victim, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := store.Open(options(dir))
	name := s.Status().File
	s.Close()
	if err := errors.Join(os.Remove(name), os.Symlink(victim, name)); err != nil {
		t.Fatal(err)
	}
	s, _ = open(t, options(dir))
	s.Put("x", entry("x", 1))
	flush(t, s)
	if b, err := os.ReadFile(victim); err != nil || string(b) != "mine" {
		t.Errorf("a file of the user was written: %q, %v", b, err)
	}
}

// alter changes the head of a store's file.
func alter(t *testing.T, name, key string, value []byte) {
	t.Helper()
	db, err := bolt.Open(name, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error { return tx.Bucket([]byte("meta")).Put([]byte(key), value) })
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// C09: a file of a newer version or of another workspace is moved aside.
func TestC09OtherVersion(t *testing.T) {
	for key, c := range map[string]struct {
		value []byte
		note  string
	}{"schema": {[]byte{99}, "newer"}, "root": {[]byte("/elsewhere"), "another workspace"}} {
		dir := t.TempDir()
		s, _ := open(t, options(dir))
		fill(t, s, 5)
		s.Close()
		alter(t, only(t, dir, "*.db"), key, c.value)
		s, entries := open(t, options(dir))
		st := s.Status()
		if len(entries) != 0 || !st.Saving || len(st.Notes) != 1 || !strings.Contains(st.Notes[0], c.note) {
			t.Errorf("%s: %d entries, %+v", key, len(entries), st)
		}
		only(t, dir, "*.damaged")
	}
}

// C09: without space the index is kept in memory, and what was saved stays.
func TestC09DiskFull(t *testing.T) {
	dir := t.TempDir()
	s, _ := open(t, options(dir))
	want := fill(t, s, 20)
	s.Close()
	o := options(dir)
	o.MaxBytes = 1 << 20
	s, _ = open(t, o)
	for i := range 3000 {
		path := fmt.Sprint("more", i)
		s.Put(path, entry(path, i))
	}
	flush(t, s)
	full(t, s)
	s.Put("later", entry("later", 1))
	flush(t, s)
	s.Close()
	_, entries := open(t, options(dir))
	for path, e := range want {
		if entries[path] != e {
			t.Errorf("%s was lost", path)
		}
	}
}

func full(t *testing.T, s *store.Store) {
	t.Helper()
	if st := s.Status(); st.Saving || st.Pending != 0 || len(st.Notes) != 1 || !strings.Contains(st.Notes[0], "no space") || !strings.Contains(st.Notes[0], "index rebuild") {
		t.Errorf("%+v", st)
	}
}

// C09 on a file system that is really full, where the system lets us mount one.
func TestC09DiskReallyFull(t *testing.T) {
	dir := t.TempDir()
	if runtime.GOOS == "linux" && os.Geteuid() == 0 {
		if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", dir).CombinedOutput(); err == nil {
			t.Cleanup(func() {
				if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
					t.Errorf("%v: %s", err, out)
				}
			})
		} else {
			t.Logf("no small file system: %s", out)
		}
	}
	o := options(dir)
	o.MaxBytes = 8 << 20 // reached at the latest
	s, _ := open(t, o)
	for i := range 5000 {
		path := fmt.Sprint("file", i)
		s.Put(path, entry(path, i))
	}
	flush(t, s)
	full(t, s)
	s.Close()
}
