package edit

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/lspclient/change"
)

const (
	simRoot  = "/home/repo"
	simState = "/home/state/aura"
)

// simWorld is a disk with a repository of n files, all of it durable.
func simWorld(n int) *simDisk {
	d := newSimDisk()
	d.mkdir(simRoot + "/.git")
	d.mkdir("/home/state")
	for i := range n {
		mode := uint32(0o644)
		if i%2 == 1 {
			mode = 0o755
		}
		d.put(simFile0(i), fmt.Sprintf("file %d\n%s", i, strings.Repeat("old text\n", i*4)), mode)
	}
	d.flushAll()
	return d
}

func simFile0(i int) string { return fmt.Sprintf("%s/pkg%d/f%02d.txt", simRoot, i%3, i) }

// simChanges edits every file of the world; from three files on one of them is
// renamed into new folders, one is deleted and one is made.
func simChanges(d *simDisk, n int) []change.File {
	var files []change.File
	for i := range n {
		p := simFile0(i)
		node, err := d.walk(p)
		if err != nil {
			panic(err)
		}
		before := node.data
		after := append([]byte("NEW\n"), before...)
		f := change.File{Kind: change.Edit, Path: p, Before: before, After: after}
		switch {
		case n >= 3 && i == 1:
			f.Kind, f.NewPath = change.Rename, simRoot+"/new/deep/renamed.txt"
		case n >= 3 && i == 2:
			f.Kind, f.After = change.Delete, nil
		}
		files = append(files, f)
	}
	if n >= 3 {
		files = append(files, change.File{Kind: change.Create, Path: simRoot + "/new/made.txt", After: []byte("made\n")})
	}
	return files
}

// applied returns a tree after the changes, by an independent way.
func applied(tree map[string]string, root string, files []change.File) map[string]string {
	out := maps.Clone(tree)
	rel := func(p string) string { return strings.TrimPrefix(p, root+"/") }
	for _, f := range files {
		mode := "0644"
		if f.Kind != change.Create {
			mode = tree[rel(f.Path)][:4]
			delete(out, rel(f.Path))
		}
		if f.Kind != change.Delete {
			out[rel(f.Target())] = mode + " " + string(f.After)
		}
		for dir := path.Dir(rel(f.Target())); dir != "."; dir = path.Dir(dir) {
			out[dir+"/"] = "folder"
		}
	}
	return out
}

func simEngine(t testing.TB, d *simDisk, with ...func(*Engine)) *Engine {
	t.Helper()
	e, err := Open(Options{State: simState, FS: d})
	if err != nil {
		t.Fatal(err)
	}
	e.growth = 2 << 10 // the zeros are most of what a simulated disk has to copy
	for _, f := range with {
		f(e)
	}
	return e
}

// transact runs a plan to its end and returns the token.
func transact(e *Engine, root string, files []change.File) (string, error) {
	ctx := context.Background()
	tx, err := e.Begin(ctx, Plan{Root: root, Files: files, Operation: "rename"})
	if err != nil {
		return "", err
	}
	if err := tx.Apply(ctx); err != nil {
		return "", err
	}
	return tx.Commit(ctx, CommitInfo{})
}

// crashTest is one thing to do while the machine may die.
type crashTest struct {
	name     string
	base     *simDisk
	old, new map[string]string
	run      func(e *Engine) (acknowledged bool)
	with     func(*Engine)  // set up each engine
	stride   int            // try every n-th point; 0 is every one
	losses   []loss         // nil is all
	prepare  func(*simDisk) // set up each disk
	first    bool           // stop at the first violation
	retries  int            // try again from every n-th state; 0 is from every one
	// free says that the journal may hold any number of transactions.
	free   bool
	judged int
	before int // 1 + the number of committed transactions at the start; 0 is not known yet
	// check says what else is wrong with a disk after recovery.
	check func(img *simDisk, acknowledged bool) string
}

// sweepResult counts what a sweep did. violations describe what it found.
type sweepResult struct {
	points, states int
	violations     []string
}

func (r *sweepResult) String() string {
	return fmt.Sprintf("%d points, %d crash states, %d violations", r.points, r.states, len(r.violations))
}

// sweep lets the process die at each mutating call and the disk forget what it
// may forget, and looks at what the next start makes of it.
func (c *crashTest) sweep(t testing.TB) *sweepResult {
	r := &sweepResult{}
	rng := rand.New(rand.NewPCG(7, 11))
	kinds := c.losses
	if kinds == nil {
		kinds = []loss{loseNothing, loseAll, loseData, loseNames, loseSome, loseSome}
	}
	engine := c.engine(t)
	for k := 0; ; k += max(c.stride, 1) {
		d := c.base.clone()
		d.killAt = k
		if c.prepare != nil {
			c.prepare(d)
		}
		acknowledged := c.run(engine(d))
		fired := d.ops > k
		if fired {
			r.points++
		}
		for _, l := range kinds {
			r.states++
			img := d.crash(l, rng)
			where := fmt.Sprintf("%s: died at call %d (%s), %s", c.name, k, last(d.calls), l)
			r.violations = append(r.violations, c.judge(t, engine, img, acknowledged, where)...)
			if c.first && len(r.violations) > 0 {
				return r
			}
		}
		if !fired {
			if !acknowledged && c.new != nil {
				t.Fatalf("%s: undisturbed run failed", c.name)
			}
			return r
		}
	}
}

