package e2e

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/lspclient/lsptest"
)

// patience bounds one command; a longer one hangs, whatever its own deadline.
const patience = 3 * time.Minute

// world is one user: a home, the XDG folders, and so a daemon of its own.
type world struct {
	dir   string   // everything below; unique to this world
	ws    string   // the workspace
	bin   string   // the built programs
	gopls string   // the real server
	env   []string // complete environment of the commands

	credential *syscall.Credential // of the commands; nil for the user of the test
}

// newWorld makes a user whose workspace is ws and who trusts it. The daemon is
// stopped at the end of the test, and nothing of the world may run on.
func newWorld(t testing.TB, ws string) *world {
	t.Helper()
	w := newStranger(t, ws)
	w.ok(t, "trust", ws)
	return w
}

// newStranger makes a user who has not yet trusted the workspace.
func newStranger(t testing.TB, ws string) *world {
	t.Helper()
	bin, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	base, err := scratch()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(base, "w")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{dir: dir, ws: ws, bin: bin, gopls: lsptest.Gopls(t)}
	for _, name := range []string{"home", "run", "state", "config", "data"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.env = w.environ(t, base)
	t.Cleanup(func() {
		w.stop(t)
		w.nothingRuns(t)
		if t.Failed() {
			w.showLog(t)
		}
		removeAll(dir)
	})
	return w
}

// environ keeps the Go command's caches and separates all else.
func (w *world) environ(t testing.TB, base string) []string {
	t.Helper()
	env := []string{
		"HOME=" + filepath.Join(w.dir, "home"),
		"XDG_RUNTIME_DIR=" + filepath.Join(w.dir, "run"),
		"XDG_STATE_HOME=" + filepath.Join(w.dir, "state"),
		"XDG_CONFIG_HOME=" + filepath.Join(w.dir, "config"),
		"XDG_DATA_HOME=" + filepath.Join(w.dir, "data"),
		// Shared by all worlds of a run: what the server derives from the
		// standard library need not be derived again for each test.
		"XDG_CACHE_HOME=" + filepath.Join(base, "cache"),
		"PATH=" + filepath.Dir(w.gopls) + string(os.PathListSeparator) + lsptest.ToolFolder(t) + string(os.PathListSeparator) + os.Getenv("PATH"),
		"LANG=C.UTF-8",
	}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH", "GOPROXY", "GOFLAGS", "GOSUMDB", "GOROOT"} {
		out, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		env = append(env, name+"="+strings.TrimSpace(string(out)))
	}
	// Of a home that is not this one: the toolchains of rustup and what cargo fetched.
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	for name, below := range map[string]string{"RUSTUP_HOME": ".rustup", "CARGO_HOME": ".cargo"} {
		env = append(env, name+"="+cmp.Or(os.Getenv(name), filepath.Join(home, below)))
	}
	return append(env, "GOTOOLCHAIN=local")
}

// result is what a command printed and how it ended.
type result struct {
	stdout, stderr string
	exit           int
	took           time.Duration
}

// aura runs auractl in the workspace.
func (w *world) aura(t testing.TB, args ...string) result {
	t.Helper()
	return w.auraIn(t, "", args...)
}

// auraIn runs auractl with standard input.
func (w *world) auraIn(t testing.TB, stdin string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := w.command(ctx, stdin, args...)
	if err != nil {
		t.Fatalf("auractl %q: %v\n%s", args, err, r.stderr)
	}
	return r
}

// command runs auractl; the error is of running it, not its exit code. It may
// be called from any goroutine.
func (w *world) command(ctx context.Context, stdin string, args ...string) (result, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(w.bin, "auractl"), args...)
	cmd.Dir = w.ws
	cmd.Env = w.env
	cmd.Stdin = strings.NewReader(stdin)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: w.credential}
	cmd.WaitDelay = 5 * time.Second // the daemon must not hold our pipes
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	start := time.Now()
	err := cmd.Run()
	r := result{stdout: stdout.String(), stderr: stderr.String(), took: time.Since(start)}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return r, fmt.Errorf("no end after %v", r.took)
	case errors.As(err, &exit):
		r.exit = exit.ExitCode()
		return r, nil
	}
	return r, err
}

// ok runs auractl and fails the test unless it exits with 0.
func (w *world) ok(t testing.TB, args ...string) result {
	t.Helper()
	r := w.aura(t, args...)
	if r.exit != 0 {
		t.Fatalf("auractl %q: exit %d\n%s%s", args, r.exit, r.stdout, r.stderr)
	}
	return r
}

