package proc_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/auralsp/aura/lspclient/proc"
)

func countFDs(t *testing.T) int {
	t.Helper()
	d, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(d)
}

// children returns the ids of our children, zombies among them.
func children(t *testing.T) []int {
	t.Helper()
	return childrenOf(t, os.Getpid())
}

func childrenOf(t *testing.T, parent int) []int {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var out []int
	for _, f := range dirs {
		b, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(b), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == strconv.Itoa(parent) {
			out = append(out, pidOf(t, filepath.Base(filepath.Dir(f))))
		}
	}
	return out
}

// killedDaemon runs a daemon with children in the ledger, kills it, and
// returns the ids of the children and of their children. Its guard is killed
// first if it is to be unguarded.
func killedDaemon(t *testing.T, ledger string, guarded bool) (direct, others []int) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), roleVariable+"=daemon", "PROC_TEST_LEDGER="+ledger)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for sc := bufio.NewScanner(out); sc.Scan() && sc.Text() != "ready"; {
		f := strings.Fields(sc.Text())
		direct = append(direct, pidOf(t, f[0]))
		if pid, err := strconv.Atoi(f[1]); err == nil {
			others = append(others, pid)
		}
	}
	if len(direct) != 3 || len(others) != 2 {
		t.Fatalf("the daemon reported %v and %v", direct, others)
	}
	if guard := guardOf(t, cmd.Process.Pid); !guarded {
		if err := syscall.Kill(guard, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	return direct, others
}

// guardOf finds the guard among the children of a daemon.
func guardOf(t *testing.T, parent int) int {
	t.Helper()
	for _, pid := range childrenOf(t, parent) {
		if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil && strings.HasPrefix(string(b), "aura-guard") {
			return pid
		}
	}
	t.Fatal("no guard runs")
	return 0
}

func TestP13_NothingOutlivesAKilledDaemonByTwoSeconds(t *testing.T) {
	direct, others := killedDaemon(t, t.TempDir(), true)
	until(t, 2*time.Second, "children, grandchildren and those in other sessions to end", func() bool {
		for _, pid := range append(direct, others...) {
			if runs(pid) {
				return false
			}
		}
		return true
	})
}

func TestP13_KilledGuardIsReplaced(t *testing.T) {
	s := newSpawner(t, proc.Options{})
	start(t, s, command("echo"))
	first := guardOf(t, os.Getpid())
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	until(t, time.Second, "the guard to die", func() bool { return !runs(first) })
	start(t, s, command("echo"))
	if second := guardOf(t, os.Getpid()); second == first {
		t.Error("the guard was not replaced")
	}
}

func TestP13_NextDaemonSweepsTheLedger(t *testing.T) {
	ledger := t.TempDir()
	direct, others := killedDaemon(t, ledger, false)
	until(t, 2*time.Second, "the children of the killed daemon to end", func() bool {
		for _, pid := range direct {
			if runs(pid) {
				return false
			}
		}
		return true
	})
	if !runs(others[0]) {
		t.Fatal("the grandchild is gone already, so the sweep below proves nothing")
	}
	newSpawner(t, proc.Options{Ledger: ledger})
	for _, pid := range others {
		if runs(pid) {
			t.Errorf("descendant %d survived the sweep", pid)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	if left, _ := os.ReadDir(ledger); len(left) != 0 {
		t.Errorf("the ledger still holds %d entries", len(left))
	}
}

// A process that has a recorded id but not the recorded identity is a stranger.
func TestP13_StrangersAreNotKilled(t *testing.T) {
	s := newSpawner(t, proc.Options{})
	p := start(t, s, command("echo"))
	start := startTime(t, p.PID())
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	entry := func(mark string, child map[string]any, owner map[string]any) []byte {
		b, err := json.Marshal(map[string]any{
			"mark": mark, "boot": strings.TrimSpace(string(boot)), "owner": owner, "child": child, "program": "/bin/other",
		})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	dead := map[string]any{"pid": 1 << 22, "start": "1"}
	us := map[string]any{"pid": os.Getpid(), "start": startTime(t, os.Getpid())}
	for name, c := range map[string]struct {
		content []byte
		keep    bool
	}{
		"other start time":    {entry("m", map[string]any{"pid": p.PID(), "start": "12345"}, dead), false},
		"other mark, program": {entry("m", map[string]any{"pid": p.PID(), "start": start}, dead), false},
		"owner is alive":      {entry("m", map[string]any{"pid": p.PID(), "start": start}, us), true},
		"half an entry":       {[]byte(`{"mark":"m","bo`), false},
		"name of another":     {entry("../../x", map[string]any{"pid": p.PID(), "start": start}, dead), false},
	} {
		t.Run(name, func(t *testing.T) {
			ledger := t.TempDir()
			file := filepath.Join(ledger, "m.json")
			if err := os.WriteFile(file, c.content, 0o600); err != nil {
				t.Fatal(err)
			}
			newSpawner(t, proc.Options{Ledger: ledger})
			if !runs(p.PID()) {
				t.Fatal("a process that was not proven ours was killed")
			}
			if _, err := os.Stat(file); (err == nil) != c.keep {
				t.Errorf("entry kept: %v; want %v", err == nil, c.keep)
			}
		})
	}
}

func TestP13_SweptByStartTimeAndProgramWhenTheMarkIsGone(t *testing.T) {
	cmd := exec.Command("/bin/sleep", "600") // no mark: as if it had overwritten its environment
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	ledger := t.TempDir()
	content := fmt.Sprintf(`{"mark":"m","boot":%q,"owner":{"pid":4194304,"start":"1"},"child":{"pid":%d,"start":%q},"program":"/bin/sleep"}`,
		strings.TrimSpace(string(boot)), cmd.Process.Pid, startTime(t, cmd.Process.Pid))
	if err := os.WriteFile(filepath.Join(ledger, "m.json"), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	newSpawner(t, proc.Options{Ledger: ledger})
	if runs(cmd.Process.Pid) {
		t.Error("the recorded child survived")
		_ = cmd.Process.Kill()
	}
	_ = cmd.Wait()
}

func startTime(t *testing.T, pid int) string {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return strings.Fields(rest)[19]
}
