package e2e

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/lspclient/lsptest"
)

// stoppedDeadline is how long a question about a server that does not move may
// take until it is refused: 30 s without any sign of life, and what it takes on
// a busy machine to find that out.
const stoppedDeadline = 45 * time.Second

// serverPID returns the process of the one running server.
func (w *world) serverPID(t testing.TB) int {
	t.Helper()
	for _, s := range w.status(t).Servers {
		if s.PID != 0 {
			return s.PID
		}
	}
	t.Fatal("no server runs")
	return 0
}

// TestP02_ServerMissing asks where there is no server to be found.
func TestP02_ServerMissing(t *testing.T) {
	dir := files(t, shop)
	w := newWorld(t, dir)
	w.stop(t)
	for i, v := range w.env {
		if strings.HasPrefix(v, "PATH=") {
			w.env[i] = "PATH=" + withoutServer(t, w)
		}
	}
	before := snapshot(t, dir)
	got := refused(t, w.call(t, "aura_rename_symbol", rename("Order", "Purchase"), nil), api.ServerUnavailable)
	if !strings.Contains(encode(t, got), "auractl install") {
		t.Errorf("no command that installs it: %v", got)
	}
	unchanged(t, dir, before)
	if r := w.aura(t, "doctor", "--json"); !strings.Contains(r.stdout, "missing") {
		t.Errorf("doctor: exit %d\n%s%s", r.exit, r.stdout, r.stderr)
	}
}

