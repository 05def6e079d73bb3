package proc_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/auralsp/aura/lspclient/proc"
)

const roleVariable = "PROC_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		play(role)
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// play is the child's side of the tests: the test binary started again.
func play(role string) {
	switch role {
	case "echo": // ends at the end of its input
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "exit": // after a line, with a code
		fmt.Fprintln(os.Stderr, "no such flag: --wrong")
		os.Exit(7)
	case "deaf": // ignores everything that can be ignored
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		fmt.Println("ready")
		block()
	case "spin":
		fmt.Println("ready")
		for i := 0; ; i++ {
			_ = i * i
		}
	case "eat": // memory without end
		var all [][]byte
		for {
			b := make([]byte, 1<<20)
			for i := range b {
				b[i] = 1
			}
			all = append(all, b)
			runtime.KeepAlive(all)
		}
	case "flood": // 100 MB of standard error without a newline
		block := make([]byte, 1<<20)
		for i := range block {
			block[i] = 'x'
		}
		for range 100 {
			_, _ = os.Stderr.Write(block)
		}
		fmt.Fprint(os.Stderr, "THE END")
		fmt.Println("done")
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "deafstderr":
		_ = os.Stderr.Close()
		fmt.Println("done")
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "parent": // starts a child that keeps the pipes, then waits
		fmt.Println(startChild("deaf", nil))
		block()
	case "orphaner": // starts a child that keeps the pipes, and dies
		fmt.Println(startChild("deaf", nil))
		os.Exit(3)
	case "escaper": // starts a child in a session of its own, and dies
		fmt.Println(startChild("deaf", &syscall.SysProcAttr{Setsid: true}))
		os.Exit(4)
	case "household": // has every kind of descendant, tells their ids, then waits
		apart := &syscall.SysProcAttr{Setsid: true}
		near, _ := startWith("deaf", os.Environ(), nil)
		far, _ := startWith("deaf", os.Environ(), apart)
		clean, _ := startWith("deaf", nil, apart) // carries no mark
		_, left := startWith("escaper", os.Environ(), nil)
		fmt.Println(near, far, clean, left)
		block()
	case "keeper": // owns a household that it has looked at, and waits to be killed
		s, err := proc.NewSpawner(context.Background(), proc.Options{Ledger: os.Getenv("PROC_TEST_LEDGER")})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		p, err := s.Start(context.Background(), command("household"))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		line, _ := bufio.NewReader(p.Conn()).ReadString('\n')
		_ = proc.Usages([]*proc.Process{p}, false)
		fmt.Println(p.PID(), strings.TrimSpace(line))
		block()
	case "daemon": // owns a Spawner, and waits to be killed
		s, err := proc.NewSpawner(context.Background(), proc.Options{Ledger: os.Getenv("PROC_TEST_LEDGER")})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		for _, child := range []string{"deaf", "parent", "escaper"} {
			p, err := s.Start(context.Background(), command(child))
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			line, _ := bufio.NewReader(p.Conn()).ReadString('\n')
			fmt.Println(p.PID(), strings.TrimSpace(line))
			if child == "escaper" {
				continue
			}
		}
		fmt.Println("ready")
		block()
	}
}

// startChild runs this binary again with inherited streams and returns its id
// once it has said that it is ready.
func startChild(role string, attr *syscall.SysProcAttr) int {
	pid, _ := startWith(role, os.Environ(), attr)
	return pid
}

// startWith also returns what the child said.
func startWith(role string, env []string, attr *syscall.SysProcAttr) (int, string) {
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	exe, _ := os.Executable()
	c := exec.Command(exe)
	c.Env = append(env[:len(env):len(env)], roleVariable+"="+role)
	c.Stdin, c.Stdout, c.Stderr, c.SysProcAttr = os.Stdin, w, os.Stderr, attr
	if err := c.Start(); err != nil {
		panic(err)
	}
	line, _ := bufio.NewReader(r).ReadString('\n')
	return c.Process.Pid, strings.TrimSpace(line)
}

func block() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR2)
	<-c
}

// command starts this binary in a role.
func command(role string, env ...string) proc.Command {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return proc.Command{
		Argv: []string{exe},
		Env:  append([]string{roleVariable + "=" + role, "GOTRACEBACK=none", "GORACE=atexit_sleep_ms=0"}, env...),
		Dir:  filepath.Dir(exe),
	}
}

func newSpawner(t *testing.T, o proc.Options) *proc.Spawner {
	t.Helper()
	s, err := proc.NewSpawner(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func start(t *testing.T, s *proc.Spawner, c proc.Command) *proc.Process {
	t.Helper()
	p, err := s.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Kill()
		<-p.Gone()
		_ = p.Conn().Close()
	})
	return p
}

// line reads one line of the process's output.
func line(t *testing.T, p *proc.Process) string {
	t.Helper()
	s, err := bufio.NewReaderSize(p.Conn(), 1).ReadString('\n')
	if err != nil {
		t.Fatalf("read a line: %v; stderr %q", err, p.Stderr(4096))
	}
	return strings.TrimSpace(s)
}

func pidOf(t *testing.T, s string) int {
	t.Helper()
	pid, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// runs reports whether the process exists and is not a zombie.
func runs(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return rest != "" && rest[0] != 'Z' && rest[0] != 'X'
}

// until waits for a condition.
func until(t *testing.T, limit time.Duration, what string, cond func() bool) {
	t.Helper()
	deadline := time.After(limit)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("not within %v: %s", limit, what)
		}
	}
}

// wait fails the test when c is not closed in time, and returns how long it took.
func wait(t *testing.T, c <-chan struct{}, limit time.Duration, what string) time.Duration {
	t.Helper()
	began := time.Now()
	select {
	case <-c:
	case <-time.After(limit):
		t.Fatalf("not within %v: %s", limit, what)
	}
	return time.Since(began)
}
