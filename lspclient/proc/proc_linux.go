package proc

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// userHZ is the unit of CPU times in /proc, fixed by the kernel's ABI.
const userHZ = 100

func groupAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// sealDescriptors keeps descriptors that this process inherited, and that so
// lack close-on-exec, from its children. Go sets the flag on all of its own.
func sealDescriptors() {
	if unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	fds, err := os.ReadDir("/proc/self/fd") // kernels before 5.11
	if err != nil {
		return
	}
	for _, e := range fds {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}

// expendable is how much earlier than others a child is ended by the kernel when
// memory runs out (proc_pid_oom_score_adj(5), of 1000): it can be started
// again, and what its user works with cannot.
const expendable = 300

// yield makes a child and what it will start the first to go. It is a wish.
func yield(pid int) {
	file := "/proc/" + strconv.Itoa(pid) + "/oom_score_adj"
	b, err := os.ReadFile(file)
	if now, nerr := strconv.Atoi(strings.TrimSpace(string(b))); err == nil && nerr == nil && now < expendable {
		_ = os.WriteFile(file, []byte(strconv.Itoa(expendable)), 0)
	}
}

func signalGroup(pgid int, sig syscall.Signal) error { return syscall.Kill(-pgid, sig) }

// awaitExit returns when the child has ended and leaves it a zombie; false
// means that this could not be found out.
func awaitExit(pid int) bool {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err == nil
		}
	}
}

// stat is what /proc/PID/stat says (proc_pid_stat(5)).
type stat struct {
	pid, ppid, pgrp int
	state           byte
	ticks           uint64 // utime, stime, cutime, cstime
	start           string // ticks since boot
	pages           int64  // resident
}

func readStat(pid int) (stat, error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}, err
	}
	end := bytes.LastIndexByte(b, ')') // the name may hold anything
	if end < 0 {
		return stat{}, fmt.Errorf("proc: malformed stat of %d", pid)
	}
	f := strings.Fields(string(b[end+1:]))
	if len(f) < 22 {
		return stat{}, fmt.Errorf("proc: short stat of %d", pid)
	}
	s := stat{pid: pid, state: f[0][0], start: f[19]}
	s.ppid, _ = strconv.Atoi(f[1])
	s.pgrp, _ = strconv.Atoi(f[2])
	for _, v := range f[11:15] {
		n, _ := strconv.ParseInt(v, 10, 64)
		s.ticks += uint64(max(n, 0))
	}
	s.pages, _ = strconv.ParseInt(f[21], 10, 64)
	return s, nil
}

func startOf(pid int) (string, error) {
	s, err := readStat(pid)
	if err != nil {
		return "", err
	}
	if s.state == 'Z' || s.state == 'X' {
		return "", os.ErrNotExist
	}
	return s.start, nil
}

func bootID() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(b))
}

func pids() []int {
	d, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	out := make([]int, 0, len(names))
	for _, n := range names {
		if pid, err := strconv.Atoi(n); err == nil {
			out = append(out, pid)
		}
	}
	return out
}

// marked returns the running processes that carry the mark, ourselves excluded.
func marked(mark string) []int {
	want := []byte(MarkVariable + "=" + mark)
	self := os.Getpid()
	var out []int
	for _, pid := range pids() {
		if pid != self && carries(pid, want) {
			out = append(out, pid)
		}
	}
	return out
}

// carries reports whether the variable is in the environment that the process
// started with. A zombie has none.
func carries(pid int, want []byte) bool {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	for v := range bytes.SplitSeq(env, []byte{0}) {
		if bytes.Equal(v, want) {
			return true
		}
	}
	return false
}

// killMarked kills every process that carries the mark until a pass over /proc
// finds none and those that were found, and the others given, have ended. It
// returns how many have not at the deadline.
func killMarked(mark string, others []identity, deadline time.Time) (left int) {
	want := []byte(MarkVariable + "=" + mark)
	pause := time.NewTicker(5 * time.Millisecond)
	defer pause.Stop()
	for {
		found := marked(mark)
		for _, pid := range found {
			if start, err := startOf(pid); err == nil {
				others = append(others, identity{PID: pid, Start: start})
			}
			killVerified(pid, func() bool { return carries(pid, want) })
		}
		// A killed process has no environment any more some time before it has ended.
		others = slices.DeleteFunc(others, func(id identity) bool { return !alive(id) })
		if len(found) == 0 && len(others) == 0 {
			return 0
		}
		if time.Now().After(deadline) {
			return max(len(found), len(others))
		}
		<-pause.C
	}
}

// members returns the processes of the leader's group and its descendants, itself excluded.
func members(leader int) (ids []identity) {
	for _, s := range family(readAll(), leader) {
		if s.pid != leader && s.state != 'Z' {
			ids = append(ids, identity{PID: s.pid, Start: s.start})
		}
	}
	return ids
}

// killVerified holds the process by a descriptor while it is verified, so that
// the id cannot pass to a stranger in between.
func killVerified(pid int, ok func() bool) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		if errors.Is(err, unix.ENOSYS) && ok() { // kernels before 5.3
			return syscall.Kill(pid, syscall.SIGKILL) == nil
		}
		return false
	}
	defer unix.Close(fd)
	return ok() && unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) == nil
}

// killKnown kills processes that are the very ones that were recorded.
func killKnown(ids []identity) {
	for _, id := range ids {
		killVerified(id.PID, func() bool { return alive(id) })
	}
}

// killRecorded kills a child by its entry if its start time and its mark, or
// for programs that overwrite their environment its program, are the recorded
// ones; its group goes with it.
func killRecorded(e entry, deadline time.Time) bool {
	id := e.Child
	want := []byte(MarkVariable + "=" + e.Mark)
	same := func() bool {
		if !alive(id) {
			return false
		}
		exe, _ := os.Readlink("/proc/" + strconv.Itoa(id.PID) + "/exe")
		real, _ := filepath.EvalSymlinks(e.Program)
		return carries(id.PID, want) || (exe != "" && (exe == e.Program || exe == real))
	}
	if !same() {
		return false
	}
	if s, err := readStat(id.PID); err == nil && s.pgrp == id.PID {
		_ = signalGroup(id.PID, syscall.SIGKILL)
	}
	killVerified(id.PID, same)
	pause := time.NewTicker(5 * time.Millisecond)
	defer pause.Stop()
	for alive(id) && time.Now().Before(deadline) {
		<-pause.C
	}
	return true
}

// oomKills counts the out-of-memory kills of the machine and of our control
// group (which counts those by its own limit too).
func oomKills() uint64 {
	total := counter("/proc/vmstat", "oom_kill")
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return total
	}
	for line := range strings.Lines(string(groups)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		switch {
		case f[1] == "":
			total += counter(filepath.Join("/sys/fs/cgroup", f[2], "memory.events"), "oom_kill")
		case f[1] == "memory":
			total += counter(filepath.Join("/sys/fs/cgroup/memory", f[2], "memory.oom_control"), "oom_kill")
		}
	}
	return total
}

func counter(file, key string) uint64 {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == key {
			n, _ := strconv.ParseUint(f[1], 10, 64)
			return n
		}
	}
	return 0
}
