package validate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/auralsp/aura/adapters"
)

// run is one request under way.
type run struct {
	*Validator
	req     Request
	outer   context.Context // the caller's
	ctx     context.Context // with the time limit
	cancel  context.CancelFunc
	started time.Time
	compare *comparison
	inPlace bool // the checks run on the real tree
	// real is the state of the real tree; nil while it is not known, then no
	// result of earlier is used. In place it is that of the beginning.
	real state
	look sync.Once // in the shadow: real is only read when it is of use

	mu       sync.Mutex // guards the rest
	verdicts []verdict
	results  []finding // to be kept if the tree stayed as it was
	planned  *lines
	current  *lines
}

// finding is the result of a command that ran.
type finding struct {
	c       command
	planned bool // on the tree with the change, which is not the real one
	found   []problem
}

// verdict is what the checks of one unit say.
type verdict struct {
	fresh, existing, warnings []problem
	commands                  []string
	skipped                   string
	timedOut                  bool
	notes                     []string
}

// errTimedOut ends a unit whose check did not end in time.
var errTimedOut = errors.New("the check did not end in time")

func (v *Validator) begin(ctx context.Context, req Request) *run {
	if req.Timeout <= 0 {
		req.Timeout = DefaultTimeout
	}
	r := &run{
		Validator: v, req: req, outer: ctx, started: time.Now(),
		compare:  newComparison(req.Files, req.Renamed),
		verdicts: make([]verdict, len(req.Units)),
		planned:  newLines(req.Files),
		current:  newLines(nil),
	}
	r.ctx, r.cancel = context.WithTimeout(ctx, req.Timeout)
	return r
}

// observe reads the content of everything that a check reads, as far as that
// is known, and when any of it changed last; nil when it is too much to be
// worth it.
func (r *run) observe() (state, time.Time) {
	folders := []string{r.req.Root}
	for _, u := range r.req.Units {
		for _, dir := range append([]string{u.Project.Root}, u.Project.Members...) {
			if dir != "" && !slices.ContainsFunc(folders, func(f string) bool { return within(f, dir) }) {
				folders = append(folders, dir)
			}
		}
	}
	st, changed, err := r.inputs.read(r.ctx, folders)
	if err != nil {
		r.log.Info("results of checks are not kept", "root", r.req.Root, "reason", err)
		return nil, time.Time{}
	}
	return st, changed
}

