package proc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/auralsp/aura/lspclient/proc"
)

func TestEchoAndPoliteStop(t *testing.T) {
	s := newSpawner(t, proc.Options{})
	p := start(t, s, command("echo"))
	want := bytes.Repeat([]byte("ping\n"), 100_000)
	go func() { _, _ = p.Conn().Write(want) }()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(p.Conn(), got); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Fatal("what came back is not what was sent")
	}
	asked := false
	st, err := p.Stop(t.Context(), proc.Ladder{Ask: func(context.Context) error { asked = true; return nil }})
	if err != nil {
		t.Fatal(err)
	}
	if !asked || st.Code != 0 || st.Signal != 0 || !st.Asked || st.OutOfMemory {
		t.Errorf("asked %v, status %+v; want a clean exit after the polite request", asked, st)
	}
	if n, err := p.Conn().Read(got); n != 0 || err != io.EOF {
		t.Errorf("read after the end: %d, %v; want EOF", n, err)
	}
	if _, err := p.Conn().Write([]byte("x")); err == nil {
		t.Error("write after the end succeeded")
	}
}

func TestP01_MissingNotExecutableOrGoneAtOnce(t *testing.T) {
	s := newSpawner(t, proc.Options{Ledger: t.TempDir()})
	began := time.Now()
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("#!/bin/sh\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	junk := filepath.Join(dir, "junk")
	if err := os.WriteFile(junk, []byte("not a program"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		program string
		want    error
	}{
		{filepath.Join(dir, "missing"), fs.ErrNotExist},
		{plain, fs.ErrPermission},
		{junk, syscall.ENOEXEC},
	} {
		_, err := s.Start(t.Context(), proc.Command{Argv: []string{c.program}, Dir: dir})
		var se *proc.StartError
		if !errors.As(err, &se) || se.Program != c.program || !errors.Is(err, c.want) {
			t.Errorf("%s: error %v; want a StartError that is %v", c.program, err, c.want)
		}
	}
	p := start(t, s, command("exit"))
	wait(t, p.Gone(), time.Second, "the end of a program that exits at once")
	if st := p.Status(); st.Code != 7 || st.String() != "exit status 7" || st.Asked {
		t.Errorf("status %+v (%s)", st, st)
	}
	if got := string(p.Stderr(4096)); !strings.Contains(got, "no such flag") {
		t.Errorf("stderr %q does not hold the reason", got)
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("took %v; want under a second", took)
	}
	if n := len(s.Processes()); n != 0 {
		t.Errorf("%d processes are still registered", n)
	}
}

func TestP09_StderrFloodIsDrainedIntoARing(t *testing.T) {
	s := newSpawner(t, proc.Options{})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	p := start(t, s, command("flood"))
	if got := line(t, p); got != "done" {
		t.Fatalf("got %q", got)
	}
	until(t, 5*time.Second, "all of stderr to arrive", func() bool { return p.StderrTotal() == 100<<20+7 })
	runtime.GC()
	runtime.ReadMemStats(&after)
	tail := p.Stderr(1 << 30)
	if len(tail) != proc.TailSize || !bytes.HasSuffix(tail, []byte("xxTHE END")) {
		t.Errorf("tail has %d bytes and ends %q", len(tail), tail[max(0, len(tail)-16):])
	}
	if grown := int64(after.Sys) - int64(before.Sys); grown > 8<<20 {
		t.Errorf("memory grew by %d bytes", grown)
	}
}

func TestP09_StderrClosedEarly(t *testing.T) {
	s := newSpawner(t, proc.Options{})
	p := start(t, s, command("deafstderr"))
	if got := line(t, p); got != "done" {
		t.Fatalf("got %q", got)
	}
	if st, err := p.Stop(t.Context(), proc.Ladder{}); err != nil || st.Code != 0 {
		t.Errorf("stop: %+v, %v", st, err)
	}
}

func TestP10_DeafProcessIsKilledWithinBounds(t *testing.T) {
	s := newSpawner(t, proc.Options{})
	p := start(t, s, command("deaf"))
	line(t, p)
	began := time.Now()
	st, err := p.Stop(t.Context(), proc.Ladder{
		Ask:      func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		AskFor:   300 * time.Millisecond,
		CloseFor: 100 * time.Millisecond,
		TermFor:  100 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	if st.Signal != syscall.SIGKILL || st.String() != "killed by SIGKILL" || st.OutOfMemory {
		t.Errorf("status %+v (%s); want a plain SIGKILL", st, st)
	}
	if took := time.Since(began); took < 500*time.Millisecond || took > 3*time.Second {
		t.Errorf("took %v; want every step to have had its time and no more", took)
	}
}

func TestP10_EndedContextSkipsToKill(t *testing.T) {
	s := newSpawner(t, proc.Options{})
	p := start(t, s, command("deaf"))
	line(t, p)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	began := time.Now()
	if _, err := p.Stop(ctx, proc.Ladder{CloseFor: time.Minute, TermFor: time.Minute}); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("took %v", took)
	}
}

func TestP11_GrandchildrenEndWithTheirParent(t *testing.T) {
	s := newSpawner(t, proc.Options{})
	p := start(t, s, command("parent"))
	child := pidOf(t, line(t, p))
	if !runs(child) {
		t.Fatal("the grandchild does not run")
	}
	u, err := p.Usage()
	if err != nil || u.Processes != 2 || u.PSS <= 0 || u.RSS < u.PSS || u.Stopped {
		t.Errorf("usage %+v, %v; want two processes", u, err)
	}
	if _, err := p.Stop(t.Context(), proc.Ladder{CloseFor: 10 * time.Millisecond, TermFor: time.Second}); err != nil {
		t.Fatal(err)
	}
	if runs(child) {
		t.Error("the grandchild outlives the stop")
	}
}

func TestP12_EscapedGrandchildIsFoundByItsMark(t *testing.T) {
	s := newSpawner(t, proc.Options{})
	p := start(t, s, command("escaper"))
	child := pidOf(t, line(t, p))
	wait(t, p.Gone(), 2*time.Second, "the end of everything")
	if runs(child) {
		t.Error("a grandchild in a session of its own survived")
	}
	if st := p.Status(); st.Code != 4 {
		t.Errorf("status %v; want the leader's own exit code 4", st)
	}
}

func TestP23_GrandchildThatHoldsThePipes(t *testing.T) {
	s := newSpawner(t, proc.Options{})
	began := time.Now()
	p := start(t, s, command("orphaner"))
	child := pidOf(t, line(t, p))
	wait(t, p.Exited(), 2*time.Second, "the exit")
	if late := time.Since(began) - p.Status().Lived; late > 100*time.Millisecond {
		t.Errorf("the exit was known %v after it", late)
	}
	if n, err := p.Conn().Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("read %d, %v; want the end of the stream", n, err)
	}
	took := wait(t, p.Gone(), time.Second, "the end of everything")
	if runs(child) {
		t.Errorf("the grandchild survived %v", took)
	}
}

func TestP14_ThousandCyclesLeaveNothing(t *testing.T) {
	ledger := t.TempDir()
	s := newSpawner(t, proc.Options{Ledger: ledger})
	cycle := func() {
		p, err := s.Start(t.Context(), command("echo"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Stop(t.Context(), proc.Ladder{CloseFor: 10 * time.Second}); err != nil {
			t.Fatal(err)
		}
		_ = p.Conn().Close()
	}
	cycle()
	fds, routines, before := countFDs(t), runtime.NumGoroutine(), len(children(t))
	n := 1000
	if testing.Short() {
		n = 50
	}
	for range n {
		cycle()
	}
	if got := countFDs(t); got > fds+2 {
		t.Errorf("descriptors grew from %d to %d", fds, got)
	}
	until(t, time.Second, "goroutines to end", func() bool { return runtime.NumGoroutine() <= routines+2 })
	if kids := children(t); len(kids) != before { // the guard is one
		t.Errorf("%d children before, now %v", before, kids)
	}
	if left, _ := os.ReadDir(ledger); len(left) != 0 {
		t.Errorf("the ledger still holds %d entries", len(left))
	}
}

func TestP15_EndingThreadsKillNoChild(t *testing.T) {
	s := newSpawner(t, proc.Options{})
	p := start(t, s, command("echo"))
	n := 10_000
	if testing.Short() {
		n = 500
	}
	for range n {
		done := make(chan struct{})
		go func() {
			defer close(done)
			runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		}()
		<-done
	}
	if _, err := p.Conn().Write([]byte("still here\n")); err != nil {
		t.Fatal(err)
	}
	if got := line(t, p); got != "still here" {
		t.Errorf("got %q", got)
	}
}

func TestP16_StoppedProcessIsSeenAndStopped(t *testing.T) {
	s := newSpawner(t, proc.Options{})
	p := start(t, s, command("spin"))
	line(t, p)
	until(t, 5*time.Second, "CPU time of a busy process to move", func() bool {
		cpu, stopped, err := p.CPU()
		return err == nil && !stopped && cpu >= 20*time.Millisecond
	})
	if err := syscall.Kill(p.PID(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	until(t, time.Second, "the stopped state", func() bool {
		_, stopped, err := p.CPU()
		return err == nil && stopped
	})
	first, _, _ := p.CPU()
	second, _, _ := p.CPU()
	if first != second {
		t.Errorf("CPU time of a stopped process moved from %v to %v", first, second)
	}
	st, err := p.Stop(t.Context(), proc.Ladder{CloseFor: 20 * time.Millisecond, TermFor: 2 * time.Second})
	if err != nil || st.Signal != syscall.SIGTERM {
		t.Errorf("status %+v, %v; want the end by SIGTERM, which needs SIGCONT", st, err)
	}
	if _, _, err := p.CPU(); err == nil {
		t.Error("CPU of an ended process has no error")
	}
}

func TestP24_ChildHasOnlyItsThreeDescriptors(t *testing.T) {
	// What a daemon inherits has no close-on-exec flag: make such a descriptor.
	fd, err := unix.Dup(0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	s := newSpawner(t, proc.Options{Ledger: t.TempDir()})
	other := start(t, s, command("echo"))
	defer other.Kill()
	// Not this binary: Go's runtime opens descriptors of its own.
	cat := start(t, s, proc.Command{Argv: []string{"/bin/cat"}, Dir: "/"})
	// Its loader has libraries open for a moment; what it inherited stays open.
	until(t, 5*time.Second, "standard input, output and error to be all that it has", func() bool {
		entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", cat.PID()))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range entries {
			got = append(got, e.Name())
		}
		return slices.Equal(got, []string{"0", "1", "2"})
	})
}

func TestMergeAndNoInput(t *testing.T) {
	s := newSpawner(t, proc.Options{})
	c := command("exit")
	c.Merge, c.NoInput = true, true
	p := start(t, s, c)
	out, err := io.ReadAll(p.Conn())
	if err != nil || !strings.Contains(string(out), "no such flag") {
		t.Errorf("output %q, %v; want standard error in it", out, err)
	}
}

func TestCloseKillsAndRefuses(t *testing.T) {
	s, err := proc.NewSpawner(t.Context(), proc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Start(t.Context(), command("deaf"))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Conn().Close()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if kids := children(t); len(kids) != 0 {
		t.Errorf("children are left: %v", kids)
	}
	if runs(p.PID()) {
		t.Error("a process outlives Close")
	}
	if _, err := s.Start(t.Context(), command("echo")); !errors.Is(err, proc.ErrClosed) {
		t.Errorf("start after Close: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
