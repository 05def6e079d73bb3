package edit

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/auralsp/aura/lspclient/change"
)

// applyTest sweeps one transaction over n files from an empty state folder.
func applyTest(n int) *crashTest {
	base := simWorld(n)
	files := simChanges(base, n)
	old := base.tree(simRoot)
	return &crashTest{
		name: fmt.Sprintf("apply of %d files", n),
		base: base, old: old, new: applied(old, simRoot, files),
		run: func(e *Engine) bool {
			_, err := transact(e, simRoot, files)
			return err == nil
		},
	}
}

// abortTest sweeps a transaction that is applied and then taken back.
func abortTest(n int) *crashTest {
	c := applyTest(n)
	files := simChanges(c.base, n)
	c.name, c.new = fmt.Sprintf("abort of %d files", n), nil
	c.run = func(e *Engine) bool {
		ctx := context.Background()
		tx, err := e.Begin(ctx, Plan{Root: simRoot, Files: files})
		if err == nil && tx.Apply(ctx) == nil {
			tx.Abort(ctx)
		}
		return false
	}
	return c
}

// undoTest sweeps the undo of a transaction over n files, or the redo.
func undoTest(t testing.TB, n int, redo bool) *crashTest {
	return undoOf(t, simWorld(n), n, redo)
}

func undoOf(t testing.TB, base *simDisk, n int, redo bool) *crashTest {
	files := simChanges(base, n)
	before := base.tree(simRoot)
	e := simEngine(t, base)
	token, err := transact(e, simRoot, files)
	if err != nil {
		t.Fatal(err)
	}
	c := &crashTest{name: fmt.Sprintf("undo of %d files", n), base: base, old: base.tree(simRoot), new: before}
	if redo {
		res, err := e.Undo(context.Background(), simRoot, token, UndoOptions{})
		if err != nil {
			t.Fatal(err)
		}
		c.name, c.old, c.new = fmt.Sprintf("redo of %d files", n), before, c.old
		token = res.RedoToken
	}
	base.flushAll()
	c.run = func(e *Engine) bool {
		_, err := e.Undo(context.Background(), simRoot, token, UndoOptions{})
		return err == nil
	}
	if !redo {
		c.check = restoredTimes(before, files)
	}
	return c
}

// restoredTimes checks that what an undo put back has the time of the undo,
// not the one it had: a power cut must not bring that back either.
func restoredTimes(before map[string]string, files []change.File) func(*simDisk, bool) string {
	return func(img *simDisk, acknowledged bool) string {
		for _, f := range files {
			if !acknowledged || f.Kind == change.Create {
				continue
			}
			n, err := img.walk(f.Path)
			if err != nil {
				return err.Error()
			}
			if !n.meta.mtime.After(img.now) {
				return fmt.Sprintf("%s came back with its old time %s", f.Path, n.meta.mtime)
			}
		}
		return ""
	}
}

var sizes = []int{1, 3, 50}

// lean leaves out what a sweep over many files needs not try at each point:
// the same was done with few.
func lean(c *crashTest, n int) *crashTest {
	if n == 50 {
		c.losses, c.retries = []loss{loseNothing, loseAll, loseSome}, 7
	}
	return c
}

func TestE02_PowerLossDuringApply(t *testing.T) {
	t.Parallel()
	for _, n := range sizes {
		t.Run(fmt.Sprint(n), func(t *testing.T) { lean(applyTest(n), n).sweep(t).clean(t) })
	}
}

func TestE02_PowerLossDuringAbort(t *testing.T) {
	t.Parallel()
	for _, n := range sizes {
		c := lean(abortTest(n), n)
		t.Run(fmt.Sprint(n), func(t *testing.T) { c.sweep(t).clean(t) })
	}
}

func TestE02_PowerLossDuringUndoAndRedo(t *testing.T) {
	t.Parallel()
	for _, n := range sizes {
		t.Run(fmt.Sprintf("undo %d", n), func(t *testing.T) { lean(undoTest(t, n, false), n).sweep(t).clean(t) })
		t.Run(fmt.Sprintf("redo %d", n), func(t *testing.T) { lean(undoTest(t, n, true), n).sweep(t).clean(t) })
	}
}

