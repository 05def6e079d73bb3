package supervise

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/view"
)

// resolved is what a site led to, and what that rests on. The supervisor's mu
// guards it.
type resolved struct {
	i       *instance
	marker  string   // of the project
	members []string // of the project
	inputs  []string // files of the workspace that decided the command
	seq     uint64   // of the view, up to which none of them has changed
	at      time.Time
	asking  bool // it is being resolved again
}

// instance finds or makes the instance for w and leases it.
func (s *Supervisor) instance(ctx context.Context, w Want) (*instance, error) {
	at := siteOf(w)
	if i, err := s.known(at, w); i != nil || err != nil {
		return i, err
	}
	seq := w.View.Seq() // before the files are read
	launch, inputs, err := s.launch(ctx, w)
	if err != nil {
		return nil, unavailable(w.Engine, err)
	}
	key := instanceKey(w, launch)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errClosing()
	}
	old := s.sites[at]
	i := s.instances[key]
	if i == nil && old != nil && old.i.runs(key) {
		i = old.i
	}
	if i == nil || !i.lease() {
		if len(s.instances) >= s.limits.Instance {
			s.evictLocked()
		}
		if len(s.instances) >= s.limits.Instance {
			return nil, api.Errorf(api.Overloaded, "%d language servers are in use, which is the limit; close a workspace or wait", len(s.instances))
		}
		i = newInstance(s, key, w, launch)
		i.lease()
		s.instances[key] = i
		s.wg.Go(func() {
			i.run(s.ctx)
			s.forget(i)
		})
	}
	i.adopt(w.Project)
	s.sites[at] = &resolved{
		i: i, marker: w.Project.Marker, members: w.Project.Members, inputs: inputs, seq: seq, at: time.Now(),
	}
	if old != nil && old.i != i {
		s.supersedeLocked(old.i)
	}
	return i, nil
}

// known returns the live instance of a site, leased, unless what it rests on
// has changed. What no log tells of, such as a program that was installed
// meanwhile, is looked at behind the caller's back.
func (s *Supervisor) known(at site, w Want) (*instance, error) {
	s.mu.Lock()
	r := s.sites[at]
	if s.closed || r == nil {
		closed := s.closed
		s.mu.Unlock()
		if closed {
			return nil, errClosing()
		}
		return nil, nil
	}
	seq := r.seq
	s.mu.Unlock()
	if r.marker != w.Project.Marker || !slices.Equal(r.members, w.Project.Members) {
		return nil, nil
	}
	if w.View.Seq() != seq {
		entries, now, reset := w.View.Since(seq)
		if reset || slices.ContainsFunc(entries, func(e view.Entry) bool { return slices.Contains(r.inputs, e.Path) }) {
			return nil, nil
		}
		seq = now
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.sites[at] != r || !r.i.lease() {
		return nil, nil
	}
	r.seq = max(r.seq, seq)
	if !r.asking && time.Since(r.at) >= s.limits.Resolve {
		r.asking = true
		s.wg.Go(func() { s.resolveAgain(at, r, w) })
	}
	return r.i, nil
}

// Resolve returns the command that a lease of w would run, and how the instance
// is that has it; its State is absent when there is none. It starts nothing.
// Errors are *api.Error.
func (s *Supervisor) Resolve(ctx context.Context, w Want) (adapters.Launch, Status, error) {
	launch, _, err := s.launch(ctx, w)
	if err != nil {
		return launch, Status{}, unavailable(w.Engine, err)
	}
	key := instanceKey(w, launch)
	for _, i := range s.all() {
		if i.runs(key) {
			return launch, i.status(false), nil
		}
	}
	return launch, Status{Engine: w.Engine.ID, Root: w.Project.Root, State: Absent.String()}, nil
}

// resolveAgain looks whether the command of a site is still the same. If not,
// the next lease takes another server.
func (s *Supervisor) resolveAgain(at site, r *resolved, w Want) {
	launch, _, err := s.launch(s.ctx, w)
	key := instanceKey(w, launch)
	s.mu.Lock()
	defer s.mu.Unlock()
	r.asking, r.at = false, time.Now()
	switch {
	case s.sites[at] != r || s.closed:
	case err != nil: // what runs goes on; a new start will say what is wrong
		s.log.Debug("command of a server in use cannot be resolved any more", "server", w.Engine.ID, "error", err)
	case !r.i.runs(key):
		s.log.Info("server is replaced: its command, settings or environment changed", "server", w.Engine.ID, "root", w.Project.Root)
		delete(s.sites, at)
		s.supersedeLocked(r.i)
	}
}

// supersedeLocked gives an instance up that no site leads to any more, as soon
// as nobody uses it.
func (s *Supervisor) supersedeLocked(i *instance) {
	for _, r := range s.sites {
		if r.i == i {
			return
		}
	}
	i.supersede()
}

// Retain gives the instances of a view up whose project is no more, as soon as
// nobody uses them.
func (s *Supervisor) Retain(v *view.View, keep func(language, root string) bool) {
	for _, i := range s.all() {
		if i.view == v && !keep(i.want.Language.ID, i.want.Project.Root) {
			i.log.Info("server is given up: its project is gone")
			i.supersede()
		}
	}
}

// adopt takes over what is known of the project now. The caller holds the
// supervisor's mu.
func (i *instance) adopt(p adapters.Project) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.superseded = false
	if i.project.Marker == p.Marker && slices.Equal(i.project.Members, p.Members) {
		return
	}
	i.project = p
	if i.gen != nil {
		i.gen.mirror.again.Store(true) // documents of new members have to be opened
	}
}

