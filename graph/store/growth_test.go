package store_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// C02: the power fails while the file is made for the first time: whatever part
// of it came to the disk, the next start has a file that works.
func TestC02PowerLossAtFirstCreation(t *testing.T) {
	made := t.TempDir()
	s, _ := open(t, options(made))
	flush(t, s)
	s.Close()
	whole, err := os.ReadFile(only(t, made, "*.db"))
	if err != nil {
		t.Fatal(err)
	}
	page := os.Getpagesize()
	for _, n := range []int{0, 1, 15, 64, page - 1, page, page + 80, 2 * page, 3*page - 1, 3 * page, len(whole) - 1} {
		for _, zeros := range []int{0, page} { // the length may be there before the bytes are
			t.Run(fmt.Sprint(n, "+", zeros), func(t *testing.T) {
				dir := t.TempDir()
				s, _ := open(t, options(dir))
				s.Close()
				part := append(append([]byte{}, whole[:min(n, len(whole))]...), make([]byte, zeros)...)
				if err := os.WriteFile(only(t, dir, "*.db"), part, 0o600); err != nil {
					t.Fatal(err)
				}
				s, entries := open(t, options(dir))
				if len(entries) > 0 || !s.Status().Saving {
					t.Errorf("%d entries, %+v", len(entries), s.Status())
				}
				want := fill(t, s, 20)
				s.Close()
				_, again := open(t, options(dir))
				if diff := cmp.Diff(want, again); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// C07: nobody reads for long, so that pages become free again: a file that is
// written over and over does not grow.
func TestC07TheFileDoesNotGrowForEver(t *testing.T) {
	s, _ := open(t, options(t.TempDir()))
	size := func() int64 {
		info, err := os.Stat(s.Status().File)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	const paths = 200
	write := func(round int) {
		for i := range paths {
			path := fmt.Sprintf("folder%d/file%d", i%7, i)
			e := entry(path, round*31+i)
			s.Put(path, e)
			if i%9 == round%9 {
				s.Delete(path)
			}
		}
		flush(t, s)
	}
	for round := range 10 {
		write(round)
	}
	before := size()
	for round := range 150 {
		write(10 + round)
	}
	if after := size(); after > 3*before {
		t.Errorf("the file grew from %d to %d bytes while it held as much as before", before, after)
	}
}
