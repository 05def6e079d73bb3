package e2e

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/auralsp/aura/daemon/api"
)

// A small fixed set by default, for every run of the tests; `make soak` takes more.
var (
	soakLang   = flag.String("soak.lang", "", "language to rename in: go, rust, python, typescript, csharp; all when empty")
	soakModule = flag.String("soak.module", "", "project to rename in: name@version from the language's registry, or a folder; the language's own choice when empty")
	soakN      = flag.Int("soak.n", 5, "symbols to rename")
	soakSeed   = flag.Uint64("soak.seed", 1, "seed of the choice")
	soakStack  = flag.Bool("soak.stack", false, "undo at the end only, newest first")
)

// row is one line of the table.
type row struct {
	pick    pick
	outcome string // ok, refused, VIOLATION
	files   int
	changes int
	rename  time.Duration
	check   time.Duration
	undo    time.Duration
	note    string
}

// project is a real project to rename in.
type project struct {
	dir   string                 // the workspace, with all that its build needs
	picks []pick                 // what can be renamed
	judge func() map[string]bool // what the language's own tools complain about now, a line each
}

// soaker is a language to rename in.
type soaker struct {
	project string // name@version of the one that every run of the tests takes
	fetch   func(t *testing.T, name string) project
}

func soakers() map[string]soaker {
	return map[string]soaker{
		"go":         {"github.com/spf13/cobra@v1.10.2", soakGo},
		"rust":       {"semver@1.0.27", soakRust},
		"python":     {"click@8.1.7", soakPython},
		"typescript": {"zod@4.6.7", soakTypeScript},
		"csharp":     {"sample", soakCSharp},
	}
}

// TestSoak renames symbols of a real project one after another. Each must build
// and vet, or be refused with a reason before anything is written; each undo
// must restore the tree, with times that no build can miss.
func TestSoak(t *testing.T) {
	all := soakers()
	if *soakLang != "" && all[*soakLang].fetch == nil {
		t.Fatalf("-soak.lang %s: there are %q", *soakLang, slices.Sorted(maps.Keys(all)))
	}
	for _, lang := range slices.Sorted(maps.Keys(all)) {
		if *soakLang == "" && *soakModule == "" || lang == cmp.Or(*soakLang, "go") {
			t.Run(lang, func(t *testing.T) { soak(t, lang, cmp.Or(*soakModule, all[lang].project), all[lang]) })
		}
	}
}

func soak(t *testing.T, lang, name string, s soaker) {
	p := s.fetch(t, name)
	dir := p.dir
	picks := choose(t, p.picks, *soakN, *soakSeed)
	t.Logf("soak: %s %s, %d symbols of %d, seed %d", lang, name, len(picks), len(p.picks), *soakSeed)
	start := snapshot(t, dir)
	baseline := p.judge()
	w := newWorld(t, dir)

	var rows []row
	var undos []string // with -soak.stack
	for _, pick := range picks {
		if *soakStack && lang == "go" {
			pick = relocate(t, dir, pick)
		}
		r, token := soakOne(t, w, p, pick, baseline)
		if token != "" && *soakStack {
			undos = append(undos, token)
		} else if token != "" {
			soakUndo(t, w, &r, token)
			if d := differences(start, snapshot(t, dir)); len(d) > 0 {
				r.fail("after the undo: %q", d)
			}
		}
		rows = append(rows, r)
		t.Logf("%d of %d: %s: %s after %v", len(rows), len(picks), pick, r.outcome, (r.rename + r.check + r.undo).Round(time.Millisecond))
		if r.outcome == "VIOLATION" {
			t.Errorf("%s: %s", pick, r.note)
			break // what follows would be judged against a broken tree
		}
	}
	for i := len(undos) - 1; i >= 0; i-- {
		w.must(t, "aura_undo", map[string]any{"undoToken": undos[i]}, nil)
	}
	unchanged(t, dir, start)

	refused := 0
	for _, r := range rows {
		if r.outcome == "refused" {
			refused++
		}
	}
	t.Logf("%s, seed %d: %d renamed, %d refused\n%s", lang, *soakSeed, len(rows)-refused, refused, table(rows))
	// Of a handful one may be a method that types elsewhere have too.
	if refused > max(1, len(picks)/20) {
		t.Errorf("%d of %d refused: more than 5 %%", refused, len(picks))
	}
}

