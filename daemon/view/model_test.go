package view_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/auralsp/aura/daemon/view"
	"github.com/auralsp/aura/graph/watch"
	"github.com/auralsp/aura/lspclient/change"
)

func TestF03_LogEqualsAWalk(t *testing.T) {
	for name, poll := range map[string]bool{"notify": false, "poll": true} {
		t.Run(name, func(t *testing.T) {
			seed := uint64(time.Now().UnixNano())
			t.Logf("seed %d", seed)
			r := &rig{t: t, dir: filepath.Join(real(t, t.TempDir()), "root")}
			r.write("a/b/c", "first")
			r.start(watch.Options{Poll: poll}, view.Options{})
			randomOps(r, rand.New(rand.NewPCG(seed, 0)), 2000)
		})
	}
}

func randomOps(r *rig, rnd *rand.Rand, n int) {
	m, away := r.mirror(), filepath.Join(r.t.TempDir(), "away")
	name := func() string {
		path := r.dir
		for range 1 + rnd.IntN(4) {
			path = filepath.Join(path, string(rune('a'+rnd.IntN(4))))
		}
		return path
	}
	for i := range n {
		a, b := name(), name()
		switch rnd.IntN(11) {
		case 0, 1, 2:
			_ = os.MkdirAll(filepath.Dir(a), 0o755)
			_ = os.WriteFile(a, []byte(fmt.Sprint(i%7)), 0o644) // often the same text again
		case 3, 4:
			_ = os.MkdirAll(a, 0o755)
			_ = os.WriteFile(filepath.Join(a, "f"), []byte(fmt.Sprint(i)), 0o644)
		case 5:
			_ = os.RemoveAll(a)
		case 6:
			_ = os.Rename(a, b)
		case 7:
			_ = os.RemoveAll(away)
			_ = os.Rename(a, away)
		case 8:
			_ = os.Rename(away, a)
		case 9:
			want, errWant := os.ReadFile(a)
			d, err := r.v.Read(context.Background(), a)
			if (err == nil) != (errWant == nil) || string(d.Content) != string(want) {
				r.t.Fatalf("Read %s: %q, %v; want %q, %v", a, d.Content, err, want, errWant)
			}
		case 10: // our own commit
			if err := os.WriteFile(a, []byte(fmt.Sprint("own", i)), 0o644); err == nil {
				r.v.Wrote(context.Background(), []change.File{{Kind: change.Edit, Path: a, After: []byte(fmt.Sprint("own", i))}})
			}
		}
		if rnd.IntN(15) == 0 {
			m.agree()
		}
	}
	m.agree()
}
