//go:build unix

package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	startTimeout = 15 * time.Second     // from the start of the daemon until it accepts
	pollInterval = 3 * time.Millisecond // between two tries to connect while it starts
	stderrLimit  = 1 << 20              // bytes; the daemon's standard error starts anew beyond
)

// ExitRunning is aurad's exit status when another daemon serves the socket.
const ExitRunning = 5

type dialer struct{ opts Options }

func dialSocket(ctx context.Context, socket string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "unix", socket)
}

// connect returns a connection, after starting the daemon where that is asked for.
func (d *dialer) connect(ctx context.Context) (net.Conn, error) {
	socket := d.opts.Paths.Socket
	conn, err := d.try(ctx)
	for end := time.Now().Add(startTimeout); errors.Is(err, unix.EAGAIN) && time.Now().Before(end) && ctx.Err() == nil; {
		select {
		case <-ctx.Done():
		case <-time.After(pollInterval):
		}
		conn, err = d.try(ctx)
	}
	if err == nil {
		return conn, nil
	}
	if !absent(err) || ctx.Err() != nil {
		return nil, &Unreachable{socket, err}
	}
	if !d.opts.Start {
		return nil, &Unreachable{socket, errors.New("none runs; auractl status starts it")}
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	conn, err = d.start(ctx)
	if err != nil {
		return nil, &Unreachable{socket, err}
	}
	return conn, nil
}

// try connects to a socket in a folder that only we can write: another user's
// socket would get our environment.
func (d *dialer) try(ctx context.Context) (net.Conn, error) {
	dir := filepath.Dir(d.opts.Paths.Socket)
	info, err := os.Lstat(dir)
	if err != nil {
		return nil, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return nil, fmt.Errorf("%s is not a folder; remove it", dir)
	case !ok || int(st.Uid) != os.Geteuid():
		return nil, fmt.Errorf("%s belongs to another user; choose another place with --socket or XDG_RUNTIME_DIR", dir)
	case info.Mode().Perm()&0o022 != 0:
		return nil, fmt.Errorf("%s can be written by others: chmod 700 %s", dir, dir)
	}
	return d.opts.Dial(ctx, d.opts.Paths.Socket)
}

// absent reports whether an error means that no daemon runs.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ECONNREFUSED)
}

// passing reports whether an error may be over soon: the daemon's queue of
// connections is full, or the time is up, of which the context will tell.
func passing(err error) bool {
	var timeout net.Error
	return errors.Is(err, unix.EAGAIN) || errors.As(err, &timeout) && timeout.Timeout()
}

// start starts the daemon unless somebody else does, and connects. Those who
// come at once take turns by a lock, so that one daemon is started and not one for each.
func (d *dialer) start(ctx context.Context) (net.Conn, error) {
	socket := d.opts.Paths.Socket
	program, err := d.program()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(socket), 0o700); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(socket+".start", os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = lock.Close() }()
	poll := time.NewTicker(pollInterval)
	defer poll.Stop()
	for unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-poll.C:
		}
		if conn, err := d.try(ctx); err == nil || !absent(err) {
			return conn, err
		}
	}
	if conn, err := d.try(ctx); err == nil || !absent(err) {
		return conn, err
	}
	if d.opts.Starting != nil {
		d.opts.Starting()
	}
	p, err := d.spawn(program)
	if err != nil {
		return nil, err
	}
	defer p.release()
	for {
		conn, err := d.try(ctx)
		if err == nil {
			return conn, nil
		}
		// A dial that our own deadline cut short says nothing of the daemon.
		if !absent(err) && !passing(err) && ctx.Err() == nil && !os.IsTimeout(err) {
			return nil, err
		}
		if err := p.ended(); err != nil {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%s was started and does not accept connections: %w%s", program, ctx.Err(), p.said())
		case <-poll.C:
		}
	}
}

// program finds aurad: beside this program (or beside what it links to), then in PATH.
func (d *dialer) program() (string, error) {
	if d.opts.Program != "" {
		return d.opts.Program, nil
	}
	if self, err := os.Executable(); err == nil {
		real, _ := filepath.EvalSymlinks(self)
		for _, near := range []string{self, real} {
			if near == "" {
				continue
			}
			name := filepath.Join(filepath.Dir(near), "aurad")
			if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
				return name, nil
			}
		}
	}
	name, err := exec.LookPath("aurad")
	if err != nil {
		return "", errors.New("none runs, and aurad is neither beside auractl nor in PATH; install both from one build")
	}
	return filepath.Abs(name)
}

// daemon is the process that was started.
type daemon struct {
	process *os.Process
	stderr  string // file
	offset  int64  // where its own output begins
	gone    bool
}

func (d *dialer) spawn(program string) (*daemon, error) {
	state := d.opts.Paths.State
	if err := os.MkdirAll(state, 0o700); err != nil {
		return nil, err
	}
	name := filepath.Join(state, "aurad.stderr")
	stderr, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = stderr.Close() }()
	offset, err := stderr.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	if offset > stderrLimit {
		if err := stderr.Truncate(0); err != nil {
			return nil, err
		}
		offset = 0
	}
	cmd := exec.Command(program, append([]string{"--socket", d.opts.Paths.Socket}, d.opts.Args...)...)
	cmd.Dir = "/"
	cmd.Env = daemonEnvironment(d.opts.Environ)
	cmd.Stderr, cmd.Stdout = stderr, stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &daemon{process: cmd.Process, stderr: name, offset: offset}, nil
}

// ended returns an error when the process is gone, unless another daemon was
// there before it: then that one will answer.
func (p *daemon) ended() error {
	if p.gone {
		return nil
	}
	var status syscall.WaitStatus
	pid, err := syscall.Wait4(p.process.Pid, &status, syscall.WNOHANG, nil)
	if err != nil || pid == 0 {
		return nil
	}
	p.gone = true
	if status.Exited() && status.ExitStatus() == ExitRunning {
		return nil
	}
	return fmt.Errorf("aurad ended as it started (%s)%s", describe(status), p.said())
}

func describe(s syscall.WaitStatus) string {
	if s.Signaled() {
		return "signal: " + s.Signal().String()
	}
	return fmt.Sprintf("exit status %d", s.ExitStatus())
}

// said returns the end of what the daemon printed, for an error's text.
func (p *daemon) said() string {
	f, err := os.Open(p.stderr)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.NewSectionReader(f, p.offset, 4<<10))
	if err != nil || len(b) == 0 {
		return ""
	}
	return ": " + strings.TrimSpace(string(b))
}

func (p *daemon) release() { _ = p.process.Release() }

// daemonEnvironment is what a daemon for all of the user's shells may keep:
// places, language, proxies and settings, no secrets of the shell that
// happened to start it. What servers need more comes with each client.
func daemonEnvironment(environ []string) []string {
	keep := func(name string) bool {
		switch name {
		case "HOME", "PATH", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR",
			"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR":
			return true
		}
		return strings.HasPrefix(name, "XDG_") || strings.HasPrefix(name, "LC_") ||
			strings.HasPrefix(name, "AURA_") && !strings.HasPrefix(name, "AURA_AGENT_") && name != "AURA_TRUST"
	}
	var out []string
	for _, kv := range environ {
		if name, _, ok := strings.Cut(kv, "="); ok && keep(name) {
			out = append(out, kv)
		}
	}
	return out
}
