package edit

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path"
	"path/filepath"
	"slices"
)

// takeBack takes back every transaction that did not end, the newest first, and
// sweeps what crashes left in the staging folders. It may be cut off and run
// again at any point.
func (w *workspace) takeBack(ctx context.Context) error {
	for _, n := range slices.Backward(slices.Clone(w.entries)) {
		if n.state != stateOpen {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.recoverOne(ctx, n); err != nil {
			return err
		}
	}
	if err := w.sweep(); err != nil {
		w.e.log.Warn("sweep of staging folders", slog.String("root", w.root), slog.Any("err", err))
	}
	w.retain()
	return nil
}

func (w *workspace) recoverOne(ctx context.Context, n *entry) error {
	r := &rollback{w: w, id: n.id, in: n.intent, recovery: true}
	defer func() {
		for _, d := range r.stages {
			if d != nil {
				d.Close()
			}
		}
	}()
	for _, rel := range n.stages {
		d, err := w.dir.Open(rel)
		if gone(err) {
			d, err = nil, nil
		}
		if err != nil {
			return err
		}
		r.stages = append(r.stages, d)
	}
	// A workspace above or below this one may be at work on the same files.
	wants := make([]want, 0, len(n.intent.ops))
	for i := range n.intent.ops {
		wants = append(wants, want{name: filepath.Join(w.root, n.intent.ops[i].path), exclusive: true})
	}
	release, err := w.e.locks.acquire(ctx, wants)
	if err != nil {
		return err
	}
	defer release()
	files := len(n.intent.files)
	conflicts, err := r.run(n)
	if err != nil {
		return err
	}
	w.e.log.Info("took back an unfinished transaction", slog.String("tx", n.id.String()),
		slog.Int("files", files), slog.Int("conflicts", len(conflicts)))
	return nil
}

// sweep removes staging folders of ours that no transaction refers to: those
// of transactions that died before their intent, and of dropped ones.
func (w *workspace) sweep() error {
	used := map[string]bool{}
	bases := map[string]bool{stagingGit: true, stagingFallback: true}
	for _, n := range w.entries {
		for _, rel := range n.stages {
			bases[path.Dir(rel)] = true
			if n.holds() {
				used[rel] = true
			}
		}
	}
	var stray []string
	for base := range bases {
		d, err := w.dir.Open(base)
		if gone(err) || errors.Is(err, fs.ErrPermission) {
			continue
		}
		if err != nil {
			return err
		}
		names, err := d.Names()
		d.Close()
		if err != nil {
			return err
		}
		if len(names) == 0 {
			if err := w.removeBase(base); err != nil {
				return err
			}
		}
		for _, name := range names {
			rel := path.Join(base, name)
			if _, ours := w.own(name); ours && !used[rel] {
				stray = append(stray, rel)
			}
		}
	}
	slices.Sort(stray)
	return w.removeStages(stray)
}
