package edit

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/lspclient/change"
)

// model is what the workspace should hold: contents by path, nothing else.
// Its transactions are remembered with the trees around them.
type model struct {
	rng   *rand.Rand
	files map[string]string
	done  []modelTx
	names []string
}

type modelTx struct {
	token         string
	before, after map[string]string
	undone        bool
}

func (m *model) content() string {
	return strings.Repeat(fmt.Sprintf("line %d\n", m.rng.IntN(1000)), m.rng.IntN(5))
}

// plan makes a random set of steps and what they come to.
func (m *model) plan() (change.Set, map[string]string) {
	after := maps.Clone(m.files)
	var set change.Set
	for range 1 + m.rng.IntN(6) {
		there := slices.Sorted(maps.Keys(after))
		var name string
		if len(there) > 0 {
			name = there[m.rng.IntN(len(there))]
		}
		free := m.names[m.rng.IntN(len(m.names))]
		switch m.rng.IntN(5) {
		case 0, 1:
			if name != "" {
				text := m.content()
				set.Ops = append(set.Ops, change.Op{Kind: change.Create, Path: name, Content: []byte(text), Overwrite: true})
				after[name] = text
			}
		case 2:
			if _, taken := after[free]; !taken {
				text := m.content()
				set.Ops = append(set.Ops, change.Op{Kind: change.Create, Path: free, Content: []byte(text)})
				after[free] = text
			}
		case 3:
			if name != "" {
				set.Ops = append(set.Ops, change.Op{Kind: change.Delete, Path: name})
				delete(after, name)
			}
		case 4:
			if name != "" && name != free {
				set.Ops = append(set.Ops, change.Op{Kind: change.Rename, Path: name, NewPath: free, Overwrite: true})
				after[free] = after[name]
				delete(after, name)
			}
		}
	}
	return set, after
}

// nested reports whether a file's folder is a file as well, which Resolve
// refuses.
func nested(files map[string]string) bool {
	for p := range files {
		for dir := path.Dir(p); dir != "/"; dir = path.Dir(dir) {
			if _, ok := files[dir]; ok {
				return true
			}
		}
	}
	return false
}

// Thousands of random plans are committed, aborted, undone and redone, now and
// then over a restart, and the tree is compared with a map after each.
func TestE17_RandomPlansAgainstAModel(t *testing.T) {
	t.Parallel()
	const plans = 2000
	d := newSimDisk()
	d.mkdir(simRoot + "/.git")
	d.mkdir("/home/state")
	d.flushAll()
	m := &model{rng: rand.New(rand.NewPCG(42, 17)), files: map[string]string{}}
	for _, dir := range []string{"", "a/", "a/b/", "c/", "c/d/e/"} {
		for _, name := range []string{"x", "y", "X", "z.txt"} {
			m.names = append(m.names, path.Join(simRoot, dir+name))
		}
	}
	m.names = append(m.names, simRoot+"/c/d") // a file where others need a folder
	e := simEngine(t, d)
	counts := map[string]int{}
	for i := range plans {
		if m.rng.IntN(50) == 0 {
			must(t, e.Close(context.Background()))
			e = simEngine(t, d)
			counts["restart"]++
		}
		m.step(t, e, d, counts)
		if diff := cmp.Diff(m.files, m.tree(d)); diff != "" {
			t.Fatalf("after plan %d (-want +got):\n%s", i, diff)
		}
		if m.rng.IntN(20) == 0 {
			if bad := litter(e, d, "litter"); e.spaces[simRoot] != nil && len(bad) > 0 {
				t.Fatalf("after plan %d: %v", i, bad)
			}
		}
	}
	t.Log(counts)
	for _, what := range []string{"committed", "aborted", "undone", "undo refused", "restart"} {
		if counts[what] < 20 {
			t.Errorf("only %d times %s", counts[what], what)
		}
	}
}

func (m *model) step(t *testing.T, e *Engine, d *simDisk, counts map[string]int) {
	t.Helper()
	ctx := context.Background()
	if len(m.done) > 0 && m.rng.IntN(4) == 0 {
		m.undo(t, e, counts)
		return
	}
	set, after := m.plan()
	files, err := set.Resolve(func(p string) ([]byte, error) {
		n, err := d.walk(p)
		if err == nil && n.kind != RegularFile {
			return nil, errNoFile
		}
		if err != nil {
			return nil, errNoFile
		}
		return n.data, nil
	})
	if err != nil {
		if !nested(after) {
			counts["not resolved"]++
		}
		return
	}
	tx, err := e.Begin(ctx, Plan{Root: simRoot, Operation: "random", Files: files})
	if err != nil {
		// A folder has the name that a file is to get.
		if code := api.CodeOf(err); code != api.StaleContent && code != api.InvalidArgument {
			t.Fatalf("begin: %v", err)
		}
		counts["refused"]++
		return
	}
	if m.rng.IntN(5) == 0 {
		if m.rng.IntN(3) > 0 {
			must(t, tx.Apply(ctx))
		}
		must(t, tx.Abort(ctx))
		counts["aborted"]++
		return
	}
	must(t, tx.Apply(ctx))
	token, err := tx.Commit(ctx, CommitInfo{})
	must(t, err)
	m.done = append(m.done, modelTx{token: token, before: m.files, after: after})
	m.files = after
	counts["committed"]++
}

// undo takes one of the last transactions back, or tries to.
func (m *model) undo(t *testing.T, e *Engine, counts map[string]int) {
	t.Helper()
	i := len(m.done) - 1 - m.rng.IntN(min(3, len(m.done)))
	tx := &m.done[i]
	want := maps.Clone(m.files)
	possible := true
	for p := range merged(tx.before, tx.after) {
		if tx.before[p] == tx.after[p] && has(tx.before, p) == has(tx.after, p) {
			continue
		}
		possible = possible && has(m.files, p) == has(tx.after, p) && m.files[p] == tx.after[p]
		delete(want, p)
		if has(tx.before, p) {
			want[p] = tx.before[p]
		}
	}
	res, err := e.Undo(context.Background(), simRoot, tx.token, UndoOptions{})
	switch {
	case tx.undone:
		if err != nil || !res.Replayed {
			t.Fatalf("a second undo: %+v, %v", res, err)
		}
		counts["undone twice"]++
	case err != nil:
		if code := api.CodeOf(err); code != api.UndoConflict || possible && !nested(merged(m.files, want)) {
			t.Fatalf("undo: %v (possible: %v)", err, possible)
		}
		counts["undo refused"]++
	default:
		if !possible {
			t.Fatal("an undo went through although a file had changed")
		}
		tx.undone = true
		m.done = append(m.done, modelTx{token: res.RedoToken, before: m.files, after: want})
		m.files = want
		counts["undone"]++
	}
}

func has(m map[string]string, p string) bool { _, ok := m[p]; return ok }

func merged(a, b map[string]string) map[string]string {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// tree is the disk as the model describes it.
func (m *model) tree(d *simDisk) map[string]string {
	out := map[string]string{}
	d.each(simRoot, "", func(rel string, n *simNode) bool {
		if n.kind == RegularFile {
			out[path.Join(simRoot, rel)] = string(n.data)
		}
		return rel != ".git"
	})
	return out
}
