package edit

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/text"
)

// 16 clients run transactions over files that they share, some of which are
// aborted or undone; each file counts the transactions that were committed on it.
func TestE16_OverlappingTransactions(t *testing.T) {
	t.Parallel()
	const clients, files = 16, 12
	rounds := 650
	if raceEnabled {
		rounds = 130
	}
	d := newSimDisk()
	d.mkdir(simRoot + "/.git")
	d.mkdir("/home/state")
	for i := range files {
		d.put(simFile0(i), "0", 0o644)
	}
	d.flushAll()
	e := simEngine(t, d)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	var committed [files]atomic.Int64
	var stale, total atomic.Int64
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(c), 99))
			for range rounds {
				total.Add(1)
				chosen := rng.Perm(files)[:1+rng.IntN(4)]
				if err := bump(ctx, e, d, chosen, rng.IntN(5)); err != nil {
					if api.CodeOf(err) != api.StaleContent {
						t.Errorf("client %d: %v", c, err)
						return
					}
					stale.Add(1)
					continue
				}
				for _, i := range chosen {
					committed[i].Add(1)
				}
			}
		})
	}
	wg.Wait()
	t.Logf("%d transactions, %d refused because another was faster", total.Load(), stale.Load())
	for i := range files {
		n, err := d.walk(simFile0(i))
		must(t, err)
		if got, want := len(n.data)-1, int(committed[i].Load()); got != want {
			t.Errorf("file %d counts %d, %d were committed", i, got, want)
		}
	}
	if len(e.locks.m) != 0 {
		t.Errorf("%d locks are left", len(e.locks.m))
	}
}

// errTaken stands for a transaction that was not committed on purpose.
var errTaken = api.Errorf(api.StaleContent, "aborted")

func bump(ctx context.Context, e *Engine, d *simDisk, chosen []int, fate int) error {
	var files []change.File
	for _, i := range chosen {
		d.mu.Lock()
		n, err := d.walk(simFile0(i))
		if err != nil {
			d.mu.Unlock()
			return errTaken // it is in nobody's place for a moment of an exchange without one
		}
		before := n.data
		d.mu.Unlock()
		files = append(files, change.File{Kind: change.Edit, Path: simFile0(i), Before: before, After: append(append([]byte{}, before...), 'x')})
	}
	tx, err := e.Begin(ctx, Plan{Root: simRoot, Files: files})
	if err != nil {
		return err
	}
	if fate == 0 {
		return errors.Join(tx.Abort(ctx), errTaken)
	}
	if err := tx.Apply(ctx); err != nil {
		return err
	}
	if fate == 1 {
		return errors.Join(tx.Abort(ctx), errTaken)
	}
	_, err = tx.Commit(ctx, CommitInfo{})
	return err
}