// engine returns how to start the daemon on a disk.
func (c *crashTest) engine(t testing.TB) func(d *simDisk) *Engine {
	return func(d *simDisk) *Engine {
		e := simEngine(t, d)
		if c.with != nil {
			c.with(e)
		}
		return e
	}
}

// committed counts the committed transactions in an engine's journal.
func committed(e *Engine) int {
	count := 0
	for _, n := range e.spaces[simRoot].w.entries {
		count += boolInt(n.state == stateCommitted)
	}
	return count
}

// committed counts those that the test begins with.
func (c *crashTest) committed(t testing.TB) int {
	if c.before == 0 {
		e := simEngine(t, c.base.clone())
		if err := e.Recover(context.Background(), simRoot); err != nil {
			t.Fatal(err)
		}
		c.before = 1 + committed(e)
	}
	return c.before - 1
}

func last(calls []string) string {
	if len(calls) == 0 {
		return "before the first"
	}
	return "after " + calls[len(calls)-1]
}

// judge recovers a crashed disk twice, the second time after another power
// cut, and returns what is wrong.
func (c *crashTest) judge(t testing.TB, engine func(*simDisk) *Engine, img *simDisk, acknowledged bool, where string) []string {
	var bad []string
	say := func(format string, args ...any) {
		bad = append(bad, where+": "+fmt.Sprintf(format, args...))
	}
	first := ""
	for round := range 2 {
		e := engine(img)
		if err := e.Recover(context.Background(), simRoot); err != nil {
			say("recovery %d: %v", round+1, err)
			return bad
		}
		tree := img.tree(simRoot)
		which := "new"
		if !maps.Equal(tree, c.new) {
			which = "old"
		}
		switch {
		case which == "old" && !maps.Equal(tree, c.old):
			say("the tree is neither old nor new: %s", cmp.Diff(c.old, tree))
		case acknowledged && which == "old":
			say("it was acknowledged, but the tree is old")
		case round > 0 && which != first:
			say("the tree changed in a second recovery")
		}
		first = which
		if got, want := committed(e), c.committed(t)+boolInt(which == "new"); got != want && !c.free {
			say("the tree is %s, the journal has %d committed transactions, want %d", which, got, want)
		}
		if c.check != nil {
			if wrong := c.check(img, acknowledged); wrong != "" {
				say("%s", wrong)
			}
		}
		bad = append(bad, litter(e, img, where)...)
		if len(bad) > 0 {
			return bad
		}
		img = img.crash(loseAll, nil)
	}
	// What was left must be good for another try, the undo store included.
	c.judged++
	if first == "old" && c.new != nil && c.judged%max(c.retries, 1) == 0 {
		if !c.run(engine(img)) {
			say("another try failed")
		} else if !maps.Equal(img.tree(simRoot), c.new) {
			say("another try did not lead to the new tree")
		}
	}
	return bad
}

// litter returns what a recovery left behind that it should not.
func litter(e *Engine, d *simDisk, where string) []string {
	var bad []string
	w := e.spaces[simRoot].w
	if w.locked != nil {
		return []string{where + ": the journal is locked: " + w.locked.Error()}
	}
	held := map[string]bool{}
	for _, n := range w.entries {
		if n.state == stateOpen || n.state == stateConflict {
			bad = append(bad, fmt.Sprintf("%s: transaction %s is not closed (state %d, %v)", where, n.id, n.state, n.conflicts))
		}
		for _, s := range n.stages {
			held[s] = held[s] || n.holds()
		}
	}
	for _, base := range []string{stagingGit, stagingFallback} {
		dir, err := d.walk(path.Join(simRoot, base))
		if err != nil {
			continue
		}
		if len(dir.entries) == 0 {
			bad = append(bad, where+": empty "+base)
		}
		for name := range dir.entries {
			if !held[path.Join(base, name)] {
				bad = append(bad, where+": litter: "+path.Join(base, name))
			}
		}
	}
	home, err := d.walk(w.where)
	if err != nil {
		return append(bad, where+": "+err.Error())
	}
	for name := range home.entries {
		if name != journalName && name != identityName && name != lockName {
			bad = append(bad, where+": litter in the state: "+name)
		}
	}
	return bad
}

// clean fails the test for every violation and prints what was tried.
func (r *sweepResult) clean(t *testing.T) {
	t.Helper()
	t.Log(r)
	for i, v := range r.violations {
		if i == 5 {
			t.Errorf("and %d more", len(r.violations)-5)
			break
		}
		t.Error(v)
	}
	if r.points == 0 {
		t.Error("no point was tried")
	}
}

// errNoFile is what reading a path without a file gives.
var errNoFile = fmt.Errorf("no file: %w", fs.ErrNotExist)
