package proc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"
)

// ledger records children in one small file each, named by their mark. The
// entry is written before the child exists and completed after, so that at
// every moment a killed daemon's successor knows each mark that may be alive.
type ledger struct {
	dir   string
	log   *slog.Logger
	owner identity
	boot  string
}

// identity is a process that cannot be mistaken for a later one with its id.
type identity struct {
	PID   int    `json:"pid"`
	Start string `json:"start"` // as the system counts it; empty when unknown
}

type entry struct {
	Mark    string   `json:"mark"`
	Boot    string   `json:"boot"`
	Owner   identity `json:"owner"`
	Child   identity `json:"child"`
	Program string   `json:"program"`
	// Strays are descendants that carry no mark.
	Strays []identity `json:"strays,omitempty"`
}

func openLedger(dir string, log *slog.Logger) (*ledger, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("proc: ledger: %w", err)
	}
	pid := os.Getpid()
	start, _ := startOf(pid)
	return &ledger{dir: dir, log: log, owner: identity{PID: pid, Start: start}, boot: bootID()}, nil
}

func (l *ledger) file(mark string) string { return filepath.Join(l.dir, mark+".json") }

func (l *ledger) write(e entry) error {
	b, err := json.Marshal(e)
	if err != nil {
		return err
	}
	// No fsync: after a power loss there are no processes to find. The rename
	// keeps a reader from seeing half an entry.
	tmp := l.file(e.Mark) + ".tmp"
	if err := os.WriteFile(tmp, b, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, l.file(e.Mark))
}

func (l *ledger) intend(p *Process) error {
	return l.write(entry{Mark: p.mark, Boot: l.boot, Owner: l.owner, Program: p.cmd.Path})
}

func (l *ledger) started(p *Process) error { return l.record(p, nil) }

func (l *ledger) record(p *Process, strays []identity) error {
	start, err := startOf(p.pid)
	if err != nil {
		return nil // it has ended already
	}
	return l.write(entry{
		Mark: p.mark, Boot: l.boot, Owner: l.owner, Program: p.cmd.Path,
		Child: identity{PID: p.pid, Start: start}, Strays: strays,
	})
}

func (l *ledger) ended(p *Process) { _ = os.Remove(l.file(p.mark)) }

// sweep kills the children of owners that are dead and forgets their entries.
// A child is killed only if its start time or its mark proves what it is.
func (l *ledger) sweep(ctx context.Context) error {
	files, err := os.ReadDir(l.dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		path := filepath.Join(l.dir, f.Name())
		if filepath.Ext(f.Name()) != ".json" {
			_ = os.Remove(path) // a temporary file of an interrupted write
			continue
		}
		e, err := readEntry(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			l.log.Warn("ledger entry is not readable and is dropped", "file", f.Name(), "error", err)
			_ = os.Remove(path)
			continue
		}
		if e.Boot != l.boot {
			_ = os.Remove(path)
			continue
		}
		if e.Owner != l.owner && alive(e.Owner) {
			continue // another daemon's child
		}
		if e.Owner == l.owner {
			continue // ours: another Spawner of this process
		}
		deadline := time.Now().Add(2 * time.Second)
		group := members(e.Child.PID)
		killed := killRecorded(e, deadline)
		if !killed {
			group = nil // of a stranger with the same id
		}
		killKnown(e.Strays)
		left := killMarked(e.Mark, append(group, e.Strays...), deadline)
		if killed {
			l.log.Info("killed an orphan of an earlier daemon", "pid", e.Child.PID, "program", e.Program)
		}
		if left > 0 {
			l.log.Warn("orphans of an earlier daemon could not be killed", "program", e.Program, "left", left)
			continue
		}
		_ = os.Remove(path)
	}
	return nil
}

func readEntry(path string) (entry, error) {
	var e entry
	b, err := os.ReadFile(path)
	if err != nil {
		return e, err
	}
	if err := json.Unmarshal(b, &e); err != nil {
		return e, err
	}
	if e.Mark == "" || filepath.Base(path) != e.Mark+".json" {
		return e, errors.New("entry does not name its own mark")
	}
	return e, nil
}

// alive reports whether the very process id names still runs.
func alive(id identity) bool {
	if id.PID <= 0 {
		return false
	}
	start, err := startOf(id.PID)
	return err == nil && start == id.Start
}
