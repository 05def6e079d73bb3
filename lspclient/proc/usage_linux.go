package proc

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// readAll reads every process of the machine that we can see.
func readAll() map[int]stat {
	all := make(map[int]stat)
	for _, pid := range pids() {
		if s, err := readStat(pid); err == nil {
			all[pid] = s
		}
	}
	return all
}

// family returns the process, its group and its descendants.
func family(all map[int]stat, leader int) []stat {
	belongs := func(s stat) bool {
		for range 64 { // a bound, as ids may be reused while we look
			if s.pid == leader || s.pgrp == leader {
				return true
			}
			next, ok := all[s.ppid]
			if !ok {
				return false
			}
			s = next
		}
		return false
	}
	var out []stat
	for _, s := range all {
		if belongs(s) {
			out = append(out, s)
		}
	}
	return out
}

// markOf returns the mark that a process carries; empty when it carries none
// or may not be asked.
func markOf(pid int) string {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return ""
	}
	for v := range bytes.SplitSeq(env, []byte{0}) {
		if mark, ok := bytes.CutPrefix(v, []byte(MarkVariable+"=")); ok {
			return string(mark)
		}
	}
	return ""
}

// unmarked returns the members of a family that have left the group and do not
// carry the mark either, so that nothing but their descent tells whose they are.
func unmarked(of []stat, p *Process) (ids []identity) {
	for _, s := range of {
		if s.pgrp != p.pid && s.pid != p.pid && s.state != 'Z' && markOf(s.pid) != p.mark {
			ids = append(ids, identity{PID: s.pid, Start: s.start})
		}
	}
	return ids
}

// straysOf is unmarked of a running process.
func straysOf(p *Process) []identity { return unmarked(family(readAll(), p.pid), p) }

// usages measures processes with all that belongs to them, in one pass over
// the machine: group, descendants, and what has left both but carries the mark.
func usages(list []*Process, shared bool) map[*Process]Usage {
	all := readAll()
	out := make(map[*Process]Usage, len(list))
	byMark := make(map[string]*Process, len(list))
	self := os.Getpid()
	seen := map[int]bool{self: true}
	oldest := uint64(math.MaxUint64) // start of the first of them; nothing that they started is older
	for _, p := range list {
		byMark[p.mark] = p
		oldest = min(oldest, all[p.pid].age())
		of := family(all, p.pid)
		p.remember(unmarked(of, p))
		var u Usage
		for _, s := range of {
			seen[s.pid] = true
			u.count(s, shared)
			if s.pid == p.pid {
				u.Stopped = s.state == 'T' || s.state == 't'
			}
		}
		if u.Processes > 0 {
			out[p] = u
		}
	}
	for pid, s := range all {
		if seen[pid] || s.pages == 0 || s.age() < oldest {
			continue
		}
		if p := byMark[markOf(pid)]; p != nil {
			u := out[p]
			u.count(s, shared)
			out[p] = u
		}
	}
	return out
}

// age is since when the process runs, in ticks since boot.
func (s stat) age() uint64 {
	n, _ := strconv.ParseUint(s.start, 10, 64)
	return n
}

func (u *Usage) count(s stat, shared bool) {
	resident := s.pages * int64(os.Getpagesize())
	u.CPU += time.Duration(s.ticks) * (time.Second / userHZ)
	if s.state == 'Z' {
		return
	}
	u.Processes++
	u.RSS += resident
	if !shared {
		return
	}
	if pss, ok := pssOf(s.pid); ok {
		resident = pss
	}
	u.PSS += resident
}

func cpuOf(leader int) (cpu time.Duration, stopped bool, err error) {
	n := 0
	for _, s := range family(readAll(), leader) {
		n++
		cpu += time.Duration(s.ticks) * (time.Second / userHZ)
		if s.pid == leader {
			stopped = s.state == 'T' || s.state == 't'
		}
	}
	if n == 0 {
		return 0, false, os.ErrProcessDone
	}
	return cpu, stopped, nil
}

func pssOf(pid int) (int64, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/smaps_rollup")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "Pss:"); ok {
			return kilobytes(rest)
		}
	}
	return 0, false
}

// kilobytes reads "  123 kB".
func kilobytes(s string) (int64, bool) {
	kb, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(s), "kB")), 10, 64)
	return kb << 10, err == nil
}

// machineMemory returns what the machine has, or the control groups that this
// process is in allow if that is less.
func machineMemory() int64 {
	var total int64
	info, _ := os.ReadFile("/proc/meminfo")
	for line := range strings.Lines(string(info)) {
		if rest, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			total, _ = kilobytes(rest)
		}
	}
	allow := func(file string) {
		b, err := os.ReadFile(file)
		if err != nil {
			return
		}
		// "max", or in the old hierarchy a number beyond all memory, is no limit.
		if n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64); err == nil && n > 0 && (total == 0 || n < total) {
			total = n
		}
	}
	groups, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(groups)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		root, file := "/sys/fs/cgroup", "memory.max"
		if f[1] == "memory" {
			root, file = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		} else if f[1] != "" {
			continue
		}
		// A limit of any group above holds, too.
		for dir := filepath.Join("/", f[2]); ; dir = filepath.Dir(dir) {
			allow(filepath.Join(root, dir, file))
			if dir == "/" {
				break
			}
		}
	}
	return total
}
