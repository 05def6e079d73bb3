package proc_test

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/auralsp/aura/lspclient/proc"
)

func pidsOf(t *testing.T, line string) (out []int) {
	t.Helper()
	for f := range strings.FieldsSeq(line) {
		out = append(out, pidOf(t, f))
	}
	return out
}

// What a server uses is what all of its household uses: a child in its group,
// one in a session of its own, one that carries no mark, and one whose parent
// has ended.
func TestUsageCountsEveryDescendant(t *testing.T) {
	s := newSpawner(t, proc.Options{})
	p := start(t, s, command("household"))
	other := start(t, s, command("echo"))
	members := pidsOf(t, line(t, p))
	until(t, 2*time.Second, "the escaper to end", func() bool {
		u, err := p.Usage()
		return err == nil && u.Processes == 1+len(members)
	})
	quick := proc.Usages([]*proc.Process{p, other}, false)
	exact := proc.Usages([]*proc.Process{p, other}, true)
	if quick[p].Processes != 5 || quick[other].Processes != 1 || quick[p].PSS != 0 {
		t.Errorf("usage %+v; want five processes and one, without shares", quick)
	}
	if u := exact[p]; u.PSS <= 0 || u.PSS > u.RSS {
		t.Errorf("usage %+v; want a share of what is resident", u)
	}
	if got := proc.MachineMemory(); got < exact[p].PSS {
		t.Errorf("the machine has %d bytes", got)
	}
}

func TestP12_EveryDescendantEndsWithAStop(t *testing.T) {
	for name, end := range map[string]func(*proc.Process){
		"stop": func(p *proc.Process) {
			_, _ = p.Stop(t.Context(), proc.Ladder{CloseFor: 10 * time.Millisecond, TermFor: 100 * time.Millisecond})
		},
		"kill":  (*proc.Process).Kill,
		"crash": func(p *proc.Process) { _ = syscall.Kill(p.PID(), syscall.SIGKILL) },
	} {
		s := newSpawner(t, proc.Options{})
		p := start(t, s, command("household"))
		members := pidsOf(t, line(t, p))
		if name == "crash" { // nobody knows beforehand, so it has to have been looked at
			_ = proc.Usages([]*proc.Process{p}, false)
		}
		end(p)
		wait(t, p.Gone(), 3*time.Second, "the end of everything")
		for _, pid := range members {
			if runs(pid) {
				t.Errorf("%s: descendant %d of %v survived", name, pid, members)
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
}

// After kill -9 of a daemon nothing is left of a server's household once the
// next daemon has started.
func TestP13_NothingOfAHouseholdOutlivesTheNextStart(t *testing.T) {
	ledger := t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), roleVariable+"=keeper", "PROC_TEST_LEDGER="+ledger)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said, err := bufio.NewReader(out).ReadString('\n')
	members := pidsOf(t, said)
	if err != nil || len(members) != 5 {
		t.Fatalf("the daemon said %q, %v", said, err)
	}
	if err := syscall.Kill(guardOf(t, cmd.Process.Pid), syscall.SIGKILL); err != nil {
		t.Fatal(err) // what the guard kills proves nothing of the sweep
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	newSpawner(t, proc.Options{Ledger: ledger})
	for _, pid := range members {
		if runs(pid) {
			t.Errorf("descendant %d of %v survived the sweep", pid, members)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	if left, _ := os.ReadDir(ledger); len(left) != 0 {
		t.Errorf("the ledger still holds %d entries", len(left))
	}
}
