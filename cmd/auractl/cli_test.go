package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/client"
	"github.com/auralsp/aura/daemon/config"
	"github.com/auralsp/aura/daemon/serve"
)

// update rewrites what the scripts compare with.
var update = flag.Bool("update", false, "rewrite the expected output in testdata/cli")

// TestMain lets the scripts run this program and a daemon whose answers are files.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"auractl": main, "aurad": func() { os.Exit(scriptedDaemon()) }})
}

func TestCLI(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("..", "..", "testdata", "cli"), UpdateScripts: *update, RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "plain": plain},
		Setup: func(env *testscript.Env) error {
			for _, dir := range []string{"home", "run", "state"} {
				if err := os.Mkdir(filepath.Join(env.WorkDir, dir), 0o700); err != nil {
					return err
				}
			}
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("XDG_RUNTIME_DIR", filepath.Join(env.WorkDir, "run"))
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, "state"))
			env.Setenv("AURA_TEST_ANSWERS", filepath.Join(env.WorkDir, "answers"))
			env.Setenv("TZ", "UTC")
			getenv := env.Getenv
			env.Defer(func() { stopDaemon(getenv) })
			return nil
		},
	})
}

// exits runs a command and holds its exit status: exits 2 auractl rename.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// plain holds that a file has no character that a terminal would obey.
func plain(ts *testscript.TestScript, _ bool, args []string) {
	for i, r := range ts.ReadFile(args[0]) {
		if r != '\n' && unsafe(r) {
			ts.Fatalf("%s holds %U at byte %d", args[0], r, i)
		}
	}
}

func stopDaemon(getenv func(string) string) {
	paths, err := config.FindPaths(getenv)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	c, err := client.Dial(ctx, client.Options{Paths: paths, Tier: api.AdminTier})
	if err != nil {
		return
	}
	defer func() { _ = c.Close() }()
	if c.Call(ctx, "daemon.shutdown", nil, nil) == nil {
		_ = c.Wait(ctx)
	}
}

// scriptedDaemon serves the socket. An operation's answer is the file
// OPERATION.json of AURA_TEST_ANSWERS, an error if it has the member error; what
// was asked is appended to the file "asked" there.
func scriptedDaemon() int {
	dir := os.Getenv("AURA_TEST_ANSWERS")
	socket := os.Args[len(os.Args)-1]
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	l, err := serve.Listen(ctx, socket)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return client.ExitRunning
	}
	defer func() { _ = l.Close() }()
	s := serve.New(serve.Options{
		Name: api.ClientInfo{Name: "aurad", Version: "test"}, Build: version, IdleStop: time.Minute,
		Dispatch: func(ctx context.Context, c serve.Call) (any, error) {
			if c.Spec.Name == "shutdown" {
				stop()
				return api.Stopping{Stopping: true, PID: 1}, nil
			}
			return answerFrom(ctx, dir, c)
		},
	})
	if err := s.Serve(ctx, l); err != nil && !errors.Is(err, serve.ErrIdle) {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func answerFrom(ctx context.Context, dir string, c serve.Call) (any, error) {
	f, err := os.OpenFile(filepath.Join(dir, "asked"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(f, "%s %s %s\n", c.Spec.Name, c.Params, strings.ReplaceAll(fmt.Sprintf("tier=%s session=%s trust=%v", c.Client.Tier, c.Client.Session, c.Client.Trust), dir, ""))
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(filepath.Join(dir, c.Spec.Name+".json"))
	if err != nil {
		return nil, api.Errorf(api.UnsupportedOperation, "%s has no answer", c.Spec.Name)
	}
	var a struct {
		Error *api.Error `json:"error"`
		Hold  bool       `json:"hold"` // until it is cancelled
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, err
	}
	if a.Hold {
		c.Progress("waiting for the server: loading packages", 0)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if a.Error != nil {
		return nil, a.Error
	}
	return json.RawMessage(raw), nil
}
