package lsptest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/auralsp/aura/lspclient"
	"github.com/auralsp/aura/lspclient/lsptest"
)

func TestMain(m *testing.M) {
	lsptest.Main()
	goleak.VerifyTestMain(m)
}

const hover = "textDocument/hover"

// params ask about the first character of a file.
func params(path string) map[string]any {
	return map[string]any{
		"textDocument": map[string]any{"uri": lspclient.URI(path)},
		"position":     map[string]int{"line": 0, "character": 0},
	}
}

func testContext(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func connect(t testing.TB, config lsptest.Config) (*lspclient.Client, *lsptest.Server) {
	t.Helper()
	server, conn := lsptest.Start(t, config)
	client, err := lspclient.Start(testContext(t), conn, lspclient.Options{WriteTimeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
	return client, server
}

func on(deed lsptest.Deed, f lsptest.Fault) lsptest.Config {
	f.Do = deed
	if f.On == "" {
		f.On = hover
	}
	return lsptest.Config{Faults: []lsptest.Fault{f}}
}

func TestFaultsOfAnswers(t *testing.T) {
	type outcome struct {
		answered bool
		ended    bool // the connection is broken then
		refused  bool
	}
	cases := []struct {
		name   string
		config lsptest.Config
		want   outcome
	}{
		{"honest", lsptest.Config{}, outcome{answered: true}},
		{"split", on(lsptest.Split, lsptest.Fault{Bytes: 1}), outcome{answered: true}},
		{"twice", on(lsptest.Twice, lsptest.Fault{}), outcome{answered: true}},
		{"wrong ids", on(lsptest.WrongIDs, lsptest.Fault{}), outcome{answered: true}},
		{"late", on(lsptest.Late, lsptest.Fault{Millis: 5}), outcome{answered: true}},
		{"sleep", on(lsptest.Sleep, lsptest.Fault{Millis: 5}), outcome{answered: true}},
		{"huge", on(lsptest.Huge, lsptest.Fault{Bytes: 5 << 20}), outcome{answered: true}},
		{"garbage", on(lsptest.Garbage, lsptest.Fault{Bytes: 30 << 10}), outcome{answered: true}},
		{"too much garbage", on(lsptest.Garbage, lsptest.Fault{Bytes: 80 << 10}), outcome{ended: true}},
		{"progress", on(lsptest.Progress, lsptest.Fault{Count: 1000}), outcome{answered: true}},
		{"overwhelm", on(lsptest.Overwhelm, lsptest.Fault{Count: 1000}), outcome{answered: true}},
		{"notify", on(lsptest.Notify, lsptest.Fault{Text: "x/y", Count: 3, JSON: json.RawMessage(`{}`)}), outcome{answered: true}},
		{"ask", on(lsptest.Ask, lsptest.Fault{Text: "x/y"}), outcome{answered: true}},
		{"refuse", on(lsptest.Refuse, lsptest.Fault{Code: -32801, Text: "later"}), outcome{refused: true}},
		{"answer with", on(lsptest.AnswerWith, lsptest.Fault{JSON: json.RawMessage(`[1]`)}), outcome{answered: true}},
		{"malformed", on(lsptest.Raw, lsptest.Fault{Text: "Content-Length: 9\r\n\r\n{\"id\":1,,"}), outcome{ended: true}},
		{"short", on(lsptest.Raw, lsptest.Fault{Text: "Content-Length: 900\r\n\r\n{}"}), outcome{}},
		{"silent", on(lsptest.Silent, lsptest.Fault{}), outcome{}},
		{"hang", on(lsptest.Hang, lsptest.Fault{}), outcome{}},
		{"stop reading", on(lsptest.StopReading, lsptest.Fault{}), outcome{}},
		{"crash", on(lsptest.Crash, lsptest.Fault{}), outcome{ended: true}},
		{"close stdout", on(lsptest.CloseStdout, lsptest.Fault{}), outcome{ended: true}},
		{"second message only", on(lsptest.Crash, lsptest.Fault{After: 1}), outcome{answered: true}},
		{"another document", on(lsptest.Crash, lsptest.Fault{Path: "/b"}), outcome{answered: true}},
		{"this document", on(lsptest.Crash, lsptest.Fault{Path: "/a"}), outcome{ended: true}},
		{"any message", lsptest.Config{Faults: []lsptest.Fault{{Do: lsptest.Crash, After: 2}}}, outcome{ended: true}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			client, _ := connect(t, c.config)
			limit := 10 * time.Second
			if c.want == (outcome{}) {
				limit = 100 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(context.Background(), limit)
			defer cancel()
			err := client.Call(ctx, hover, params("/a"), nil)
			var ended *lspclient.EndedError
			var refused *lspclient.CallError
			got := outcome{answered: err == nil, ended: errors.As(err, &ended), refused: errors.As(err, &refused)}
			if got != c.want {
				t.Errorf("outcome is %+v, want %+v: %v", got, c.want, err)
			}
		})
	}
}

func TestReorder(t *testing.T) {
	client, _ := connect(t, on(lsptest.Reorder, lsptest.Fault{Count: 5}))
	ctx := testContext(t)
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			if err := client.Call(ctx, hover, params("/a"), nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestLoading(t *testing.T) {
	t.Run("waits", func(t *testing.T) {
		client, _ := connect(t, lsptest.Config{Loading: lsptest.Loading{Millis: 20, Reports: 3}})
		if err := client.Call(testContext(t), hover, params("/a"), nil); err != nil {
			t.Fatal(err)
		}
		if open, moves := client.Progress(); len(open) != 0 || moves != 5 {
			t.Errorf("progress %+v, %d moves; want begin, 3 reports, end", open, moves)
		}
	})
	t.Run("answers empty", func(t *testing.T) {
		client, _ := connect(t, lsptest.Config{Loading: lsptest.Loading{Never: true, Empty: true}})
		var raw json.RawMessage
		if err := client.Call(testContext(t), hover, params("/a"), &raw); err != nil || string(raw) != "null" {
			t.Errorf("answered %s, %v", raw, err)
		}
	})
	t.Run("never ends", func(t *testing.T) {
		client, _ := connect(t, lsptest.Config{Loading: lsptest.Loading{Never: true}})
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		if err := client.Call(ctx, hover, params("/a"), nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error is %v", err)
		}
	})
}

// process is a running child.
type process struct {
	*exec.Cmd
	in  io.WriteCloser
	out *os.File
}

func spawn(t testing.TB, config lsptest.Config) process {
	t.Helper()
	argv, env := lsptest.CommandFile(t, filepath.Join(t.TempDir(), "config.json"), config)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // whoever is left of the group
		_ = cmd.Wait()
		r.Close()
	})
	return process{Cmd: cmd, in: in, out: r}
}

// Read, Write and Close make a process the stream of a client.
func (p process) Read(b []byte) (int, error)  { return p.out.Read(b) }
func (p process) Write(b []byte) (int, error) { return p.in.Write(b) }
func (p process) Close() error                { return errors.Join(p.in.Close(), p.out.Close()) }

func TestProcessFaults(t *testing.T) {
	t.Run("exit status", func(t *testing.T) {
		p := spawn(t, lsptest.Config{Faults: []lsptest.Fault{{On: "start", Do: lsptest.Crash, Code: 7}}})
		var exit *exec.ExitError
		if err := p.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 7 {
			t.Errorf("ended with %v", err)
		}
	})
	t.Run("kill itself once", func(t *testing.T) {
		once := filepath.Join(t.TempDir(), "once")
		config := lsptest.Config{Faults: []lsptest.Fault{{On: "initialize", Do: lsptest.Kill, Once: once}}}
		for _, sound := range []bool{false, true} {
			p := spawn(t, config)
			client, err := lspclient.Start(testContext(t), p, lspclient.Options{})
			if (err == nil) != sound {
				t.Fatalf("sound %v: %v", sound, err)
			}
			if sound {
				if err := client.Shutdown(testContext(t)); err != nil {
					t.Error(err)
				}
			}
		}
	})
	t.Run("ignores TERM and EOF", func(t *testing.T) {
		p := spawn(t, lsptest.Config{IgnoreTerm: true, IgnoreEOF: true})
		client, err := lspclient.Start(testContext(t), p, lspclient.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := client.Call(testContext(t), hover, params("/a"), nil); err != nil {
			t.Errorf("after TERM: %v", err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		if err := client.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("shutdown: %v", err)
		}
		if err := p.Process.Signal(syscall.Signal(0)); err != nil {
			t.Errorf("it is gone: %v", err)
		}
	})
	t.Run("grandchild", func(t *testing.T) {
		p := spawn(t, lsptest.Config{Grandchild: true})
		client, err := lspclient.Start(testContext(t), p, lspclient.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := children(t, p.Process.Pid); len(got) != 1 {
			t.Errorf("children are %v", got)
		}
		if err := client.Shutdown(testContext(t)); err != nil {
			t.Error(err)
		}
		if err := p.Wait(); err != nil {
			t.Error(err)
		}
		if err := syscall.Kill(-p.Process.Pid, 0); err != nil {
			t.Errorf("the grandchild is gone: %v", err)
		}
	})
}

func children(t testing.TB, pid int) []string {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err == nil && len(raw) > 0 {
		return strings.Fields(string(raw))
	}
	// Without that file: by parent.
	var list []string
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, stat := range stats {
		raw, err := os.ReadFile(stat)
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(raw), ") ")
		if f := strings.Fields(rest); len(f) > 1 && f[1] == strconv.Itoa(pid) {
			list = append(list, filepath.Base(filepath.Dir(stat)))
		}
	}
	return list
}
