package edit

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The tests of this file prove that the others have teeth: a bug that is sown
// must be found.

// seeded sweeps an apply of three files with a bug in the engine that does the
// work; the engine that recovers is sound.
func seeded(t *testing.T, c *crashTest, s seed) *sweepResult {
	run := c.run
	c.run = func(e *Engine) bool {
		e.seed = s
		return run(e)
	}
	return c.sweep(t)
}

func TestSeededBug_FsyncDropped(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3, 10} {
		r := seeded(t, applyTest(n), seed{skipStageSync: true})
		t.Logf("staged contents not flushed, %d files: %s", n, r)
		if len(r.violations) == 0 {
			t.Errorf("the sweep of %d files does not notice that staged contents are not flushed", n)
		}
	}
}

func TestSeededBug_StepsSwapped(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3, 10} {
		r := seeded(t, applyTest(n), seed{applyBeforeIntent: true})
		t.Logf("apply before intent, %d files: %s", n, r)
		if len(r.violations) == 0 {
			t.Errorf("the sweep of %d files does not notice that files are swapped before the intent is recorded", n)
		}
	}
}

func TestSeededBug_HashCheckRemoved(t *testing.T) {
	t.Parallel()
	good := intrusions(t, seed{})
	for name, s := range map[string]seed{
		"after the exchange and at the commit": {skipVerify: true, skipSlots: true},
		"at the commit":                        {skipSlots: true},
	} {
		bad := intrusions(t, s)
		t.Logf("with all checks: %s; without that %s: %s", good, name, bad)
		if len(bad.violations) == 0 {
			t.Errorf("nobody notices that the hash of what was replaced is not checked %s", name)
		}
	}
}

// hexID matches names that differ from run to run.
var hexID = regexp.MustCompile(`[0-9a-f]{24,32}`)

func anonymous(call string) string { return hexID.ReplaceAllString(call, "ID") }

// Every single flush that an apply, an undo or a redo makes is needed: when
// one of them lies, the sweep finds a state that is wrong. Those that are not
// noticed are listed, with the reason why they are made all the same.
func TestE02_EveryFlushIsNeeded(t *testing.T) {
	t.Parallel()
	spare := map[string]string{
		"fsync /home/state/aura/ID":  "the first of two: the name of the journal's folder entry comes right after",
		"apply fsync /home/repo/new": "new contents are staged anew after a crash; a redo needs it, for its slots are all there is",
		"fsync /home/repo/.git/aura/ID": "the model's renames are atomic over two folders; it costs nothing where they are, " +
			"since the flush of the files has written the names too",
		"fsync /home/state/aura/ID/journal": "only a record that a killed daemon did not flush needs it; see the next test",
	}
	for _, c := range []*crashTest{applyTest(3), applyTest(10), undoTest(t, 3, false), undoTest(t, 10, true)} {
		c.first = true
		c.losses = []loss{loseAll, loseNames, loseSome, loseSome, loseSome, loseSome, loseSome, loseSome}
		d := c.base.clone()
		c.run(simEngine(t, d))
		flushes := 0
		for i, call := range d.calls {
			call = anonymous(call)
			if !strings.Contains(call, "sync ") && !strings.HasPrefix(call, "syncfs") {
				continue
			}
			flushes++
			before := 0
			for _, earlier := range d.calls[:i] {
				if anonymous(earlier) == call {
					before++
				}
			}
			c.prepare = func(sd *simDisk) {
				left := before
				sd.lie = func(now string) bool {
					if anonymous(now) != call {
						return false
					}
					left--
					return left == -1
				}
			}
			if r := c.sweep(t); len(r.violations) == 0 && spare[call]+spare[c.name[:5]+" "+call] == "" {
				t.Errorf("%s: nobody notices that %q (%d before it) does nothing", c.name, call, before)
			}
		}
		t.Logf("%s: %d flushes", c.name, flushes)
		if flushes < 4 {
			t.Errorf("%s: only %d flushes found", c.name, flushes)
		}
	}
}