// fail marks the row as a broken promise.
func (r *row) fail(format string, args ...any) {
	r.outcome, r.note = "VIOLATION", fmt.Sprintf(format, args...)
}

// soakOne renames one symbol and judges the result. The token is empty when
// there is nothing to undo.
func soakOne(t *testing.T, w *world, in project, p pick, baseline map[string]bool) (row, string) {
	t.Helper()
	r := row{pick: p, outcome: "ok"}
	before := snapshot(t, w.ws)
	began := fileClock(t, w.ws)
	var answer api.EditResult
	start := time.Now()
	refusal := w.call(t, "aura_rename_symbol", map[string]any{
		"filePath": p.file, "line": p.line, "column": p.column, "newName": p.newName(),
	}, &answer)
	r.rename = time.Since(start)
	after := snapshot(t, w.ws)
	if refusal != nil {
		r.outcome, r.note = "refused", string(refusal.Code)+": "+refusal.Message
		if d := differences(before, after); len(d) > 0 {
			r.fail("refused (%s), but changed %q", r.note, d)
		}
		return r, ""
	}
	r.files, r.changes = len(answer.FilesModified), answer.ChangesApplied
	r.note = strings.Join(answer.Warnings, "; ")
	switch {
	case !answer.Success || answer.UndoToken == "":
		r.fail("neither an error nor a success with an undo token: %+v", answer)
		return r, answer.UndoToken
	case len(differences(before, after)) == 0:
		r.fail("success, but no file changed")
		return r, answer.UndoToken
	}
	for _, name := range answer.FilesModified {
		if m := modified(t, w.ws, name); !m.After(began) {
			r.fail("%s has time %v, the rename began at %v", name, m, began)
		}
	}
	start = time.Now()
	for line := range in.judge() {
		// What was wrong before may be said with the new name now.
		if !baseline[line] && !baseline[strings.ReplaceAll(line, p.newName(), p.name)] {
			r.fail("does not build or vet any more: %s", line)
		}
	}
	r.check = time.Since(start)
	return r, answer.UndoToken
}

// soakUndo takes one rename back. What was built in between must be older than
// every file it touches.
func soakUndo(t *testing.T, w *world, r *row, token string) {
	t.Helper()
	built := fileClock(t, w.ws)
	var answer api.EditResult
	start := time.Now()
	refusal := w.call(t, "aura_undo", map[string]any{"undoToken": token}, &answer)
	r.undo = time.Since(start)
	if refusal != nil {
		r.fail("undo: %v", refusal)
		return
	}
	if len(answer.FilesModified) != r.files {
		r.fail("the rename changed %d files, its undo %d", r.files, len(answer.FilesModified))
	}
	for _, name := range answer.FilesModified {
		if m := modified(t, w.ws, name); !m.After(built) {
			r.fail("after the undo %s has time %v, but something was built at %v", name, m, built)
		}
	}
}

// modified returns a file's modification time.
func modified(t *testing.T, dir, name string) time.Time {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime()
}

// table renders the rows.
func table(rows []row) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "#\toutcome\tkind\tsymbol\tplace\tfiles\tchanges\trename\tbuild+vet\tundo\tnote")
	for i, r := range rows {
		name := r.pick.name
		if r.pick.owner != "" {
			name = r.pick.owner + "." + name
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s:%d\t%d\t%d\t%v\t%v\t%v\t%s\n", i+1, r.outcome, r.pick.kind, name, r.pick.file, r.pick.line,
			r.files, r.changes, r.rename.Round(time.Millisecond), r.check.Round(time.Millisecond), r.undo.Round(time.Millisecond), r.note)
	}
	if err := w.Flush(); err != nil {
		return err.Error()
	}
	return b.String()
}
