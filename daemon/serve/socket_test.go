package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/auralsp/aura/daemon/api"
)

// nobody is the user that tests act as to be somebody else.
const nobody = 65534

// asNobody runs f on a thread that belongs to another user. The thread ends with it.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can act as another user")
	}
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread dies with the goroutine
		if _, _, e := unix.RawSyscall(unix.SYS_SETRESGID, nobody, nobody, nobody); e != 0 {
			done <- e
			return
		}
		if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, nobody, nobody, nobody); e != 0 {
			done <- e
			return
		}
		f()
		done <- nil
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// connectRaw connects on the calling thread, as its user.
func connectRaw(path string) (fd int, err error) {
	if fd, err = unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err != nil {
		return -1, err
	}
	if err := unix.Connect(fd, &unix.SockaddrUnix{Name: path}); err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func TestS01_AnotherUserIsClosedBeforeAByteIsRead(t *testing.T) {
	asked := make(chan string, 1)
	r := start(t, Options{Dispatch: func(ctx context.Context, c Call) (any, error) {
		asked <- c.Spec.Name
		return echo(ctx, c)
	}})
	// Force every folder open, as a careless user could.
	for dir := r.socket; len(dir) > len(os.TempDir()); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	asNobody(t, func() {
		fd, err := connectRaw(r.socket)
		if err != nil {
			t.Errorf("connect: %v", err)
			return
		}
		defer func() { _ = unix.Close(fd) }()
		_, _ = unix.Write(fd, []byte(request("1", "definition", `{"symbolName":"A"}`)+"\n"))
		b := make([]byte, 100)
		if n, err := unix.Read(fd, b); n > 0 {
			t.Errorf("got %q, %v", b[:n], err)
		}
	})
	if s := r.Stats(); s.Strangers != 1 || s.Requests != 0 || s.Clients != 0 {
		t.Errorf("%+v", s)
	}
	select {
	case op := <-asked:
		t.Errorf("the stranger reached %s", op)
	default:
	}
}

func TestS02_NobodyGetsInWhileTheSocketIsMade(t *testing.T) {
	path := filepath.Join(private(t), "aurad.sock")
	stop, ready := make(chan struct{}), make(chan struct{})
	result := make(chan [2]int, 1)
	asNobody(t, func() { // a skip must come from the test's own goroutine
	})
	go func() {
		runtime.LockOSThread()
		_, _, _ = unix.RawSyscall(unix.SYS_SETRESUID, nobody, nobody, nobody)
		tries, in := 0, 0
		close(ready)
		for {
			select {
			case <-stop:
				result <- [2]int{tries, in}
				return
			default:
			}
			tries++
			if fd, err := connectRaw(path); err == nil {
				in++
				_ = unix.Close(fd)
			}
		}
	}()
	<-ready
	for range 300 {
		l, err := Listen(context.Background(), path)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	if r := <-result; r[0] < 100 || r[1] != 0 {
		t.Errorf("%d of %d tries got in", r[1], r[0])
	}
}

func TestS03_PathIsTaken(t *testing.T) {
	tests := []struct {
		name string
		make func(t *testing.T, dir, sock string)
		want string // part of the error; empty means it works
	}{
		{"nothing there", func(*testing.T, string, string) {}, ""},
		{"a file at the socket", func(t *testing.T, _, sock string) { put(t, sock) }, "is in the way"},
		{"a symlink at the socket", func(t *testing.T, dir, sock string) { link(t, filepath.Join(dir, "x"), sock) }, "is in the way"},
		{"a folder at the socket", func(t *testing.T, _, sock string) { mkdir(t, sock) }, "is in the way"},
		{"a stale socket", func(t *testing.T, _, sock string) { stale(t, sock) }, ""},
		{"a socket that somebody serves", func(t *testing.T, _, sock string) {
			ln, err := net.Listen("unix", sock)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = ln.Close() })
		}, "another program listens"},
		{"a symlink at the lock", func(t *testing.T, dir, sock string) { link(t, filepath.Join(dir, "x"), sock+".lock") }, "lock"},
		{"a folder at the lock", func(t *testing.T, _, sock string) { mkdir(t, sock+".lock") }, "lock"},
		{"a pipe at the lock", func(t *testing.T, _, sock string) {
			if err := unix.Mkfifo(sock+".lock", 0o600); err != nil {
				t.Fatal(err)
			}
		}, "not a regular file"},
		{"an open folder", func(t *testing.T, dir, _ string) { chmod(t, dir, 0o755) }, "chmod 700"},
		{"a folder for the group", func(t *testing.T, dir, _ string) { chmod(t, dir, 0o710) }, "chmod 700"},
		{"a symlinked folder", func(t *testing.T, dir, _ string) {
			if err := os.Rename(dir, dir+"2"); err != nil {
				t.Fatal(err)
			}
			link(t, dir+"2", dir)
		}, "symbolic link"},
		{"a file for a folder", func(t *testing.T, dir, _ string) {
			if err := os.Remove(dir); err != nil {
				t.Fatal(err)
			}
			put(t, dir)
		}, "must be a folder"},
	}
	if os.Geteuid() == 0 {
		tests = append(tests, struct {
			name string
			make func(t *testing.T, dir, sock string)
			want string
		}{"another user's folder", func(t *testing.T, dir, _ string) { chown(t, dir) }, "belongs to user"}, struct {
			name string
			make func(t *testing.T, dir, sock string)
			want string
		}{"another user's socket", func(t *testing.T, _, sock string) { stale(t, sock); chown(t, sock) }, "is in the way"})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := private(t)
			mkdir(t, dir)
			sock := filepath.Join(dir, "aurad.sock")
			tt.make(t, dir, sock)
			before := listing(t, filepath.Dir(dir))
			l, err := Listen(context.Background(), sock)
			if tt.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				info, err := os.Lstat(sock)
				if err != nil || info.Mode() != os.ModeSocket|0o600 {
					t.Errorf("%v %v", info, err)
				}
				if err := l.Close(); err != nil {
					t.Error(err)
				}
				if _, err := os.Lstat(sock); !os.IsNotExist(err) {
					t.Errorf("still there: %v", err)
				}
				return
			}
			if err == nil {
				_ = l.Close()
				t.Fatal("it listens")
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
			after := listing(t, filepath.Dir(dir))
			for name := range before {
				if _, ok := after[name]; !ok {
					t.Errorf("%s was removed", name)
				}
			}
		})
	}
}

