package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/config"
)

// TestMain is also the daemon that tests start: AURA_TEST_DAEMON says how it behaves.
func TestMain(m *testing.M) {
	if mode := os.Getenv("AURA_TEST_DAEMON"); mode != "" {
		os.Exit(fakeDaemon(mode, os.Args[2]))
	}
	goleak.VerifyTestMain(m)
}

const patience = 20 * time.Second

// fakeDaemon serves a socket as aurad does, without anything behind it. Each
// start is noted in the file "starts" beside the socket.
func fakeDaemon(mode, socket string) int {
	dir := filepath.Dir(socket)
	note(filepath.Join(dir, "starts"), "x")
	switch mode {
	case "fail":
		fmt.Fprintln(os.Stderr, "aurad: configuration: FILE:3: unknown key")
		return 1
	case "hang":
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGTERM)
		<-signals
		return 0
	}
	lock, err := os.OpenFile(socket+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return 1
	}
	if unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return ExitRunning
	}
	_ = os.Remove(socket)
	ln, err := net.Listen("unix", socket)
	if err != nil {
		return 1
	}
	note(filepath.Join(dir, "pids"), fmt.Sprintf("%d\n", os.Getpid()))
	if mode == "die-once" && len(read(filepath.Join(dir, "starts"))) == 1 {
		// Accepts one connection, as a daemon that is about to stop may, and ends.
		if c, err := ln.Accept(); err == nil {
			_ = c.Close()
		}
		return 0
	}
	var conns sync.WaitGroup
	for {
		c, err := ln.Accept()
		if err != nil {
			return 0
		}
		conns.Go(func() { fakeConn(c, nil) })
	}
}

func note(name, text string) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err == nil {
		_, _ = f.WriteString(text)
		_ = f.Close()
	}
}

func read(name string) string {
	b, _ := os.ReadFile(name)
	return string(b)
}

// request is what a fake daemon was asked.
type request struct {
	ID     *int64          `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// greetingText answers initialize.
const greetingText = `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"server":{"name":"fake","version":"9"},"build":"b","catalogue":"c","pid":7,"session":"s","tier":"apply","workspace":"/w"}}`

// fakeConn answers one connection; script, if not nil, answers all but initialize.
func fakeConn(c net.Conn, script func(r request, send func(string))) {
	defer func() { _ = c.Close() }()
	in := reader{bufio.NewReader(c)}
	send := func(text string) { _, _ = c.Write(frame([]byte(text))) }
	for {
		raw, err := in.next()
		if err != nil {
			return
		}
		var r request
		if err := json.Unmarshal(raw, &r); err != nil {
			return
		}
		switch {
		case script != nil:
			script(r, send)
		case r.Method == "initialize":
			send(greetingText)
		case r.ID != nil:
			send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"method":%q}}`, *r.ID, r.Method))
		}
	}
}

// place returns where a daemon of the test is to be.
func place(t *testing.T) config.Paths {
	t.Helper()
	dir, err := os.MkdirTemp("", "aurac")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, pid := range strings.Fields(read(filepath.Join(dir, "pids"))) {
			var n int
			if _, err := fmt.Sscan(pid, &n); err == nil {
				_ = syscall.Kill(n, syscall.SIGKILL)
				_, _ = syscall.Wait4(n, nil, 0, nil)
			}
		}
		_ = os.RemoveAll(dir)
	})
	return config.Paths{Socket: filepath.Join(dir, "aurad.sock"), State: filepath.Join(dir, "state")}
}

// starting returns options that start the test binary as the daemon.
func starting(t *testing.T, mode string) Options {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Options{Paths: place(t), Start: true, Program: self, Environ: append(os.Environ(), "AURA_TEST_DAEMON="+mode)}
}

// scripted returns options that talk to a script in this process.
func scripted(t *testing.T, script func(r request, send func(string))) Options {
	t.Helper()
	var conns sync.WaitGroup
	t.Cleanup(conns.Wait)
	return Options{Paths: place(t), Dial: func(context.Context, string) (net.Conn, error) {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		if err != nil {
			return nil, err
		}
		var ends [2]net.Conn
		for i, fd := range pair {
			f := os.NewFile(uintptr(fd), "pair")
			if ends[i], err = net.FileConn(f); err != nil {
				return nil, err
			}
			_ = f.Close()
		}
		conns.Go(func() { fakeConn(ends[1], script) })
		t.Cleanup(func() { _ = ends[0].Close() })
		return ends[0], nil
	}}
}

