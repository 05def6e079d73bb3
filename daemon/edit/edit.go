package edit

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/text"
)

// Limits of one plan (ref: reliability.md section 6, "Limits").
const (
	MaxFileSize = 16 << 20
	MaxFiles    = 10_000
)

// Retention says how much of the past can be undone. Whichever bound is met
// first drops the oldest transactions; the newest always stays.
type Retention struct {
	Age   time.Duration // 0 means 14 days
	Count int           // 0 means 200 transactions
	Bytes int64         // 0 means 500 MB of replaced files
}

func (r Retention) withDefaults() Retention {
	if r.Age == 0 {
		r.Age = 14 * 24 * time.Hour
	}
	if r.Count == 0 {
		r.Count = 200
	}
	if r.Bytes == 0 {
		r.Bytes = 500_000_000
	}
	return r
}

// Options configure an Engine.
type Options struct {
	// State is the folder of the journals, $XDG_STATE_HOME/aura; it is made
	// when missing, for the user alone.
	State string
	FS    FS           // nil means Disk()
	Log   *slog.Logger // nil means none
	Now   func() time.Time
	Keep  Retention
	// Umask is what the user takes away from the modes of files and folders that
	// they make; nil means that of the process.
	Umask *uint32
	// LockWait is how long opening a workspace waits for another daemon to let
	// go of it; 0 means 2 s.
	LockWait time.Duration
}

// Engine runs the transactions of all workspaces of one daemon. It is safe for
// use by many goroutines.
type Engine struct {
	fs       FS
	state    string
	log      *slog.Logger
	now      func() time.Time
	keep     Retention
	umask    *uint32
	lockWait time.Duration
	slack    int64 // bytes of a journal that may be of no use before it is rewritten
	growth   int64 // see journalGrowth
	locks    locks
	seed     seed // bugs that tests sow

	mu      sync.Mutex // guards what follows
	closed  bool
	spaces  map[string]*opening // by canonical root
	retired []*workspace        // whose folders were replaced by others
	active  int                 // calls and transactions under way
	idle    chan struct{}       // closed when it is closed and active is 0
}

// opening is a workspace that is open or being opened.
type opening struct {
	done chan struct{} // closed when w or err is set
	w    *workspace
	err  error
}

// seed names steps to leave out or to swap, so that tests can prove that the
// crash sweep would notice.
type seed struct {
	skipStageSync, applyBeforeIntent, skipVerify, skipSlots bool
}

// Open makes an engine. Nothing is read yet: each workspace is recovered when
// it is first used, or by Recover.
func Open(o Options) (*Engine, error) {
	if !filepath.IsAbs(o.State) {
		return nil, fmt.Errorf("edit: state folder %q is not an absolute path", o.State)
	}
	e := &Engine{
		fs: o.FS, state: filepath.Clean(o.State), log: o.Log, now: o.Now,
		keep: o.Keep.withDefaults(), umask: o.Umask, lockWait: o.LockWait, slack: 1 << 20, growth: journalGrowth,
		spaces: map[string]*opening{}, idle: make(chan struct{}),
	}
	if e.fs == nil {
		e.fs = Disk()
	}
	if e.log == nil {
		e.log = slog.New(slog.DiscardHandler)
	}
	if e.now == nil {
		e.now = time.Now
	}
	if e.lockWait == 0 {
		e.lockWait = 2 * time.Second
	}
	return e, nil
}

var errClosed = api.Errorf(api.Cancelled, "the daemon is stopping: run the operation again")

// enter counts a call in, so that Close can wait for it.
func (e *Engine) enter() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return errClosed
	}
	e.active++
	return nil
}

// leave counts it out.
func (e *Engine) leave() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.active--
	if e.closed && e.active == 0 {
		close(e.idle)
	}
}

// Close refuses new work, waits for the transactions under way to commit or
// abort, and lets go of the workspaces. When ctx ends first it returns its
// error and leaves everything to the recovery at the next start.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	if !e.closed && e.active == 0 {
		close(e.idle)
	}
	e.closed = true
	e.mu.Unlock()
	select {
	case <-e.idle:
	case <-ctx.Done():
		return fmt.Errorf("edit: close: %w", ctx.Err())
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for root, o := range e.spaces {
		if o.w != nil {
			e.retired = append(e.retired, o.w)
		}
		delete(e.spaces, root)
	}
	for _, w := range e.retired {
		w.close()
	}
	e.retired = nil
	return nil
}