// withoutServer is a PATH with the go command and the shell's programs, but no server.
func withoutServer(t testing.TB, w *world) string {
	t.Helper()
	var kept []string
	for _, v := range w.env {
		path, ok := strings.CutPrefix(v, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(path) {
			if _, err := os.Stat(filepath.Join(dir, "gopls")); err != nil {
				kept = append(kept, dir)
			}
		}
	}
	return strings.Join(kept, string(os.PathListSeparator))
}

// TestP01_ServerCannotRun finds a program that is no server.
func TestP01_ServerCannotRun(t *testing.T) {
	dir := files(t, shop)
	w := newWorld(t, dir)
	w.stop(t)
	shim := filepath.Join(w.dir, "shim")
	write(t, filepath.Join(shim, "gopls"), "#!/bin/sh\necho this is no server >&2\nexit 3\n")
	if err := os.Chmod(filepath.Join(shim, "gopls"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i, v := range w.env {
		if strings.HasPrefix(v, "PATH=") {
			w.env[i] = "PATH=" + shim + string(os.PathListSeparator) + withoutServer(t, w)
		}
	}
	got := w.call(t, "aura_rename_symbol", rename("Order", "Purchase"), nil)
	if got == nil || got.Code != api.ServerUnavailable && got.Code != api.ServerCrashed {
		t.Fatalf("refused as %v, want SERVER_UNAVAILABLE or SERVER_CRASHED", got)
	}
	if !strings.Contains(encode(t, got), "this is no server") {
		t.Errorf("the server's own words are lost: %s", encode(t, got))
	}
}

// slack is for noticing a death and starting a process.
const slack = time.Second

// TestP10_ServerKilled kills the server between two questions: the next answer
// is right, and comes within the time that the first one took.
func TestP10_ServerKilled(t *testing.T) {
	// Other tests may take the machine away once, but hardly three times.
	for try := 1; ; try++ {
		cold, killed := coldAndKilled(t)
		t.Logf("%v cold, %v after the kill", cold, killed)
		if killed <= cold+slack {
			return
		}
		if try == 3 {
			t.Fatalf("the answer after the kill took %v; cold it took %v", killed, cold)
		}
	}
}

func coldAndKilled(t *testing.T) (cold, killed time.Duration) {
	t.Helper()
	dir := module(t, cobra)
	w := newWorld(t, dir)
	var before, after api.Places
	start := time.Now()
	w.must(t, "aura_references", map[string]any{"symbolName": "Command", "symbolKind": "type", "limit": all}, &before)
	cold = time.Since(start)
	w.kill(t, w.serverPID(t))
	start = time.Now()
	w.must(t, "aura_references", map[string]any{"symbolName": "Command", "symbolKind": "type", "limit": all}, &after)
	killed = time.Since(start)
	if before.Total == 0 || after.Total != before.Total || !after.Complete {
		t.Errorf("%d places before the kill, %d after it (complete: %v)", before.Total, after.Total, after.Complete)
	}
	return cold, killed
}

// TestP06_ServerStopped stops the server with a signal: it reads nothing and
// says nothing, for ever.
func TestP06_ServerStopped(t *testing.T) {
	dir := files(t, shop)
	w := newWorld(t, dir)
	var places api.Places
	w.must(t, "aura_references", map[string]any{"symbolName": "Order", "limit": all}, &places)
	before := snapshot(t, dir)
	pid := w.serverPID(t)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	got := refused(t, w.call(t, "aura_rename_symbol", rename("Order", "Purchase"), nil), api.ServerTimeout)
	if took := time.Since(start); took > stoppedDeadline {
		t.Errorf("refused after %v; the deadline is %v", took, stoppedDeadline)
	}
	t.Logf("refused after %v: %v", time.Since(start).Round(time.Millisecond), got)
	unchanged(t, dir, before)
	// The stuck server was replaced.
	var again api.Places
	w.must(t, "aura_references", map[string]any{"symbolName": "Order", "limit": all}, &again)
	if again.Total != places.Total {
		t.Errorf("%d places, %d before", again.Total, places.Total)
	}
}

// TestTimeoutAndCancel bound a question that would wait for a stopped server.
func TestTimeoutAndCancel(t *testing.T) {
	dir := files(t, shop)
	w := newWorld(t, dir)
	w.must(t, "aura_references", map[string]any{"symbolName": "Order"}, nil)
	pid := w.serverPID(t)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(pid, syscall.SIGCONT) }()

	r := w.aura(t, "--timeout", "700ms", "call", "aura_references", `{"symbolName":"Order"}`)
	got, err := r.answer(nil)
	if err != nil {
		t.Fatal(err)
	}
	refused(t, got, api.Timeout)
	if r.took > 10*time.Second {
		t.Errorf("took %v", r.took)
	}

	c := w.dial(t)
	id := c.post("aura_references", map[string]any{"workspace": dir, "symbolName": "Order"})
	c.line(map[string]any{"jsonrpc": "2.0", "method": "$/cancelRequest", "params": map[string]any{"id": id}})
	answer := c.wait(id)
	if answer.Error == nil || answer.Error.Code != -32800 || answer.Error.Data == nil || answer.Error.Data.Code != api.Cancelled {
		t.Errorf("cancelled: %+v", answer)
	}
}

// TestInterrupted stops a command as a person does who has waited enough.
func TestInterrupted(t *testing.T) {
	dir := files(t, shop)
	w := newWorld(t, dir)
	w.must(t, "aura_references", map[string]any{"symbolName": "Order"}, nil)
	before := snapshot(t, dir)
	pid := w.serverPID(t)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(pid, syscall.SIGCONT) }()

	cmd := exec.Command(filepath.Join(w.bin, "auractl"), "call", "aura_rename_symbol", encode(t, rename("Order", "Purchase")))
	cmd.Dir, cmd.Env = dir, w.env
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, 20*time.Second, "the server has a request", func() bool {
		for _, s := range w.status(t).Servers {
			if s.Queue > 0 {
				return true
			}
		}
		return false
	})
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	_ = cmd.Wait()
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it ended %v after the interrupt", took)
	}
	r := result{stdout: stdout.String(), stderr: stderr.String(), exit: cmd.ProcessState.ExitCode()}
	got, err := r.answer(nil)
	if err != nil {
		t.Fatalf("%v\n%s%s", err, r.stdout, r.stderr)
	}
	refused(t, got, api.Cancelled)
	unchanged(t, dir, before)
}

