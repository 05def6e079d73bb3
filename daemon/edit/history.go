package edit

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"github.com/auralsp/aura/lspclient/change"
)

// Record is one transaction of the history.
type Record struct {
	ID        string
	Token     string // undoes it
	Time      time.Time
	Operation string
	Summary   string // in words; of an undo, that of what was taken back
	Client    string
	Session   string
	Files     []FileRecord
	Undone    bool   // it was taken back
	UndoneBy  string // token of the undo: it takes the undo back
	Undoes    string // token of the transaction that this one took back
	Answer    []byte // CommitInfo.Answer; only Lookup gives it
}

// FileRecord is one change of a Record. Paths are below the root, with "/".
type FileRecord struct {
	Kind    change.Kind
	Path    string
	NewPath string // of a rename
}

// History lists the committed transactions that are kept, newest first, at
// most limit of them; 0 means all.
func (e *Engine) History(ctx context.Context, root string, limit int) ([]Record, error) {
	if err := e.enter(); err != nil {
		return nil, err
	}
	defer e.leave()
	w, err := e.workspace(ctx, root)
	if err != nil {
		return nil, err
	}
	if err := w.usable(); err != nil {
		return nil, err
	}
	w.retain()
	w.mu.Lock()
	entries := slices.Clone(w.entries)
	w.mu.Unlock()
	var list []Record
	for _, n := range slices.Backward(entries) {
		if n.state != stateCommitted {
			continue
		}
		if limit > 0 && len(list) == limit {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, refuse(err, "history")
		}
		rec, err := w.record(n, false)
		if err != nil {
			return nil, refuse(err, "history")
		}
		list = append(list, rec)
	}
	return list, nil
}

// Lookup returns the committed transaction that carried the key, so that a
// retry can be answered without planning.
func (e *Engine) Lookup(ctx context.Context, root, key string) (Record, bool, error) {
	if err := e.enter(); err != nil {
		return Record{}, false, err
	}
	defer e.leave()
	w, err := e.workspace(ctx, root)
	if err != nil {
		return Record{}, false, err
	}
	n, ok := w.byKey(key)
	if !ok {
		return Record{}, false, nil
	}
	rec, err := w.record(n, true)
	return rec, err == nil, refuse(err, "lookup of a key")
}

// byKey returns the committed transaction with a key.
func (w *workspace) byKey(key string) (*entry, bool) {
	if key == "" {
		return nil, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range w.entries {
		if n.key == key && n.state == stateCommitted {
			return n, true
		}
	}
	return nil, false
}

func (w *workspace) record(n *entry, answer bool) (Record, error) {
	in, err := w.intent(n)
	if err != nil {
		return Record{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	rec := Record{
		ID: n.id.String(), Token: n.token.String(), Time: n.time,
		Operation: n.operation, Summary: in.summary, Client: n.client, Session: n.session,
	}
	for _, f := range in.files {
		rec.Files = append(rec.Files, FileRecord{Kind: f.kind, Path: f.path, NewPath: f.newPath})
	}
	if n.undoneBy != nil {
		rec.Undone, rec.UndoneBy = true, n.undoneBy.token.String()
	}
	if u := w.byID[n.undoes]; u != nil {
		rec.Undoes = u.token.String()
	}
	if answer {
		raw, err := w.log.read(n.endOff, recCommitted, n.id)
		if err != nil {
			return Record{}, err
		}
		c, err := decodeCommitment(raw.payload)
		if err != nil {
			return Record{}, err
		}
		rec.Answer = c.answer
	}
	return rec, nil
}

// Report is what Doctor finds in one workspace.
type Report struct {
	// Journal is the file of the records.
	Journal string
	// Locked says why nothing is written in this workspace, and Steps what to
	// do about it; both are empty when all is well.
	Locked string
	Steps  []string
	// Conflicts are files that an unfinished edit could not put back because
	// another program wrote them. Nothing of theirs was touched.
	Conflicts []Conflict
	// Transactions and Bytes tell what is kept for an undo.
	Transactions int
	Bytes        int64
}

// Conflict is a file with two versions.
type Conflict struct {
	Path      string // absolute
	Kept      string // absolute path of the other version; empty when there is none
	Reason    string
	Operation string
	Time      time.Time
}

// Doctor reports on the journal of a workspace.
func (e *Engine) Doctor(ctx context.Context, root string) (Report, error) {
	if err := e.enter(); err != nil {
		return Report{}, err
	}
	defer e.leave()
	w, err := e.workspace(ctx, root)
	if err != nil {
		return Report{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	r := Report{Journal: filepath.Join(w.where, journalName)}
	if w.locked != nil {
		r.Locked = w.locked.Error()
		r.Steps = []string{
			"the files of the workspace are as they are: compare them with your version control",
			"stop the daemon: auractl stop",
			"move the journal away: mv '" + r.Journal + "' '" + r.Journal + ".damaged' (earlier edits can then no longer be undone)",
		}
		return r, nil
	}
	for _, n := range w.entries {
		if n.state == stateCommitted {
			r.Transactions++
		}
		if n.holds() {
			r.Bytes += n.bytes
		}
		for _, c := range n.conflicts {
			out := Conflict{Path: filepath.Join(w.root, c.path), Reason: c.reason, Operation: n.operation, Time: n.time}
			if c.kept != "" {
				out.Kept = filepath.Join(w.root, c.kept)
			}
			r.Conflicts = append(r.Conflicts, out)
		}
	}
	return r, nil
}
