package proc

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// guardScript is a process of its own that ends what a killed daemon leaves:
// the parent-death signal reaches the children only, not what they started. It
// reads which groups and marks live, and kills those when the daemon's end of
// the pipe is closed. A daemon that ends in order has told it of none by then.
const guardScript = `
trap '' HUP INT QUIT TERM
live=
while read -r op pid mark; do
	case $op in
	+) live="$live $pid:$mark" ;;
	-)
		rest=
		for e in $live; do [ "$e" = "$pid:$mark" ] || rest="$rest $e"; done
		live=$rest
		;;
	esac
done
for e in $live; do kill -KILL "-${e%%:*}" 2>/dev/null; done
for round in 1 2 3; do
	for e in $live; do
		for f in $(grep -laFe "$0=${e#*:}" /proc/[0-9]*/environ 2>/dev/null); do
			pid=${f#/proc/}
			kill -KILL "${pid%/environ}" 2>/dev/null
		done
	done
done
`

// guard is the daemon's side of it. A system without /bin/sh goes without.
type guard struct {
	mu   sync.Mutex // guards the rest
	cmd  *exec.Cmd
	pipe *os.File
	live map[string]struct{} // lines without their sign
	off  bool
}

func (g *guard) add(p *Process) error {
	if p.pid <= 1 {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.live == nil {
		g.live = make(map[string]struct{})
	}
	line := fmt.Sprintf("%d %s", p.pid, p.mark)
	g.live[line] = struct{}{}
	return g.tell("+ " + line + "\n")
}

func (g *guard) remove(p *Process) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	line := fmt.Sprintf("%d %s", p.pid, p.mark)
	if _, ok := g.live[line]; !ok {
		return nil
	}
	delete(g.live, line)
	return g.tell("- " + line + "\n")
}

// tell writes a line, and begins anew with a fresh guard if the last one is
// gone. The caller holds mu.
func (g *guard) tell(line string) error {
	if g.off {
		return nil
	}
	if g.cmd != nil {
		if _, err := g.pipe.WriteString(line); err == nil {
			return nil
		}
		g.reap()
	}
	if len(g.live) == 0 {
		return nil
	}
	if err := g.start(); err != nil {
		g.off = true
		return fmt.Errorf("proc: guard: %w", err)
	}
	for line := range g.live {
		if _, err := g.pipe.WriteString("+ " + line + "\n"); err != nil {
			g.reap()
			return fmt.Errorf("proc: guard: %w", err)
		}
	}
	return nil
}

func (g *guard) start() error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd := &exec.Cmd{
		Path: "/bin/sh",
		// $0 is the variable, which also names the process for people who look.
		Args:        []string{"aura-guard", "-c", guardScript, MarkVariable},
		Env:         []string{"PATH=/usr/bin:/bin"},
		Dir:         "/",
		Stdin:       r,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	err = cmd.Start()
	_ = r.Close()
	if err != nil {
		_ = w.Close()
		return err
	}
	g.cmd, g.pipe = cmd, w
	return nil
}

// reap ends a guard that has nothing to do or is gone already.
func (g *guard) reap() {
	_ = g.pipe.Close()
	_ = g.cmd.Process.Kill()
	_ = g.cmd.Wait() // its status says nothing
	g.cmd, g.pipe = nil, nil
}

func (g *guard) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.off = true
	if g.cmd != nil {
		g.reap()
	}
}