// call runs `auractl call` and decodes the answer into out. A refusal is
// returned as the error that a script would read on standard output.
func (w *world) call(t testing.TB, method string, params map[string]any, out any) *api.Error {
	t.Helper()
	r := w.aura(t, "call", method, encode(t, params))
	refusal, err := r.answer(out)
	if err != nil {
		t.Fatalf("call %s: %v\nstdout: %s\nstderr: %s", method, err, r.stdout, r.stderr)
	}
	return refusal
}

// must is call for what may not be refused.
func (w *world) must(t testing.TB, method string, params map[string]any, out any) {
	t.Helper()
	if refusal := w.call(t, method, params, out); refusal != nil {
		t.Fatalf("call %s %v: %v", method, params, refusal)
	}
}

// answer reads what call printed, and holds the exit code to the answer.
func (r result) answer(out any) (*api.Error, error) {
	var envelope struct {
		Error *api.Error `json:"error"`
	}
	if err := json.Unmarshal([]byte(r.stdout), &envelope); err != nil {
		return nil, fmt.Errorf("exit %d, not one JSON object: %w", r.exit, err)
	}
	if envelope.Error != nil {
		if want := exitCode(envelope.Error.Code); r.exit != want {
			return nil, fmt.Errorf("exit %d for %s, want %d", r.exit, envelope.Error.Code, want)
		}
		if envelope.Error.Message == "" {
			return nil, fmt.Errorf("%s without a message", envelope.Error.Code)
		}
		return envelope.Error, nil
	}
	if r.exit != 0 {
		return nil, fmt.Errorf("exit %d without an error", r.exit)
	}
	if out == nil {
		return nil, nil
	}
	return nil, json.Unmarshal([]byte(r.stdout), out)
}

// exitCode is the table of spec "Command line", written down a second time.
func exitCode(code api.Code) int {
	switch {
	case code == api.InvalidArgument:
		return 2
	case code == api.ValidationFailed:
		return 3
	case strings.HasPrefix(string(code), "SERVER_"):
		return 4
	}
	return 1
}

// status asks the daemon how it is.
func (w *world) status(t testing.TB) api.Status {
	t.Helper()
	var s api.Status
	w.must(t, "daemon.status", map[string]any{}, &s)
	return s
}

// socket is where the daemon of this world listens.
func (w *world) socket() string { return filepath.Join(w.dir, "run", "aura", "aurad.sock") }

// stop ends the daemon, if one runs.
func (w *world) stop(t testing.TB) {
	t.Helper()
	if _, err := os.Stat(w.socket()); err != nil {
		return
	}
	if r := w.aura(t, "stop"); r.exit != 0 && r.exit != 4 {
		t.Errorf("stop: exit %d: %s%s", r.exit, r.stdout, r.stderr)
	}
}

// nothingRuns waits until no process carries the world's folder in its environment.
func (w *world) nothingRuns(t testing.TB) {
	t.Helper()
	left := w.processes()
	deadline := time.After(15 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for len(left) > 0 {
		select {
		case <-tick.C:
			left = w.processes()
		case <-deadline:
			t.Errorf("still running after the daemon was stopped: %v", left)
			for pid := range left {
				if p, err := os.FindProcess(pid); err == nil {
					_ = p.Kill()
				}
			}
			return
		}
	}
}

// processes returns the command lines, by pid, of what runs in this world.
func (w *world) processes() map[int]string {
	found := map[int]string{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		env, err := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if err != nil || !bytes.Contains(env, []byte(w.dir+"/")) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		found[pid] = strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " "))
	}
	return found
}

// showLog prints the end of the daemon's log of a failed test.
func (w *world) showLog(t testing.TB) {
	t.Helper()
	_ = filepath.WalkDir(filepath.Join(w.dir, "state"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".log" {
			return nil
		}
		content, _ := os.ReadFile(path)
		var kept []string
		for line := range strings.Lines(string(content)) {
			if !strings.Contains(line, `"msg":"client"`) { // each command is one
				kept = append(kept, line)
			}
		}
		t.Logf("%s:\n%s", filepath.Base(path), strings.Join(kept[max(0, len(kept)-25):], ""))
		return nil
	})
}

// encode writes JSON.
func encode(t testing.TB, v any) string {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// until waits for cond, which it asks again and again, or fails the test.
func until(t testing.TB, within time.Duration, what string, cond func() bool) {
	t.Helper()
	deadline := time.After(within)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("not within %v: %s", within, what)
		}
	}
}