// Disjoint transactions do not wait for each other, readers of one file do not
// either, a writer does; and waiting ends with the context.
func TestE16_WhoWaitsForWhom(t *testing.T) {
	b := newBed(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n", "r.txt": "r\n"})
	read := map[string]text.Hash{b.path("r.txt"): text.Sum([]byte("r\n"))}
	ctx := context.Background()
	begin := func(ctx context.Context, rel string, base map[string]text.Hash) (*Tx, error) {
		return b.e.Begin(ctx, Plan{Root: b.root, Base: base, Files: []change.File{b.edit(rel, rel+" edited\n")}})
	}
	first, err := begin(ctx, "a.txt", read)
	must(t, err)
	second, err := begin(ctx, "b.txt", read) // would hang if it had to wait
	must(t, err)
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	before := b.tree()
	for _, rel := range []string{"a.txt", "r.txt"} {
		if _, err := begin(short, rel, nil); api.CodeOf(err) != api.Timeout {
			t.Errorf("a writer of %s did not wait: %v", rel, err)
		}
	}
	must(t, first.Abort(ctx))
	must(t, second.Abort(ctx))
	b.same(before)
	third, err := begin(ctx, "r.txt", nil)
	must(t, err)
	must(t, third.Abort(ctx))
}

func TestSecondDaemonIsRefused(t *testing.T) {
	b := newBed(t, map[string]string{"a.txt": "a\n"})
	must(t, b.e.Recover(context.Background(), b.root))
	other, err := Open(Options{State: b.state, LockWait: 30 * time.Millisecond})
	must(t, err)
	if err := other.Recover(context.Background(), b.root); api.CodeOf(err) != api.Overloaded || !strings.Contains(err.Error(), "auractl stop") {
		t.Errorf("a second daemon on one workspace: %v", err)
	}
	// One that ends is waited for.
	patient, err := Open(Options{State: b.state, LockWait: time.Minute})
	must(t, err)
	done := make(chan error, 1)
	go func() { done <- patient.Recover(context.Background(), b.root) }()
	b.close()
	must(t, <-done)
	must(t, patient.Close(context.Background()))
	must(t, other.Close(context.Background()))
	b.open()
}

func TestCloseWaitsForTransactions(t *testing.T) {
	b := newBed(t, map[string]string{"a.txt": "a\n"})
	tx, err := b.begin(b.edit("a.txt", "A\n"))
	must(t, err)
	short, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	if err := b.e.Close(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Close with a transaction under way: %v", err)
	}
	if _, err := b.begin(b.edit("a.txt", "A\n")); api.CodeOf(err) != api.Cancelled {
		t.Errorf("Begin after Close: %v", err)
	}
	done := make(chan error, 1)
	go func() { done <- b.e.Close(context.Background()) }()
	must(t, tx.Apply(context.Background()))
	_, err = tx.Commit(context.Background(), CommitInfo{})
	must(t, err)
	must(t, <-done)
	must(t, b.e.Close(context.Background()))
	b.open()
}

// cancelAfter is a context that ends at the n-th look at it.
type cancelAfter struct {
	context.Context
	left atomic.Int64
}

func (c *cancelAfter) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// However late a cancellation comes, the tree is the old one until Commit has
// returned, and nothing is left over.
func TestCancelledAtEveryLook(t *testing.T) {
	t.Parallel()
	base := simWorld(10)
	files := simChanges(base, 10)
	old := base.tree(simRoot)
	want := applied(old, simRoot, files)
	looks := 0
	for n := int64(0); ; n++ {
		d := base.clone()
		e := simEngine(t, d)
		must(t, e.Recover(context.Background(), simRoot))
		ctx := &cancelAfter{Context: context.Background()}
		ctx.left.Store(n)
		tx, err := e.Begin(ctx, Plan{Root: simRoot, Files: files})
		if err == nil {
			err = tx.Apply(ctx)
		}
		if err == nil {
			_, err = tx.Commit(ctx, CommitInfo{})
		}
		tree := d.tree(simRoot)
		if bad := litter(e, d, fmt.Sprint(n)); len(bad) > 0 {
			t.Fatal(bad)
		}
		if err == nil {
			if len(tree) != len(want) {
				t.Errorf("the tree after all looks has %d entries, want %d", len(tree), len(want))
			}
			break
		}
		looks++
		if api.CodeOf(err) != api.Cancelled {
			t.Fatalf("cancelled at look %d: %v", n, err)
		}
		for rel := range old {
			if tree[rel] != old[rel] || len(tree) != len(old) {
				t.Fatalf("cancelled at look %d: %s is %q", n, rel, tree[rel])
			}
		}
	}
	t.Logf("%d looks", looks)
	if looks < 30 {
		t.Errorf("the context is looked at %d times only", looks)
	}
}

// Two workspaces, one below the other, do not write under each other.
func TestNestedWorkspacesShareLocks(t *testing.T) {
	b := newBed(t, map[string]string{"sub/a.txt": "a\n"})
	must(t, os.Mkdir(b.path("sub/.git"), 0o755))
	tx, err := b.begin(b.edit("sub/a.txt", "A\n"))
	must(t, err)
	short, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	inner := Plan{Root: filepath.Join(b.root, "sub"), Files: []change.File{b.edit("sub/a.txt", "B\n")}}
	if _, err := b.e.Begin(short, inner); api.CodeOf(err) != api.Timeout {
		t.Errorf("the inner workspace did not wait: %v", err)
	}
	must(t, tx.Abort(context.Background()))
	second, err := b.e.Begin(context.Background(), inner)
	must(t, err)
	must(t, second.Abort(context.Background()))
}