// each runs f for every unit, several at a time.
func (r *run) each(f func(context.Context, int, Unit) (verdict, error)) error {
	group, ctx := errgroup.WithContext(r.ctx)
	group.SetLimit(parallel())
	for n, u := range r.req.Units {
		group.Go(func() error {
			v, err := f(ctx, n, u)
			if errors.Is(err, errTimedOut) {
				v.timedOut, err = true, nil
			}
			if missing := new(missingError); errors.As(err, &missing) {
				v.skipped, err = missing.Error(), nil
			}
			if unable := new(adapters.UnableError); errors.As(err, &unable) {
				v.skipped, err = unable.Reason, nil
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			r.verdicts[n] = v
			return err
		})
	}
	err := group.Wait()
	if err != nil && r.outer.Err() != nil {
		return context.Cause(r.outer)
	}
	return err
}

// checkID tells the checks of a unit apart; their order may change with the tree.
type checkID struct{ name, dir string }

func idOf(ck adapters.Check) checkID { return checkID{ck.Name, ck.Dir} }

// unit runs the checks of one project on the changed tree, in order, until one
// of them finds new errors. before gives the errors that a check found before
// the change; false means that it did not run then. Without before there was no
// change: all errors are existing ones.
func (r *run) unit(ctx context.Context, u Unit, planned bool, exec func(command) (result, error),
	before func(checkID) ([]problem, bool, error)) (verdict, error) {
	var v verdict
	checks, err := u.Builder.Checks(ctx, r.req.Planned, u.Project, u.Changed)
	if err != nil {
		return v, fmt.Errorf("find out how %s is built: %w", u.Project.Root, err)
	}
	if len(checks) == 0 {
		v.skipped = fmt.Sprintf("%s has no check that applies", r.relative(u.Project.Root))
		return v, nil
	}
	for _, ck := range checks {
		found, err := r.full(ctx, ck, planned, r.planned, exec)
		if missing := new(missingError); errors.As(err, &missing) {
			v.skipped = missing.Error()
			if ck.Install != "" {
				v.skipped += "; install it with: " + ck.Install
			}
			return v, nil
		}
		if err != nil {
			return v, err
		}
		argv, _ := r.argv(ck)
		v.commands = append(v.commands, strings.Join(argv, " "))
		failed := make([]problem, 0, len(found))
		for _, p := range found {
			if p.Warning {
				v.warnings = append(v.warnings, p)
			} else if !v.holds(p) {
				failed = append(failed, p)
			}
		}
		if len(failed) == 0 {
			continue
		}
		if before == nil {
			v.existing = append(v.existing, failed...)
			continue
		}
		old, known, err := before(idOf(ck))
		if err != nil {
			return v, err
		}
		if !known {
			v.notes = append(v.notes, fmt.Sprintf("%s was not run before the change: all of its errors count as new", ck.Name))
		}
		fresh, existing := r.compare.split(old, failed)
		v.existing = append(v.existing, existing...)
		if v.fresh = fresh; len(fresh) > 0 {
			return v, nil
		}
	}
	return v, nil
}

// holds reports whether an earlier check of the unit found the error already.
func (v *verdict) holds(p problem) bool {
	return slices.ContainsFunc(v.existing, func(q problem) bool {
		return q.Path == p.Path && q.Line == p.Line && q.Message == p.Message
	})
}

// before returns the errors that a check of a unit finds on the real tree as
// it is; false when there is no such check.
func (r *run) before(ctx context.Context, u Unit, id checkID, exec func(command) (result, error)) ([]problem, bool, error) {
	checks, err := u.Builder.Checks(ctx, r.req.Current, u.Project, u.Changed)
	if err != nil {
		return nil, false, err
	}
	i := slices.IndexFunc(checks, func(ck adapters.Check) bool { return idOf(ck) == id })
	if i < 0 {
		return nil, false, nil
	}
	found, err := r.full(ctx, checks[i], false, r.current, exec)
	return slices.DeleteFunc(slices.Clone(found), func(p problem) bool { return p.Warning }), err == nil, err
}

// full returns all that a check finds, also where its command stops after a
// number of errors: one that was there before must not be hidden then.
func (r *run) full(ctx context.Context, ck adapters.Check, planned bool, l *lines, exec func(command) (result, error)) ([]problem, error) {
	found, err := r.check(ctx, ck, planned, l, exec)
	if err != nil || len(ck.All) == 0 || !slices.ContainsFunc(found, func(p problem) bool { return !p.Warning }) {
		return found, err
	}
	ck.Argv = ck.All
	return r.check(ctx, ck, planned, l, exec)
}

// argv returns the command of a check where this run makes it, and the folder
// where it keeps what it builds, if it keeps something.
func (r *run) argv(ck adapters.Check) (argv []string, kept string) {
	argv = ck.Argv
	if r.inPlace && len(ck.Place) > 0 {
		argv = ck.Place
	}
	kept = r.folders.path(ck, argv)
	argv = slices.Clone(argv)
	for i, arg := range argv {
		if before, ok := strings.CutSuffix(arg, adapters.KeptFolder); ok {
			argv[i] = before + kept
		}
	}
	return argv, kept
}

// check returns what one command finds: on the real tree, or on the planned one.
func (r *run) check(ctx context.Context, ck adapters.Check, planned bool, l *lines, exec func(command) (result, error)) ([]problem, error) {
	argv, folder := r.argv(ck)
	c := command{dir: ck.Dir, kept: folder, drops: ck.Stale == adapters.ByMTime, env: setenv(append(r.req.Env[:len(r.req.Env):len(r.req.Env)], ck.Env...), "PWD", ck.Dir)}
	program, err := lookPath(argv[0], c.env)
	if err != nil {
		return nil, err
	}
	c.argv = append([]string{program}, argv[1:]...)
	for _, name := range ck.Kept {
		c.env = setenv(c.env, name, c.kept)
	}
	if !planned && r.real != nil {
		if found, ok := r.known.get(keyOf(r.real, c)); ok {
			return found, nil
		}
	}
	res, err := exec(c)
	if err != nil {
		return nil, err
	}
	if res.timedOut {
		return nil, errTimedOut
	}
	parsed, err := ck.Parse(res.output, res.exit)
	if err != nil {
		return nil, fmt.Errorf("read the output of %s: %w", ck.Name, err)
	}
	if res.exit != 0 && !slices.ContainsFunc(parsed, func(p adapters.Problem) bool { return !p.Warning }) {
		parsed = append(parsed, adapters.Problem{Message: failure(ck.Name, res)})
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	found := l.locate(parsed)
	if res.dropped == 0 {
		r.results = append(r.results, finding{c, planned, found})
	}
	return found, nil
}

// failure describes a command that failed without naming a place.
func failure(name string, res result) string {
	tail := strings.TrimSpace(string(res.output[max(0, len(res.output)-1024):]))
	return strings.TrimSpace(fmt.Sprintf("%s failed with exit status %d: %s", name, res.exit, tail))
}

// outcome joins the verdicts.
func (r *run) outcome(where string) Outcome {
	out := Outcome{Took: time.Since(r.started)}
	var skipped []string
	for _, v := range r.verdicts {
		out.New = append(out.New, plain(v.fresh)...)
		out.Existing = append(out.Existing, plain(v.existing)...)
		out.Warnings = append(out.Warnings, plain(v.warnings)...)
		out.Notes = append(out.Notes, v.notes...)
		out.TimedOut = out.TimedOut || v.timedOut
		for _, c := range v.commands {
			if !slices.Contains(out.Commands, c) {
				out.Commands = append(out.Commands, c)
			}
		}
		if v.skipped != "" && !slices.Contains(skipped, v.skipped) {
			skipped = append(skipped, v.skipped)
		}
	}
	for _, found := range [][]adapters.Problem{out.New, out.Existing, out.Warnings} {
		slices.SortStableFunc(found, func(a, b adapters.Problem) int {
			return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
		})
	}
	out.Skipped = strings.Join(skipped, "; ")
	if len(r.req.Units) == 0 {
		out.Skipped = "no changed file belongs to a project that can be built"
	}
	if len(out.Commands) > 0 || out.TimedOut {
		out.Where = where
	}
	out.Success = len(out.Commands) > 0 && len(out.New) == 0 && !out.TimedOut
	if len(r.results) > 0 {
		out.Notes = append(out.Notes, r.keep(where)...)
	}
	return out
}

// coarse is by how much a file's time of change may lie before the moment of
// the change: kernels stamp with the clock of their last tick.
const coarse = 20 * time.Millisecond

// keep remembers the results, unless the real tree moved while the checks ran:
// then they tell of no state that ever was. In place it returns notes on what
// moved, since the build itself may have done it.
func (r *run) keep(where string) []string {
	now, changed := r.observe()
	switch {
	case now == nil, where == InShadow && !changed.Before(r.started.Add(-coarse)), where == InPlace && r.real == nil:
		return nil
	case where == InPlace && !maps.Equal(r.real, now):
		return r.foreign(r.real, now)
	}
	planned := now.after(r.req.Files)
	for _, f := range r.results {
		st := now
		if f.planned {
			st = planned
		}
		r.known.put(keyOf(st, f.c), f.found)
	}
	return nil
}

// maxForeign bounds the files that are named.
const maxForeign = 10

// foreign names the files that changed while the checks ran.
func (r *run) foreign(before, after state) []string {
	var notes []string
	for _, path := range slices.Sorted(maps.Keys(after)) {
		if h, ok := before[path]; !ok || h != after[path] {
			notes = append(notes, r.relative(path)+" was written while the build ran")
		}
	}
	for _, path := range slices.Sorted(maps.Keys(before)) {
		if _, ok := after[path]; !ok {
			notes = append(notes, r.relative(path)+" was removed while the build ran")
		}
	}
	if len(notes) > maxForeign {
		notes = append(notes[:maxForeign], fmt.Sprintf("and %d more files changed while the build ran", len(notes)-maxForeign))
	}
	return notes
}

func (r *run) relative(path string) string {
	if rel, err := filepath.Rel(r.req.Root, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

func plain(in []problem) []adapters.Problem {
	out := make([]adapters.Problem, 0, len(in))
	for _, p := range in {
		out = append(out, p.Problem)
	}
	return out
}

// cache holds the latest results by key.
type cache struct {
	mu    sync.Mutex // guards the rest
	found map[key][]problem
	order []key // oldest first
}

// maxKnown bounds the results that are kept; maxProblems those with many errors.
const (
	maxKnown    = 256
	maxProblems = 2000
)

func newCache() *cache { return &cache{found: make(map[key][]problem)} }

func (c *cache) get(k key) ([]problem, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.found[k]
	return found, ok
}

func (c *cache) put(k key, found []problem) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.found[k]; ok || len(found) > maxProblems {
		return
	}
	c.found[k] = found
	c.order = append(c.order, k)
	if len(c.order) > maxKnown {
		delete(c.found, c.order[0])
		c.order = c.order[1:]
	}
}
