package validate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/proc"
)

// DefaultTimeout is how long all checks of one edit may take together
// (editTimeoutSeconds).
const DefaultTimeout = 300 * time.Second

// DefaultMemory bounds what one shadow keeps in memory, in bytes: staged files,
// temporary files and what the build writes into the workspace.
const DefaultMemory = 4 << 30

// The places where a check ran.
const (
	InShadow = "shadow" // a private view of the planned tree
	InPlace  = "place"  // the real tree
)

// Options are the settings of a Validator.
type Options struct {
	Spawner *proc.Spawner // starts the checks that run in place
	// Helper is the argv of a program that calls ShadowMain and nothing else
	// before it; empty means that there is no shadow.
	Helper []string
	Dir    string       // absolute private folder for state; made when missing
	Built  string       // absolute private folder for what checks build and keep; empty: below Dir
	Memory int64        // bytes; 0 means DefaultMemory
	Log    *slog.Logger // nil discards
}

// Validator runs checks. Its methods may be called at the same time.
type Validator struct {
	spawner *proc.Spawner
	shadow  *shadow
	inputs  *inputs
	known   *cache
	folders *kept
	log     *slog.Logger

	mu       sync.Mutex // guards the rest
	probed   time.Time
	possible bool
	why      string
}

// New makes a Validator. It starts nothing.
func New(o Options) (*Validator, error) {
	dir, err := filepath.Abs(o.Dir)
	if err == nil {
		err = os.MkdirAll(filepath.Join(dir, "shadow"), 0o700)
	}
	if err != nil {
		return nil, fmt.Errorf("validate: %w", err)
	}
	built := filepath.Join(dir, "built")
	if o.Built != "" {
		if built, err = filepath.Abs(o.Built); err != nil {
			return nil, fmt.Errorf("validate: %w", err)
		}
	}
	if o.Memory <= 0 {
		o.Memory = DefaultMemory
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Validator{
		spawner: o.Spawner,
		shadow:  &shadow{helper: o.Helper, mount: filepath.Join(dir, "shadow"), size: o.Memory},
		inputs:  newInputs(),
		known:   newCache(),
		folders: newKept(built),
		log:     o.Log,
	}, nil
}

// Unit is a project and what changes in it.
type Unit struct {
	Project adapters.Project
	Builder adapters.Builder
	Changed []string // absolute paths of its changed files, as they are and as they will be
}

// Request asks what a change does to its projects.
type Request struct {
	Root    string            // absolute folder of the workspace, without links in it
	Units   []Unit            // from Units
	Current adapters.Snapshot // the tree as it is
	Planned adapters.Snapshot // the tree with Files
	Files   []change.File     // the change
	Renamed []Renamed
	Env     []string      // complete environment of the commands
	Timeout time.Duration // of all of it; 0 means DefaultTimeout
}

// Outcome is what the checks found.
type Outcome struct {
	Success  bool               // checks ran and found no new errors
	Where    string             // InShadow or InPlace; empty when nothing ran
	New      []adapters.Problem // errors that the change brought
	Existing []adapters.Problem // errors that were there before
	Warnings []adapters.Problem // of the compiler
	Skipped  string             // why a check did not run, with what to do about it
	TimedOut bool
	Commands []string // that ran or whose result was known
	Took     time.Duration
	Notes    []string // for the answer's warnings
}

// Possible reports whether this system can run shadow builds, and why not. The
// answer is kept for ten minutes.
func (v *Validator) Possible(ctx context.Context) (ok bool, why string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.probed.IsZero() && time.Since(v.probed) < 10*time.Minute {
		return v.possible, v.why
	}
	ok, why = v.probe(ctx)
	if ctx.Err() == nil {
		v.probed, v.possible, v.why = time.Now(), ok, why
	}
	return ok, why
}

func (v *Validator) probe(ctx context.Context) (ok bool, why string) {
	dir, err := os.MkdirTemp(filepath.Dir(v.shadow.mount), "probe-")
	if err != nil {
		return false, err.Error()
	}
	defer os.RemoveAll(dir)
	file := staged{Kind: change.Create, Path: "probe", Content: []byte("probe")}
	_, err = v.shadow.run(ctx, dir, []staged{file}, command{})
	if refused := new(NoShadowError); errors.As(err, &refused) {
		return false, refused.Reason
	}
	if err != nil {
		return false, err.Error()
	}
	if _, err := os.Lstat(filepath.Join(dir, "probe")); err == nil {
		return false, "a file that was written in the shadow appeared in the real tree"
	}
	return true, ""
}

// Shadow checks the planned tree while the real one keeps its bytes. Errors of
// the real tree are found out only when the planned one has errors. A
// *NoShadowError means that the check has to run in place.
func (v *Validator) Shadow(ctx context.Context, req Request) (Outcome, error) {
	if ok, why := v.Possible(ctx); !ok {
		if err := context.Cause(ctx); err != nil {
			return Outcome{}, err
		}
		return Outcome{}, &NoShadowError{Reason: why}
	}
	staged, err := stage(req.Root, req.Files)
	if err != nil {
		return Outcome{}, err
	}
	r := v.begin(ctx, req)
	defer r.cancel()
	err = r.each(func(ctx context.Context, _ int, u Unit) (verdict, error) {
		current := func(c command) (result, error) { return v.shadow.run(ctx, req.Root, nil, c) }
		real := func(c command) (result, error) { return v.folders.real(ctx, c, current) }
		planned := func(c command) (result, error) {
			return v.folders.plan(ctx, c, func(c command) (result, error) { return v.shadow.run(ctx, req.Root, staged, c) }, current)
		}
		return r.unit(ctx, u, true, planned, func(id checkID) ([]problem, bool, error) {
			r.look.Do(func() { r.real, _ = r.observe() })
			return r.before(ctx, u, id, real)
		})
	})
	return r.outcome(InShadow), err
}

// Findings runs the checks on the tree as it is, with Files over it, which are
// texts that nobody has saved. All errors that they find are Existing. With
// Files, a *NoShadowError means that nothing could be checked.
func (v *Validator) Findings(ctx context.Context, req Request) (Outcome, error) {
	staged, err := stage(req.Root, req.Files)
	if err != nil {
		return Outcome{}, err
	}
	possible, why := v.Possible(ctx)
	if !possible && len(staged) > 0 {
		return Outcome{}, &NoShadowError{Reason: why}
	}
	r := v.begin(ctx, req)
	defer r.cancel()
	r.inPlace = !possible
	r.real, _ = r.observe()
	where := InShadow
	if r.inPlace {
		where = InPlace
	}
	err = r.each(func(ctx context.Context, _ int, u Unit) (verdict, error) {
		current := func(c command) (result, error) { return v.shadow.run(ctx, req.Root, nil, c) }
		exec := func(c command) (result, error) { return v.folders.real(ctx, c, current) }
		switch {
		case r.inPlace:
			exec = func(c command) (result, error) { return v.place(ctx, c) }
		case len(staged) > 0:
			exec = func(c command) (result, error) {
				return v.folders.plan(ctx, c, func(c command) (result, error) { return v.shadow.run(ctx, req.Root, staged, c) }, current)
			}
		}
		return r.unit(ctx, u, len(staged) > 0, exec, nil)
	})
	return r.outcome(where), err
}

// Baseline is what the checks say of the tree before a change in place.
type Baseline struct {
	units []map[checkID][]problem
	// TimedOut says that the checks did not end in time, so that there is
	// nothing to compare with.
	TimedOut bool
	Took     time.Duration
}

// Baseline checks the real tree as it is, before a change in place. Results
// that are known by content cost nothing.
func (v *Validator) Baseline(ctx context.Context, req Request) (*Baseline, error) {
	r := v.begin(ctx, req)
	r.inPlace = true
	defer r.cancel()
	r.real, _ = r.observe()
	b := &Baseline{units: make([]map[checkID][]problem, len(req.Units))}
	err := r.each(func(ctx context.Context, n int, u Unit) (verdict, error) {
		checks, err := u.Builder.Checks(ctx, req.Current, u.Project, u.Changed)
		b.units[n] = make(map[checkID][]problem, len(checks))
		for _, ck := range checks {
			found, err := r.full(ctx, ck, false, r.current, func(c command) (result, error) { return v.place(ctx, c) })
			if err != nil {
				return verdict{}, err
			}
			b.units[n][idOf(ck)] = slices.DeleteFunc(slices.Clone(found), func(p problem) bool { return p.Warning })
		}
		return verdict{}, err
	})
	out := r.outcome(InPlace)
	b.TimedOut, b.Took = out.TimedOut, out.Took
	return b, err
}

// Place checks the real tree after the change was made in it.
func (v *Validator) Place(ctx context.Context, req Request, b *Baseline) (Outcome, error) {
	r := v.begin(ctx, req)
	r.inPlace = true
	defer r.cancel()
	r.real, _ = r.observe()
	err := r.each(func(ctx context.Context, n int, u Unit) (verdict, error) {
		place := func(c command) (result, error) { return v.place(ctx, c) }
		return r.unit(ctx, u, false, place, func(id checkID) ([]problem, bool, error) {
			if b == nil || n >= len(b.units) {
				return nil, false, nil
			}
			found, ok := b.units[n][id]
			return found, ok, nil
		})
	})
	return r.outcome(InPlace), err
}

// place runs a check on the real tree.
func (v *Validator) place(ctx context.Context, c command) (result, error) {
	return v.folders.real(ctx, c, func(c command) (result, error) { return runPlace(ctx, v.spawner, c) })
}

// parallel bounds how many projects are built at a time.
func parallel() int { return runtime.NumCPU() }
