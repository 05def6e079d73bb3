package watch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Bounds of the time between two rounds of polling: a round may take one part
// in pollShare of the time.
const (
	pollShare = 20
	maxPoll   = time.Minute
)

// pollNode has a folder polled, in which there was what the stamps are of.
func (t *tree) pollNode(n *node, reason string, stamps map[string]Stamp) {
	if t.polled == 0 && t.r.w.fs != nil {
		t.r.w.log.Warn("folders are polled", "root", t.r.path, "from", n.path, "reason", reason)
	}
	n.polled, n.reason, n.entries = true, reason, stamps
	t.polled++
}

// polls reports whether there is anything to look at from time to time.
func (t *tree) polls() bool { return t.polled > 0 || t.lost }

func (t *tree) pollDue() bool { return t.polls() && !time.Now().Before(t.nextPoll) }

// poll compares every polled folder with what it was. With upgrade it first
// tries to watch them instead, as the kernel may have room by now.
func (t *tree) poll(upgrade bool) {
	if !t.polls() {
		return
	}
	began := time.Now()
	if t.lost {
		if there, err := Lstat(t.r.path); err == nil && there.ID == t.r.id {
			t.rebuild()
		}
		t.nextPoll = began.Add(t.r.w.opts.PollInterval)
		return
	}
	if there, err := Lstat(t.r.path); err != nil || there.ID != t.r.id {
		t.lose()
		return
	}
	t.r.busy() // a round may outlast what goes on at its start
	var list []*node
	for _, n := range t.byPath {
		if n.polled {
			list = append(list, n)
		}
	}
	// Parents first: what a parent has lost need not be looked at.
	slices.SortFunc(list, func(a, b *node) int { return len(a.path) - len(b.path) })
	for _, n := range list {
		if t.r.ctx.Err() != nil {
			return
		}
		if t.byPath[n.path] != n || !n.polled {
			continue
		}
		if upgrade && t.r.w.fs != nil && n.remote == "" {
			upgrade = t.upgrade(n)
		}
		t.compare(n)
	}
	took := time.Since(began)
	t.nextPoll = time.Now().Add(min(max(t.r.w.opts.PollInterval, took*pollShare), maxPoll))
}

// upgrade watches a polled folder; compare must follow. It reports whether
// another try is worth it.
func (t *tree) upgrade(n *node) bool {
	h, err := t.r.w.dirs.acquire(n.path)
	if err != nil {
		return !exhausted(err)
	}
	n.watch, n.polled = h, false
	t.polled--
	return true
}

// compare looks for what changed in a folder since it was listed last.
func (t *tree) compare(n *node) {
	list, err := os.ReadDir(n.path)
	if err != nil {
		t.add(n.path)
		if errors.Is(err, fs.ErrNotExist) {
			t.leave(n, true)
		} else {
			t.close(n)
		}
		return
	}
	old := n.entries
	n.entries = make(map[string]Stamp, len(list))
	for _, e := range list {
		name := e.Name()
		path := filepath.Join(n.path, name)
		now, err := Lstat(path)
		if err != nil {
			continue // gone meanwhile: it is missing in entries, so it is reported below
		}
		n.entries[name] = now
		was, had := old[name]
		delete(old, name)
		if c := n.children[name]; c != nil && !now.Mode.IsDir() {
			t.leave(c, true)
		}
		switch {
		case now.Mode.IsDir():
			t.compareDir(n, path, was, now)
		case had && was == now, !interesting(now.Mode) && !(had && interesting(was.Mode)):
		case !t.r.rules.Ignore(path, false):
			t.add(path)
		}
	}
	for name, was := range old {
		path := filepath.Join(n.path, name)
		if c := n.children[name]; c != nil {
			t.leave(c, true)
		}
		if !t.r.rules.Ignore(path, was.Mode.IsDir()) {
			t.add(path)
		}
	}
	if !n.polled {
		n.entries = nil
	}
}

// compareDir looks at one folder in a polled folder.
func (t *tree) compareDir(n *node, path string, was, now Stamp) {
	child := n.children[filepath.Base(path)]
	if child != nil && was.ID == now.ID && was.Mode.IsDir() {
		if child.closed && was != now {
			t.leave(child, false)
			t.enter(path, n)
		}
		return // a polled child is compared in its own turn
	}
	if was.ID != now.ID || !was.Mode.IsDir() {
		t.add(path) // something known may have been here before
	}
	if t.r.rules.Ignore(path, true) {
		return
	}
	if child != nil {
		t.leave(child, true)
	}
	t.enter(path, n)
}
