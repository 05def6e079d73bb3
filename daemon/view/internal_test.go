package view

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func FuzzPatterns(f *testing.F) {
	f.Add("*.log\n!keep\n/a/**/b/\n", "a/x/b", true)
	f.Add("[z\n\\\n[[:alpha:]\n**\n", "z", false)
	f.Fuzz(func(t *testing.T, content, name string, dir bool) {
		list := parsePatterns([]byte(content))
		ignored, found := list.match(name, dir)
		if ignored && !found {
			t.Fatal("ignored by no pattern")
		}
		// One more line that names every entry decides.
		if ignored, _ := append(list, parsePatterns([]byte("!*"))...).match(name, dir); ignored {
			t.Fatalf("%q: %q is ignored in spite of the last line", content, name)
		}
	})
}

func TestCacheKeepsItsBound(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	c := cache{limit: 1000}
	files := make([]*file, 50)
	for i := range files {
		files[i] = &file{path: fmt.Sprint(i)}
	}
	for range 10_000 {
		f := files[r.IntN(len(files))]
		switch {
		case f.content == nil:
			c.add(f, make([]byte, r.IntN(300)))
		case r.IntN(3) == 0:
			c.remove(f)
		default:
			c.use(f)
		}
		var size int64
		n := 0
		for at := c.oldest; at != nil; at = at.newer {
			if at.content == nil || at.newer == nil && c.newest != at || at.newer != nil && at.newer.older != at {
				t.Fatalf("the list is broken at %s", at.path)
			}
			size += int64(len(at.content))
			n++
		}
		held := 0
		for _, f := range files {
			if f.content != nil {
				held++
			}
		}
		if size != c.size || size > c.limit || n != held {
			t.Fatalf("%d bytes in %d files, counted %d, held %d, limit %d", size, n, c.size, held, c.limit)
		}
	}
}
