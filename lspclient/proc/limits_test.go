package proc_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/auralsp/aura/lspclient/proc"
)

func TestR02_NoDescriptorsIsATypedErrorAndRecovers(t *testing.T) {
	s := newSpawner(t, proc.Options{})
	first := start(t, s, command("echo"))
	if _, err := first.Stop(t.Context(), proc.Ladder{}); err != nil {
		t.Fatal(err)
	}
	_ = first.Conn().Close()
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	before := countFDs(t)
	for spare := range uint64(8) {
		few := unix.Rlimit{Cur: uint64(before) + spare, Max: was.Max}
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &few); err != nil {
			t.Fatal(err)
		}
		p, err := s.Start(t.Context(), command("echo"))
		if e := unix.Setrlimit(unix.RLIMIT_NOFILE, &was); e != nil {
			t.Fatal(e)
		}
		if err == nil {
			p.Kill()
			<-p.Gone()
			_ = p.Conn().Close()
			continue
		}
		var se *proc.StartError
		if !errors.As(err, &se) || !errors.Is(err, syscall.EMFILE) {
			t.Errorf("with %d descriptors: %v; want a StartError that is EMFILE", spare, err)
		}
	}
	if after := countFDs(t); after > before+1 {
		t.Errorf("descriptors grew from %d to %d", before, after)
	}
	p := start(t, s, command("echo"))
	if _, err := p.Conn().Write([]byte("again\n")); err != nil {
		t.Fatal(err)
	}
	if got := line(t, p); got != "again" {
		t.Errorf("got %q", got)
	}
	if n := len(s.Processes()); n != 1 {
		t.Errorf("%d processes are registered", n)
	}
}

func TestP17_OutOfMemoryIsRecognised(t *testing.T) {
	limit := memoryGroup(t, 48<<20)
	s := newSpawner(t, proc.Options{})
	exe := command("eat")
	c := proc.Command{
		Argv: []string{"/bin/sh", "-c", `echo $$ > "$1" && exec "$2"`, "sh", filepath.Join(limit, "cgroup.procs"), exe.Argv[0]},
		Env:  exe.Env,
		Dir:  "/",
	}
	p := start(t, s, c)
	wait(t, p.Exited(), 20*time.Second, "the kernel to kill it")
	if st := p.Status(); !st.OutOfMemory || st.Signal != syscall.SIGKILL || !strings.Contains(st.String(), "memory") {
		t.Errorf("status %+v (%s), stderr %q", st, st, p.Stderr(1000))
	}
	plain := start(t, s, command("deaf"))
	line(t, plain)
	if err := syscall.Kill(plain.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	wait(t, plain.Gone(), time.Second, "the end")
	if st := plain.Status(); st.OutOfMemory || st.Asked || st.Signal != syscall.SIGKILL {
		t.Errorf("status of a plain SIGKILL from outside: %+v", st)
	}
}

// memoryGroup makes a control group with a limit in bytes.
func memoryGroup(t *testing.T, limit int64) string {
	t.Helper()
	name := fmt.Sprintf("aura-test-%d", os.Getpid())
	for _, v := range []struct{ base, file string }{
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"},
		{"/sys/fs/cgroup", "memory.max"},
	} {
		dir := filepath.Join(v.base, name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			continue
		}
		err := os.WriteFile(filepath.Join(dir, v.file), fmt.Append(nil, limit), 0o644)
		if err == nil {
			_ = os.WriteFile(filepath.Join(dir, "memory.swap.max"), []byte("0"), 0o644)
			_ = os.WriteFile(filepath.Join(dir, "memory.memsw.limit_in_bytes"), fmt.Append(nil, limit), 0o644)
			t.Cleanup(func() {
				until(t, 5*time.Second, "the control group to empty", func() bool { return os.Remove(dir) == nil })
			})
			return dir
		}
		_ = os.Remove(dir)
	}
	t.Skip("SKIP P17: this machine lets us make no memory control group")
	return ""
}

// When memory runs out the kernel is to end children before what the user works with.
func TestP17_ChildrenAreTheFirstToGo(t *testing.T) {
	s := newSpawner(t, proc.Options{})
	p := start(t, s, command("echo"))
	score := func(pid int) int {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid))
		if err != nil {
			t.Fatal(err)
		}
		return pidOf(t, strings.TrimSpace(string(b)))
	}
	if ours, its := score(os.Getpid()), score(p.PID()); its != max(ours, 300) {
		t.Errorf("score %d for ours of %d; want at least 300, and never less", its, ours)
	}
}
