package edit

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"syscall"
)

// realLitter is litter for the real disk.
func realLitter(e *Engine, root string) []string {
	var bad []string
	w := e.spaces[root].w
	if w.locked != nil {
		return []string{"the journal is locked: " + w.locked.Error()}
	}
	held := map[string]bool{}
	for _, n := range w.entries {
		if n.state != stateCommitted {
			bad = append(bad, fmt.Sprintf("transaction %s is not closed (state %d, %v)", n.id, n.state, n.conflicts))
		}
		for _, s := range n.stages {
			held[s] = held[s] || n.holds()
		}
	}
	for _, base := range []string{stagingGit, stagingFallback} {
		names, err := os.ReadDir(filepath.Join(root, base))
		if err == nil && len(names) == 0 {
			bad = append(bad, "empty "+base)
		}
		for _, name := range names {
			if !held[path.Join(base, name.Name())] {
				bad = append(bad, "litter: "+path.Join(base, name.Name()))
			}
		}
	}
	names, _ := os.ReadDir(w.where)
	for _, name := range names {
		if n := name.Name(); n != journalName && n != identityName && n != lockName {
			bad = append(bad, "litter in the state: "+n)
		}
	}
	return bad
}

func (b *bed) inodes() map[string]uint64 {
	b.t.Helper()
	out := map[string]uint64{}
	for rel := range b.tree() {
		info, err := os.Lstat(b.path(rel))
		must(b.t, err)
		if info.Mode().IsRegular() {
			out[rel] = info.Sys().(*syscall.Stat_t).Ino
		}
	}
	return out
}
