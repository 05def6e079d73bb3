package change_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/text"
)

// disk is the model: files by path.
type disk map[string]string

func (d disk) read(path string) ([]byte, error) {
	if s, ok := d[path]; ok {
		return []byte(s), nil
	}
	return nil, fmt.Errorf("open %s: %w", path, fs.ErrNotExist)
}

func (d disk) clone() disk {
	out := disk{}
	for k, v := range d {
		out[k] = v
	}
	return out
}

// do carries one step out as a plain file system would.
func (d disk) do(op change.Op) error {
	_, exists := d[op.Path]
	switch op.Kind {
	case change.Edit:
		if !exists {
			return change.ErrMissing
		}
		next, err := naiveApply(d[op.Path], op.Edits)
		if err != nil {
			return err
		}
		d[op.Path] = next
	case change.Create:
		if exists && !op.Overwrite {
			if op.IgnoreExisting {
				return nil
			}
			return change.ErrExists
		}
		d[op.Path] = string(op.Content)
	case change.Rename:
		if !exists {
			return change.ErrMissing
		}
		if op.Path == op.NewPath {
			return nil
		}
		if _, there := d[op.NewPath]; there && !op.Overwrite {
			if op.IgnoreExisting {
				return nil
			}
			return change.ErrExists
		}
		d[op.NewPath] = d[op.Path]
		delete(d, op.Path)
	case change.Delete:
		if !exists && !op.IgnoreMissing {
			return change.ErrMissing
		}
		delete(d, op.Path)
	}
	return nil
}

// naiveApply replaces from the last edit to the first.
func naiveApply(s string, edits []text.Edit) (string, error) {
	sorted := slices.Clone(edits)
	slices.SortStableFunc(sorted, func(a, b text.Edit) int {
		if a.Start != b.Start {
			return a.Start - b.Start
		}
		return a.End - b.End
	})
	for i := len(sorted) - 1; i >= 0; i-- {
		e := sorted[i]
		if i > 0 && sorted[i-1].End > e.Start {
			return "", text.ErrOverlap
		}
		s = s[:e.Start] + e.New + s[e.End:]
	}
	return s, nil
}

var modelPaths = []string{"/r/a", "/r/b", "/r/c", "/r/d/e", "/r/d/f"}

func randomOp(r *rand.Rand, d disk) change.Op {
	pick := func() string { return modelPaths[r.IntN(len(modelPaths))] }
	op := change.Op{Kind: change.Kind(r.IntN(4)), Path: pick()}
	op.Overwrite, op.IgnoreMissing, op.IgnoreExisting = r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(4) == 0
	switch op.Kind {
	case change.Edit:
		op.Edits = randomEdits(r, len(d[op.Path]))
	case change.Create:
		op.Content = []byte(randomText(r, 3))
	case change.Rename:
		op.NewPath = pick()
	}
	return op
}

func randomText(r *rand.Rand, lines int) string {
	var b strings.Builder
	for range r.IntN(lines + 1) {
		b.WriteString(strings.Repeat(string(rune('a'+r.IntN(4))), r.IntN(3)))
		b.WriteString([]string{"\n", "\n", "x"}[r.IntN(3)])
	}
	return b.String()
}

func randomEdits(r *rand.Rand, size int) []text.Edit {
	var out []text.Edit
	for at := 0; at <= size && len(out) < 4; {
		start := at + r.IntN(size-at+1)
		end := start + r.IntN(min(3, size-start+1))
		out = append(out, text.Edit{Start: start, End: end, New: randomText(r, 1)})
		at = end + 1
	}
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// check compares what a set resolves to with the model.
func check(t *testing.T, before disk, set change.Set) {
	t.Helper()
	want := before.clone()
	var wantErr error
	for _, op := range set.Ops {
		if wantErr = want.do(op); wantErr != nil {
			break
		}
	}
	files, err := set.Resolve(before.read)
	if wantErr != nil {
		if !errors.Is(err, wantErr) {
			t.Fatalf("Resolve(%+v) = %v, want %v", set, err, wantErr)
		}
		return
	}
	if err != nil {
		t.Fatalf("Resolve(%+v): %v", set, err)
	}
	got := apply(t, before, files)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("Resolve(%+v) (-want +got):\n%s", set, diff)
	}
	again, err := change.FromFiles(files).Resolve(before.read)
	if err != nil {
		t.Fatalf("Resolve(FromFiles): %v", err)
	}
	if diff := cmp.Diff(files, again); diff != "" {
		t.Fatalf("Resolve(FromFiles) (-want +got):\n%s", diff)
	}
}