// unit returns the project as it was last seen.
func (i *instance) unit() adapters.Project {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.project
}

// runs reports whether the instance is, or after a restart became, what a key stands for.
func (i *instance) runs(key string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return !i.closing && (i.key == key || i.became == key)
}

// supersede gives the instance up as soon as nobody uses it.
func (i *instance) supersede() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.superseded = true
	i.endLocked()
}

// endLocked gives up an instance that nobody uses and nobody will. The caller holds mu.
func (i *instance) endLocked() {
	if i.superseded && i.leases == 0 && !i.closing {
		i.closing = true
		i.giveUp()
		i.broadcast()
	}
}

// launch resolves the command of an engine. It starts nothing. inputs are the
// files of the workspace that were read for it, or looked for.
func (s *Supervisor) launch(ctx context.Context, w Want) (l adapters.Launch, inputs []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	id := w.Engine.ID
	if s.o.Disabled(id) {
		return l, nil, disabled(w.Engine)
	}
	l, err = w.Engine.Launch(ctx, adapters.Site{
		Root:    w.Project.Root,
		Marker:  w.Project.Marker,
		Members: w.Project.Members,
		Trusted: w.Trusted,
		Env:     named(w),
		Command: s.o.Command(id),
		Look:    func(name string) (string, error) { return s.o.Look(id, name, w.Env["PATH"]) },
		Scratch: s.o.Scratch,
		Version: func(bin string) (string, error) { return s.o.Version(id, bin, w.Env["PATH"]) },
		Read: func(path string) ([]byte, error) {
			inputs = append(inputs, path)
			d, err := w.View.Read(ctx, path)
			return d.Content, err
		},
		Setting: func(key string) (any, bool) { return s.o.Setting(id, key) },
	})
	return l, inputs, err
}

// found are the variables by which programs are found.
var found = [...]string{"PATH", "HOME"}

// named keeps the variables that the engine declares, and those by which
// programs are found.
func named(w Want) map[string]string {
	out := make(map[string]string)
	for _, name := range append(found[:], w.Engine.Env...) {
		if v, ok := w.Env[name]; ok {
			out[name] = v
		}
	}
	return out
}

// site is what was asked for, by which a lease finds its instance without
// resolving the command again.
type site struct {
	view                       *view.View
	trusted                    bool
	root, engine, purpose, env string
}

// siteOf is called for every lease.
func siteOf(w Want) site {
	var env strings.Builder
	add := func(name string) {
		if v, ok := w.Env[name]; ok {
			env.WriteString(name)
			env.WriteByte('=')
			env.WriteString(v)
		}
		env.WriteByte(0)
	}
	for _, name := range found {
		add(name)
	}
	for _, name := range w.Engine.Env {
		add(name)
	}
	return site{view: w.View, trusted: w.Trusted, root: w.Project.Root, engine: w.Engine.ID, purpose: w.Purpose, env: env.String()}
}

func instanceKey(w Want, l adapters.Launch) string {
	return digest(fmt.Sprintf("%p", w.View), w.Project.Root, w.Engine.ID, w.Purpose, fmt.Sprint(w.Trusted), l.Argv, l.Dir, l.Settings, l.Named)
}

func digest(parts ...any) string {
	b, err := json.Marshal(parts)
	if err != nil {
		b = fmt.Appendf(nil, "%#v", parts) // settings that JSON cannot hold still make a key
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}