func TestP20_ManyClientsStartOneDaemon(t *testing.T) {
	opts := starting(t, "serve")
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			raw, server, err := Once(ctx, opts, "aura_history", nil)
			if err != nil || string(raw) != `{"method":"aura_history"}` || server.Server.Name != "fake" {
				t.Errorf("%s %+v %v", raw, server, err)
			}
		})
	}
	wg.Wait()
	dir := filepath.Dir(opts.Paths.Socket)
	if n := len(strings.Fields(read(filepath.Join(dir, "pids")))); n != 1 {
		t.Errorf("%d daemons served", n)
	}
	if n := len(read(filepath.Join(dir, "starts"))); n != 1 {
		t.Errorf("%d daemons were started", n)
	}
}

func TestStartReplacesADeadDaemon(t *testing.T) {
	opts := starting(t, "serve")
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: opts.Paths.Socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	ln.SetUnlinkOnClose(false)
	_ = ln.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, _, err := Once(ctx, opts, "aura_history", nil); err != nil {
		t.Fatal(err)
	}
}

func TestStartFails(t *testing.T) {
	tests := []struct {
		name  string
		setup func(o *Options)
		want  string
	}{
		{"no program", func(o *Options) { o.Program = filepath.Join(filepath.Dir(o.Paths.Socket), "missing") }, "no such file"},
		{"it ends", func(*Options) {}, "aurad ended as it started (exit status 1): aurad: configuration: FILE:3: unknown key"},
		{"none is to be started", func(o *Options) { o.Start = false }, "none runs"},
		{"a file in place of the folder", func(o *Options) {
			o.Paths.Socket = filepath.Join(filepath.Dir(o.Paths.Socket), "file", "aurad.sock")
			note(filepath.Dir(o.Paths.Socket), "x")
		}, "is not a folder"},
		{"a folder that others may write", func(o *Options) { _ = os.Chmod(filepath.Dir(o.Paths.Socket), 0o777) }, "chmod 700"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			opts := starting(t, "fail")
			tt.setup(&opts)
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			_, err := Dial(ctx, opts)
			if !errors.As(err, new(*Unreachable)) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
		})
	}
}

func TestStartGivesUp(t *testing.T) {
	opts := starting(t, "hang")
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	_, err := Dial(ctx, opts)
	if !errors.As(err, new(*Unreachable)) || !strings.Contains(err.Error(), "does not accept connections") {
		t.Errorf("got %v", err)
	}
	out, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range out { // the hanging child is ours to end
		if strings.Contains(read(name), opts.Paths.Socket) {
			var pid int
			_, _ = fmt.Sscanf(name, "/proc/%d/", &pid)
			_ = syscall.Kill(pid, syscall.SIGKILL)
			_, _ = syscall.Wait4(pid, nil, 0, nil)
		}
	}
}

// A daemon that stops between connect and accept has done nothing: another is started.
func TestOnceOutlivesADaemonThatStops(t *testing.T) {
	opts := starting(t, "die-once")
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	raw, _, err := Once(ctx, opts, "aura_rename_symbol", map[string]string{"newName": "x"})
	if err != nil || string(raw) != `{"method":"aura_rename_symbol"}` {
		t.Fatalf("%s %v", raw, err)
	}
}

func TestDaemonEnvironment(t *testing.T) {
	got := strings.Join(daemonEnvironment([]string{"HOME=/h", "PATH=/p", "CANARY_TOKEN=s", "AURA_AGENT_API_KEY=s", "AURA_TRUST=1", "AURA_LIMITS_CONNECTIONS=2", "XDG_STATE_HOME=/s", "LC_ALL=C", "LD_PRELOAD=/x", "SSH_AUTH_SOCK=/y", "bad"}), " ")
	if want := "HOME=/h PATH=/p AURA_LIMITS_CONNECTIONS=2 XDG_STATE_HOME=/s LC_ALL=C"; got != want {
		t.Errorf("got %s", got)
	}
	env := environment([]string{"A=1", "A=2", "LD_PRELOAD=/x", "DYLD_INSERT_LIBRARIES=/y", "=x", "bad", "EMPTY="})
	if len(env) != 2 || env["A"] != "2" || env["EMPTY"] != "" {
		t.Errorf("got %v", env)
	}
}

func TestSkew(t *testing.T) {
	o := Options{Build: "1", Version: "1"}
	tests := []struct {
		server api.Initialized
		want   string
	}{
		{api.Initialized{Build: "1"}, ""},
		{api.Initialized{Build: "2", ProtocolVersion: api.ProtocolVersion, Catalogue: api.CatalogueHash()}, ""},
		{api.Initialized{Build: "2", ProtocolVersion: api.ProtocolVersion, Catalogue: "x", Server: api.ClientInfo{Version: "2"}}, "the daemon is 2 and this program 1"},
		{api.Initialized{Build: "2", ProtocolVersion: 9}, "speaks protocol 9"},
	}
	for _, tt := range tests {
		if got := o.Skew(tt.server); !strings.Contains(got, tt.want) || (got == "") != (tt.want == "") {
			t.Errorf("%+v: %q", tt.server, got)
		}
	}
}