// apply carries files out in the order given and checks what Resolve promises of each.
func apply(t *testing.T, before disk, files []change.File) disk {
	t.Helper()
	got, used := before.clone(), map[string]bool{}
	for _, f := range files {
		for _, path := range []string{f.Path, f.NewPath} {
			if path != "" && used[path] {
				t.Fatalf("%s stands in two files: %+v", path, files)
			}
			used[path] = true
		}
		was, existed := before[f.Path]
		if existed != (f.Kind != change.Create) || was != string(f.Before) {
			t.Fatalf("%s of %s: before is %q, there %v; want %q, %v", f.Kind, f.Path, f.Before, !existed, was, existed)
		}
		if f.Kind == change.Edit || f.Kind == change.Rename {
			after, err := naiveApply(was, f.Edits)
			if err != nil || after != string(f.After) || !slices.IsSortedFunc(f.Edits, func(a, b text.Edit) int { return a.Start - b.Start }) {
				t.Fatalf("edits %+v of %q give %q, %v; want %q", f.Edits, was, after, err, f.After)
			}
		}
		if f.Kind == change.Edit && was == string(f.After) {
			t.Fatalf("%s is not changed", f.Path)
		}
		if after := applyHunks(string(f.Before), f.Hunks()); after != string(f.After) {
			t.Fatalf("hunks %+v of %q give %q, want %q", f.Hunks(), f.Before, after, f.After)
		}
		if _, there := before[f.NewPath]; f.Kind == change.Rename && there {
			t.Fatalf("rename onto %s, which exists", f.NewPath)
		}
		if f.Kind != change.Edit && f.Kind != change.Create {
			delete(got, f.Path)
		}
		if f.Kind != change.Delete {
			got[f.Target()] = string(f.After)
		}
	}
	return got
}

func applyHunks(before string, hunks []change.Hunk) string {
	lines := strings.Split(before, "\n")
	for _, h := range slices.Backward(hunks) {
		if !slices.Equal(lines[h.StartLine-1:h.StartLine-1+len(h.Old)], h.Old) {
			return fmt.Sprintf("line %d is not %q", h.StartLine, h.Old)
		}
		lines = slices.Replace(lines, h.StartLine-1, h.StartLine-1+len(h.Old), h.New...)
	}
	return strings.Join(lines, "\n")
}

func modelRun(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	before := disk{}
	for _, p := range modelPaths {
		if r.IntN(3) > 0 {
			before[p] = randomText(r, 5)
		}
	}
	// Steps are made against the state that the steps before leave, so that
	// most sets get past their first step.
	now, set := before.clone(), change.Set{}
	for range 1 + r.IntN(6) {
		op := randomOp(r, now)
		set.Ops = append(set.Ops, op)
		if now.do(op) != nil && r.IntN(4) > 0 {
			set.Ops = set.Ops[:len(set.Ops)-1]
		}
	}
	check(t, before, set)
}

func TestE17_ResolveEqualsModel(t *testing.T) {
	for seed := range uint64(20_000) {
		modelRun(t, seed)
	}
}

func FuzzResolve(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(modelRun)
}

func FuzzHunks(f *testing.F) {
	f.Add("a\r\nb\r\n", "a\nb")
	f.Add("", "x")
	f.Add("x\n", "x")
	f.Fuzz(func(t *testing.T, before, after string) {
		hunks := change.Hunks([]byte(before), []byte(after))
		if got := applyHunks(before, hunks); got != after {
			t.Fatalf("hunks %+v of %q give %q, want %q", hunks, before, got, after)
		}
	})
}