// On a file system that cannot exchange names, or not even rename without
// replacing, the same must hold.
func TestE02_PowerLossWithoutExchange(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3} {
		for _, noReplace := range []bool{false, true} {
			plain := func(d *simDisk) *simDisk {
				d.noExchange, d.noReplace = true, noReplace
				return d
			}
			for _, c := range []*crashTest{applyTest(n), abortTest(n)} {
				plain(c.base)
				t.Run(c.name, func(t *testing.T) { c.sweep(t).clean(t) })
			}
			c := undoOf(t, plain(simWorld(n)), n, false)
			t.Run(c.name, func(t *testing.T) { c.sweep(t).clean(t) })
		}
	}
}

// The transaction that makes the retention drop others, and the journal be
// written anew, is as safe as any.
func TestE02_PowerLossDuringRetention(t *testing.T) {
	t.Parallel()
	base := simWorld(3)
	small := func(e *Engine) {
		e.keep.Count = 2
		e.slack = 0
	}
	e := simEngine(t, base, small)
	for range 3 {
		if _, err := transact(e, simRoot, edits(base, simFile0(0), simFile0(2))); err != nil {
			t.Fatal(err)
		}
	}
	base.flushAll()
	files := edits(base, simFile0(0), simFile0(1))
	old := base.tree(simRoot)
	c := &crashTest{name: "retention", base: base, old: old, new: applied(old, simRoot, files), with: small, free: true}
	rewritten := false
	c.run = func(e *Engine) bool {
		_, err := transact(e, simRoot, files)
		rewritten = rewritten || slices.ContainsFunc(e.fs.(*simDisk).calls, func(call string) bool {
			return strings.HasPrefix(call, "rename ") && strings.HasSuffix(call, "/"+journalName)
		})
		return err == nil
	}
	c.sweep(t).clean(t)
	if !rewritten {
		t.Error("the journal was not rewritten: the sweep missed it")
	}
}

// edits changes some files of the disk.
func edits(d *simDisk, paths ...string) []change.File {
	var files []change.File
	for _, p := range paths {
		n, err := d.walk(p)
		if err != nil {
			panic(err)
		}
		files = append(files, change.File{
			Kind: change.Edit, Path: p, Before: slices.Clone(n.data), After: append([]byte("more\n"), n.data...),
		})
	}
	return files
}

// A crash during the recovery from a crash, three deep.
func TestE03_CrashDuringRecovery(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 5))
	for _, c := range []*crashTest{applyTest(1), applyTest(3), undoTest(t, 3, false), abortTest(3)} {
		r := &sweepResult{}
		engine := c.engine(t)
		for k := 0; ; k++ {
			d := c.base.clone()
			d.killAt = k
			acknowledged := c.run(engine(d))
			for _, l := range []loss{loseNothing, loseAll, loseSome} {
				c.recoverDying(t, engine, d.crash(l, rng), acknowledged, 3, rng, r, fmt.Sprintf("%s, call %d, %s", c.name, k, l))
			}
			if d.ops <= k {
				break
			}
		}
		t.Run(c.name, r.clean)
	}
}

// recoverDying lets a recovery die at a few of its calls, and the recovery
// from that one in turn.
func (c *crashTest) recoverDying(t testing.TB, engine func(*simDisk) *Engine, img *simDisk, acknowledged bool, deep int, rng *rand.Rand, r *sweepResult, where string) {
	probe := img.clone()
	engine(probe).Recover(context.Background(), simRoot)
	at := map[int]bool{}
	for range 4 {
		if probe.ops > 0 {
			at[rng.IntN(probe.ops)] = true
		}
	}
	for _, k := range slices.Sorted(maps.Keys(at)) {
		d := img.clone()
		d.killAt = k
		r.points++
		r.states++
		engine(d).Recover(context.Background(), simRoot)
		next := d.crash([]loss{loseNothing, loseAll, loseSome}[rng.IntN(3)], rng)
		here := fmt.Sprintf("%s; recovery died at its call %d", where, k)
		r.violations = append(r.violations, c.judge(t, engine, next.clone(), acknowledged, here)...)
		if deep > 1 && rng.IntN(4) == 0 {
			c.recoverDying(t, engine, next, acknowledged, deep-1, rng, r, here)
		}
	}
}