func put(t *testing.T, name string) {
	t.Helper()
	if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, to, name string) {
	t.Helper()
	if err := os.Symlink(to, name); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, name string) {
	t.Helper()
	if err := os.Mkdir(name, 0o700); err != nil {
		t.Fatal(err)
	}
}

func chmod(t *testing.T, name string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
}

func chown(t *testing.T, name string) {
	t.Helper()
	if err := os.Lchown(name, nobody, nobody); err != nil {
		t.Fatal(err)
	}
}

func stale(t *testing.T, name string) {
	t.Helper()
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: name, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	ln.SetUnlinkOnClose(false)
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
}

func listing(t *testing.T, dir string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		out[path] = true
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestP20_OneOfManyListens(t *testing.T) {
	path := filepath.Join(private(t), "aurad.sock")
	var wg sync.WaitGroup
	var mu sync.Mutex
	var winner *Listener
	running := 0
	for range 100 {
		wg.Go(func() {
			l, err := Listen(context.Background(), path)
			mu.Lock()
			defer mu.Unlock()
			var e *RunningError
			switch {
			case err == nil && winner == nil:
				winner = l
			case errors.As(err, &e) && e.PID == os.Getpid():
				running++
			default:
				t.Errorf("got %v, %v", l, err)
			}
		})
	}
	wg.Wait()
	if winner == nil || running != 99 {
		t.Fatalf("%d found another, winner %v", running, winner)
	}
	if err := winner.Close(); err != nil {
		t.Error(err)
	}
}

// A daemon that stops has given up its socket and not yet its lock: the next
// waits for it, as long as it may.
func TestListenWaitsForADaemonThatStops(t *testing.T) {
	path := filepath.Join(private(t), "aurad.sock")
	old, err := Listen(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := old.remove(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Millisecond)
	defer cancel()
	if _, err := Listen(ctx, path); !errors.As(err, new(*RunningError)) {
		t.Fatalf("got %v", err)
	}
	next := make(chan error, 1)
	go func() {
		l, err := Listen(context.Background(), path)
		if err == nil {
			err = l.Close()
		}
		next <- err
	}()
	select {
	case err := <-next:
		t.Fatalf("did not wait: %v", err)
	case <-time.After(60 * time.Millisecond):
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-next; err != nil {
		t.Fatal(err)
	}
}

func TestS05_SlowAndBrokenClients(t *testing.T) {
	r := start(t, Options{Dispatch: echo, Limits: Limits{Handshake: 150 * time.Millisecond, Stalled: 150 * time.Millisecond, Frame: 1 << 20, Connections: 20}})
	good := dial(t, r.socket)
	good.write(framed(request("1", "definition", `{"symbolName":"A"}`)))
	good.frame()
	closes := []struct{ name, send string }{
		{"silent", ""},
		{"half a header", "Content-Le"},
		{"half a body", "Content-Length: 100\r\n\r\n{"},
		{"half a line", `{"jsonrpc"`},
		{"spaces only", "   \n\n"},
		{"L01 no length", "Content-Type: x\r\n\r\n{}"},
		{"L01 HTTP", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"},
		{"L01 negative", "Content-Length: -5\r\n\r\n"},
		{"L01 plus", "Content-Length: +5\r\n\r\n"},
		{"L01 hex", "Content-Length: 0x10\r\n\r\n"},
		{"L01 huge", "Content-Length: 99999999999999999999999\r\n\r\n"},
		{"L01 beyond the limit", "Content-Length: 1048577\r\n\r\n"},
		{"L01 two lengths", "Content-Length: 5\r\nContent-Length: 6\r\n\r\n"},
		{"L01 a header without end", "X: " + strings.Repeat("x", 20_000)},
		{"a line beyond the limit", "{" + strings.Repeat(" ", 2<<20)},
	}
	var wg sync.WaitGroup
	for _, tt := range closes {
		p := dial(t, r.socket)
		wg.Go(func() {
			_, _ = io.WriteString(p.nc, tt.send)
			if b, err := io.ReadAll(p.in); errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("%s: still connected; got %q", tt.name, b)
			}
		})
	}
	wg.Wait()
	// The one that spoke and then waits is not touched.
	good.write(framed(request("2", "definition", `{"symbolName":"A"}`)))
	if got := good.frame(); got != `{"jsonrpc":"2.0","id":2,"result":{"echo":"A"}}` {
		t.Errorf("got %s", got)
	}
	// More than may connect: the rest are told so.
	until(t, "they are forgotten", func() bool { return r.Stats().Clients == 1 })
	var peers []*peer
	for range 19 {
		p := dial(t, r.socket)
		p.write(" ")
		peers = append(peers, p)
	}
	until(t, "all are in", func() bool { return r.Stats().Clients == 20 })
	over := dial(t, r.socket)
	if a := parse(t, over.frame()); a.Error == nil || a.Error.Data.Code != api.Overloaded {
		t.Errorf("%+v", a)
	}
	good.write(framed(request("3", "definition", `{"symbolName":"A"}`)))
	good.frame()
	for _, p := range peers {
		_ = p.nc.Close()
	}
}

// What a header promises is not taken before it arrives.
func TestL01_MemoryComesWithTheBytes(t *testing.T) {
	r := start(t, Options{Dispatch: echo})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range 50 {
		dial(t, r.socket).write("Content-Length: 67108864\r\n\r\n{")
	}
	until(t, "all are in", func() bool { return r.Stats().Clients == 50 })
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 50<<20 {
		t.Errorf("the heap grew by %d MiB", grown>>20)
	}
}

func TestS06_FilesInMessagesAreNotKept(t *testing.T) {
	r := start(t, Options{Dispatch: echo})
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = null.Close() }()
	p := dial(t, r.socket)
	p.write(request("0", "definition", `{"symbolName":"A"}`) + "\n")
	p.line() // the server has its end open now
	count := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skipf("no /proc: %v", err)
		}
		return len(list)
	}
	before := count()
	var fds []int
	for range 100 {
		fds = append(fds, int(null.Fd()))
	}
	for i := range 10 {
		msg := []byte(request(fmt.Sprint(i), "definition", `{"symbolName":"A"}`) + "\n")
		if _, _, err := p.nc.WriteMsgUnix(msg, unix.UnixRights(fds...), nil); err != nil {
			t.Fatal(err)
		}
		p.line()
	}
	if after := count(); after > before {
		t.Errorf("%d files open, before %d", after, before)
	}
}

func TestSocketThatVanishesComesBack(t *testing.T) {
	path := filepath.Join(private(t), "aurad.sock")
	l, err := Listen(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if rebind, err := l.reachable(); rebind || err != nil {
		t.Errorf("fresh: %v %v", rebind, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if rebind, err := l.reachable(); !rebind || err != nil {
		t.Errorf("removed: %v %v", rebind, err)
	}
	old := l.ln
	if err := l.bind(); err != nil {
		t.Fatal(err)
	}
	_ = old.Close()
	if rebind, err := l.reachable(); rebind || err != nil {
		t.Errorf("made again: %v %v", rebind, err)
	}
	if err := os.Remove(path + ".lock"); err != nil {
		t.Fatal(err)
	}
	if _, err := l.reachable(); !errors.Is(err, errLockLost) {
		t.Errorf("lock removed: %v", err)
	}
}