// A COMMITTED record that was written but not flushed when the daemon was
// killed counts at the next start. It must then be flushed, or a power cut
// after that start would take back what was counted.
func TestE02_RecoveredCommitIsFlushed(t *testing.T) {
	t.Parallel()
	c := applyTest(1)
	d := c.base.clone()
	c.run(simEngine(t, d))
	at := -1
	for i, call := range d.calls {
		if strings.HasPrefix(call, "fdatasync") {
			at = i // the last one is that of COMMITTED
		}
	}
	for _, lies := range []bool{false, true} {
		d := c.base.clone()
		d.killAt = at
		c.run(simEngine(t, d))
		img := d.crash(loseNothing, nil)
		if lies {
			img.lie = func(call string) bool { return strings.HasPrefix(anonymous(call), "fsync /home/state/aura/ID/journal") }
		}
		e := simEngine(t, img)
		h, err := e.History(context.Background(), simRoot, 0)
		if err != nil || len(h) != 1 {
			t.Fatalf("history after the kill: %v, %v", h, err)
		}
		after := img.crash(loseAll, nil)
		h, err = simEngine(t, after).History(context.Background(), simRoot, 0)
		if err != nil {
			t.Fatal(err)
		}
		if kept := len(h) == 1; kept == lies {
			t.Errorf("flush lies: %v, transaction kept: %v", lies, kept)
		}
	}
}

// intruder saves a file from outside at one moment of a transaction.
type intruder struct {
	inPlace bool // it writes into the file that it opened before, no rename
	abort   bool // the transaction ends with Abort
}

// intrusions runs a transaction over three files once for each mutating call,
// with somebody else saving one of them right before that call. Their bytes
// must be found where they put them, whatever became of the transaction.
func intrusions(t *testing.T, s seed) *sweepResult {
	r := &sweepResult{}
	for _, in := range []intruder{{}, {inPlace: true}, {abort: true}, {inPlace: true, abort: true}} {
		for _, victim := range []int{0, 1, 2} {
			for k := 0; ; k++ {
				r.points++
				bad, fired := in.run(t, s, victim, k)
				if bad != "" {
					r.violations = append(r.violations, fmt.Sprintf("%+v, file %d, before call %d: %s", in, victim, k, bad))
				}
				if !fired {
					break
				}
			}
		}
	}
	return r
}

func (in intruder) run(t *testing.T, s seed, victim, at int) (bad string, fired bool) {
	const theirs = "their bytes\n"
	d := simWorld(3)
	files := simChanges(d, 3)
	p := simFile0(victim)
	opened, err := d.walk(p)
	if err != nil {
		t.Fatal(err)
	}
	last := 0 // the call that writes COMMITTED: there is no look at the slots after it
	d.intrude = func(n int) {
		if strings.HasPrefix(d.calls[n], "write") && strings.Contains(d.calls[n], "/"+journalName) {
			last = n
		}
		if n != at {
			return
		}
		fired = true
		if in.inPlace {
			opened.data = append(slices.Clone(opened.data), theirs...)
			return
		}
		d.put(p, theirs, 0o644)
	}
	e := simEngine(t, d)
	e.seed = s
	ctx := context.Background()
	tx, err := e.Begin(ctx, Plan{Root: simRoot, Files: files})
	if err == nil {
		err = tx.Apply(ctx)
	}
	if err == nil {
		if in.abort {
			err = tx.Abort(ctx)
		} else {
			_, err = tx.Commit(ctx, CommitInfo{})
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !fired {
		return "", false
	}
	node, _ := d.walk(p)
	if node != nil && strings.HasSuffix(string(node.data), theirs) {
		return "", true
	}
	if in.inPlace && at >= last && err == nil {
		// Written after the last look, into a file that somebody else replaced:
		// the bytes are in the undo store.
		held := false
		d.each(simRoot, stagingGit, func(_ string, n *simNode) bool { held = held || n == opened; return true })
		if held {
			return "", true
		}
	}
	return fmt.Sprintf("their save is lost (error %v)", err), true
}

// Somebody saves a file at any moment of a transaction: their save is never
// lost (SIM; the real file system has its own test with a racing process).
func TestE13_SaveAtEveryMoment(t *testing.T) {
	t.Parallel()
	intrusions(t, seed{}).clean(t)
}