// TestOverloaded asks a stopped server more than its queue holds.
func TestOverloaded(t *testing.T) {
	dir := files(t, shop)
	w := newWorld(t, dir)
	w.must(t, "aura_references", map[string]any{"symbolName": "Order"}, nil)
	pid := w.serverPID(t)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	c := w.dial(t)
	const flood = 2000
	first := c.post("aura_references", map[string]any{"workspace": dir, "symbolName": "Order"})
	for range flood - 1 {
		c.post("aura_references", map[string]any{"workspace": dir, "symbolName": "Order"})
	}
	overloaded, answered := 0, 0
	var once sync.Once
	for id := first; id < first+flood; id++ {
		r := c.waitAny()
		answered++
		switch {
		case r.Error != nil && r.Error.Data != nil && r.Error.Data.Code == api.Overloaded:
			overloaded++
			// Enough is proven: let the rest be answered.
			once.Do(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
		case r.Error != nil:
			t.Fatalf("answer %d: %+v", answered, r.Error)
		}
	}
	if overloaded == 0 {
		t.Errorf("%d requests at once to a stopped server, and none was OVERLOADED", flood)
	}
	t.Logf("%d of %d requests were OVERLOADED, all others answered", overloaded, flood)
}

// fake puts a program in place of the server that behaves as config says, once
// it has told the real one's version.
func (w *world) fake(t testing.TB, config lsptest.Config) {
	t.Helper()
	argv, env := lsptest.Command(t, config)
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	shim := filepath.Join(w.dir, "shim")
	write(t, filepath.Join(shim, "gopls"), "#!/bin/sh\nif [ \"$1\" = version ]; then exec "+quote(w.gopls)+" version; fi\n"+
		"export "+env[0][:strings.Index(env[0], "=")+1]+quote(env[0][strings.Index(env[0], "=")+1:])+"\nexec "+quote(argv[0])+"\n")
	if err := os.Chmod(filepath.Join(shim, "gopls"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i, v := range w.env {
		if path, ok := strings.CutPrefix(v, "PATH="); ok {
			w.env[i] = "PATH=" + shim + string(os.PathListSeparator) + path
		}
	}
}

// TestP03_ServerCrashesOnTheQuestion has a server that dies of being asked, the
// second time too.
func TestP03_ServerCrashesOnTheQuestion(t *testing.T) {
	dir := files(t, shop)
	w := newWorld(t, dir)
	w.stop(t)
	w.fake(t, lsptest.Config{
		Extensions: []string{".go"},
		Loading:    lsptest.Loading{Millis: 1, Title: "Setting up workspace", Message: "Finished loading packages."},
		Faults: []lsptest.Fault{
			{On: "initialized", Do: lsptest.Stderr, Text: "out of cheese\n"},
			{On: "textDocument/rename", Do: lsptest.Kill},
		},
	})
	before := snapshot(t, dir)
	got := refused(t, w.call(t, "aura_rename_symbol", rename("store", "keep"), nil), api.ServerCrashed)
	if !strings.Contains(encode(t, got), "out of cheese") {
		t.Errorf("the server's last words are lost: %s", encode(t, got))
	}
	unchanged(t, dir, before)
}

// TestServerThatNeverSaysItIsReady answers at once and never says that it knows
// the project: what it answers is marked, and nothing is written on its word.
func TestServerThatNeverSaysItIsReady(t *testing.T) {
	dir := files(t, shop)
	w := newWorld(t, dir)
	w.stop(t)
	w.env = append(w.env, "AURA_LIMITS_LOADING_SECONDS=1")
	w.fake(t, lsptest.Config{Extensions: []string{".go"}})
	before := snapshot(t, dir)
	var refs api.Places
	w.must(t, "aura_references", map[string]any{"symbolName": "store"}, &refs)
	if refs.Complete || len(refs.Warnings) == 0 {
		t.Errorf("complete: %v, warnings %q; want an answer that says what is missing", refs.Complete, refs.Warnings)
	}
	for _, validate := range []bool{true, false} {
		params := rename("store", "keep")
		params["validateCompilation"] = validate
		got := refused(t, w.call(t, "aura_rename_symbol", params, nil), api.ServerTimeout)
		if !strings.Contains(got.Message, "gopls") || !strings.Contains(got.Message, "nothing was changed") {
			t.Errorf("the message says not who and what: %s", got.Message)
		}
		unchanged(t, dir, before)
	}
	params := rename("store", "keep")
	params["preview"] = true
	var preview api.EditResult
	w.must(t, "aura_rename_symbol", params, &preview)
	if preview.Complete || len(preview.Warnings) == 0 {
		t.Errorf("a preview that may lack places does not say so: %+v", preview)
	}
	unchanged(t, dir, before)
}

// TestServerKeepsDying kills every server that it sees, again and again. That
// may leave one alive for long enough: then the rename is whole, else it is
// refused with a word.
func TestServerKeepsDying(t *testing.T) {
	dir := files(t, shop)
	w := newWorld(t, dir)
	w.must(t, "aura_references", map[string]any{"symbolName": "Order"}, nil)
	before := snapshot(t, dir)
	ctx, cancel := context.WithCancel(context.Background())
	var killer sync.WaitGroup
	killer.Go(func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				for pid, line := range w.processes() {
					if program, _, _ := strings.Cut(line, " "); filepath.Base(program) == "gopls" {
						_ = syscall.Kill(pid, syscall.SIGKILL)
					}
				}
			}
		}
	})
	got := w.call(t, "aura_rename_symbol", rename("Order", "Purchase"), nil)
	cancel()
	killer.Wait()
	switch {
	case got == nil:
		if !strings.Contains(read(t, filepath.Join(dir, "draft.go")), "Purchase") {
			t.Error("half of the rename is missing")
		}
		builds(t, dir)
	case got.Code == api.ServerCrashed || got.Code == api.ServerUnavailable:
		unchanged(t, dir, before)
	default:
		t.Errorf("refused as %v", got)
	}
}