// Recover opens the workspace at root and takes back whatever transaction a
// crash has left unfinished. It is done at the first use anyway; calling it
// early keeps users from seeing half of an edit. A journal that cannot be
// trusted is no error here: Doctor tells of it and writing is refused.
func (e *Engine) Recover(ctx context.Context, root string) error {
	if err := e.enter(); err != nil {
		return err
	}
	defer e.leave()
	_, err := e.workspace(ctx, root)
	return err
}

// workspace returns the open workspace at root.
func (e *Engine) workspace(ctx context.Context, root string) (*workspace, error) {
	if !filepath.IsAbs(root) {
		return nil, api.Errorf(api.InvalidArgument, "workspace %q is not an absolute path", root)
	}
	canonical, err := e.fs.Canonical(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, api.Errorf(api.FileNotFound, "workspace %s does not exist", root)
	}
	if err != nil {
		return nil, refuse(err, "open workspace %s", root)
	}
	for {
		e.mu.Lock()
		o := e.spaces[canonical]
		mine := o == nil
		if mine {
			o = &opening{done: make(chan struct{})}
			e.spaces[canonical] = o
		}
		e.mu.Unlock()
		if mine {
			w := &workspace{e: e, root: canonical}
			if o.err = w.open(ctx); o.err == nil {
				o.w = w
			}
			close(o.done)
			if o.err != nil {
				e.drop(canonical, o)
				return nil, refuse(o.err, "open workspace %s", root)
			}
			return o.w, nil
		}
		select {
		case <-o.done:
		case <-ctx.Done():
			return nil, refuse(ctx.Err(), "open workspace %s", root)
		}
		if o.err != nil {
			continue // its opener was told why; try for ourselves
		}
		if o.w.same() {
			return o.w, nil
		}
		// The folder was replaced by another one: that is another workspace.
		// The old handle stays open for transactions that still use it.
		e.drop(canonical, o)
	}
}

func (e *Engine) drop(canonical string, o *opening) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.spaces[canonical] != o {
		return
	}
	delete(e.spaces, canonical)
	if o.w != nil {
		e.retired = append(e.retired, o.w)
	}
}

// A Token undoes one transaction: 128 random bits, in hexadecimal outside.
type Token [16]byte

// String returns the token as users see it.
func (t Token) String() string { return hex.EncodeToString(t[:]) }

func newToken() Token {
	var t Token
	rand.Read(t[:]) // never fails (crypto/rand)
	return t
}

func parseToken(s string) (Token, bool) {
	var t Token
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(t) {
		return t, false
	}
	copy(t[:], b)
	return t, t != Token{}
}

// Plan is what a transaction shall do.
type Plan struct {
	Root string // absolute path of the workspace
	// Files are the changes, as change.Set.Resolve returns them.
	Files []change.File
	// Base is the read set: files that the plan depends on besides those it
	// changes, with the hashes of what it read. The zero hash means that there
	// was no such file.
	Base map[string]text.Hash

	// Operation, Summary, Client and Session are told by the history. Summary
	// says in words what is changed.
	Operation, Summary, Client, Session string
	// Key makes a retry safe: while the transaction that carried it can be
	// undone, another with the same key is refused with *CommittedError.
	Key string

	// AllowControl lets the plan write control files (git hooks, CI, editor
	// configuration); AllowReadOnly files without write permission.
	AllowControl, AllowReadOnly bool
}

// CommittedError says that a plan's key was committed before.
type CommittedError struct{ Record Record }

func (e *CommittedError) Error() string {
	return fmt.Sprintf("the operation with this key was committed as %s", e.Record.Token)
}

// refuse turns an error of the system into a refusal; one that is a refusal
// already stays as it is.
func refuse(err error, format string, args ...any) error {
	var known *api.Error
	var again *CommittedError
	if err == nil || errors.As(err, &known) || errors.As(err, &again) {
		return err
	}
	what := fmt.Sprintf(format, args...)
	switch {
	case errors.Is(err, context.Canceled):
		return api.Errorf(api.Cancelled, "%s: cancelled, nothing was changed", what)
	case errors.Is(err, context.DeadlineExceeded):
		return api.Errorf(api.Timeout, "%s: out of time, nothing was changed", what)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return api.Errorf(api.Internal, "%s: the disk is full, nothing was changed: free some space and try again (%v)", what, err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return api.Errorf(api.PermissionDenied, "%s: not permitted, nothing was changed: %v", what, err)
	case errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.EXDEV):
		return api.Errorf(api.StaleContent, "%s: a folder was replaced meanwhile: run the operation again (%v)", what, err)
	case errors.Is(err, syscall.ENOTDIR):
		return api.Errorf(api.InvalidArgument, "%s: a part of the path is a file, not a folder (%v)", what, err)
	}
	return api.Errorf(api.Internal, "%s: %v", what, err)
}
