package edit

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// mutating are the system calls that can change a disk. Opens count when they
// make or write.
const mutating = "openat,openat2,write,pwrite64,fsync,fdatasync,syncfs,rename,renameat,renameat2,link,linkat," +
	"unlink,unlinkat,mkdir,mkdirat,fchmod,fchmodat,fchown,fchownat,fsetxattr,utimensat,ftruncate"

// strace returns the program, which must be there: a sweep that does not run
// proves nothing.
func strace(t testing.TB) string {
	t.Helper()
	p, err := exec.LookPath("strace")
	if err == nil {
		return p
	}
	if os.Getenv("AURA_TEST_ALLOW_MISSING") == "1" {
		t.Skip("strace is not installed: the sweep over system calls did not run")
	}
	t.Fatal("strace is not installed: install the package strace, or set AURA_TEST_ALLOW_MISSING=1 to leave the sweep out")
	return ""
}

// point is one system call of the helper's thread: the n-th of its name.
type point struct {
	name string
	n    int
	line string
}

func (p point) String() string { return fmt.Sprintf("%s %d (%.90s)", p.name, p.n, p.line) }

// job is something that the helper does to a workspace.
type job struct {
	what, root, state, token string
	n                        int
}

func (j job) command(argv ...string) *exec.Cmd {
	argv = append(argv, os.Args[0])
	cmd := exec.Command(argv[0], argv[1:]...)
	// The race detector's runtime sleeps for a second when it ends.
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", helperEnv+"="+strings.Join([]string{j.what, j.root, j.state, fmt.Sprint(j.n), j.token}, "\x1f"))
	return cmd
}

// run does the job to its end.
func (j job) run(t testing.TB) string {
	t.Helper()
	out, err := j.command().CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v\n%s", j.what, err, out)
	}
	return string(out)
}

var straceLine = regexp.MustCompile(`^(\d+) +([a-z0-9]+)\((.*)$`)

// record does the job under strace and returns its mutating calls in order.
func (j job) record(t testing.TB, strace string) []point {
	t.Helper()
	log := filepath.Join(t.TempDir(), "trace")
	cmd := j.command(strace, "-f", "--seccomp-bpf", "-qq", "-y", "-o", log, "-e", "trace="+mutating)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("strace of %s: %v\n%s", j.what, err, out)
	}
	b, err := os.ReadFile(log)
	must(t, err)
	var points []point
	counts := map[string]int{}
	main := ""
	for line := range strings.SplitSeq(string(b), "\n") {
		m := straceLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if main == "" {
			main = m[1] // the first thread makes the first call
		}
		if m[1] != main {
			if writes(m[2], m[3]) && strings.Contains(m[3], j.root) {
				t.Fatalf("a mutating call from another thread: the sweep would miss it: %s", line)
			}
			continue
		}
		counts[m[2]]++
		if writes(m[2], m[3]) {
			points = append(points, point{m[2], counts[m[2]], m[3]})
		}
	}
	if len(points) < 5 {
		t.Fatalf("strace shows only %d mutating calls of %s:\n%s", len(points), j.what, b)
	}
	return points
}

// writes reports whether a call can change the disk.
func writes(name, args string) bool {
	switch name {
	case "openat", "openat2":
		return strings.Contains(args, "O_WRONLY") || strings.Contains(args, "O_RDWR") || strings.Contains(args, "O_CREAT")
	case "write":
		return strings.Contains(args, "</") && !strings.Contains(args, "<pipe:")
	}
	return true
}

// die does the job and kills it when it enters the point. It reports whether
// the job was acknowledged before.
func (j job) die(t testing.TB, strace string, p point) (acknowledged bool) {
	t.Helper()
	// Not with --seccomp-bpf: strace 6.1 then injects no signals.
	cmd := j.command(strace, "-f", "-qq", "-o", "/dev/null", "-e", "trace="+p.name,
		"-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", p.name, p.n))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err == nil {
		t.Errorf("%s: point %s did not fire", j.what, p)
	}
	if strings.Contains(out.String(), "ERROR") {
		t.Errorf("%s: point %s: the job failed instead of dying: %s", j.what, p, out.String())
	}
	return strings.Contains(out.String(), "ACK ")
}

// sweepPoints does fn for every point, two at a time.
func sweepPoints(points []point, fn func(point)) {
	work := make(chan point)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for p := range work {
				fn(p)
			}
		})
	}
	for _, p := range points {
		work <- p
	}
	close(work)
	wg.Wait()
}

// realTest is a crashTest on the real disk: prepare makes a fresh workspace
// for each point, since a copy would be another workspace.
type realTest struct {
	name    string
	prepare func(t testing.TB) (j job, old, new map[string]string)
}

func realApply(n int) realTest {
	return realTest{fmt.Sprintf("apply %d", n), func(t testing.TB) (job, map[string]string, map[string]string) {
		root, state := diskWorld(t, n)
		old := diskTree(t, root)
		return job{what: "apply", root: root, state: state, n: n}, old, applied(old, root, diskChanges(root, n))
	}}
}

func realAbort(n int) realTest {
	return realTest{fmt.Sprintf("abort %d", n), func(t testing.TB) (job, map[string]string, map[string]string) {
		j, old, _ := realApply(n).prepare(t)
		j.what = "abort"
		return j, old, nil
	}}
}

func realUndo(n int) realTest {
	return realTest{fmt.Sprintf("undo %d", n), func(t testing.TB) (job, map[string]string, map[string]string) {
		j, old, new := realApply(n).prepare(t)
		e, err := Open(Options{State: j.state})
		must(t, err)
		j.token, err = transact(e, j.root, diskChanges(j.root, n))
		must(t, err)
		must(t, e.Close(context.Background()))
		j.what = "undo"
		return j, new, old
	}}
}

// judge lets a fresh process recover and looks at what is there.
func (j job) judge(t testing.TB, old, new map[string]string, acknowledged bool) []string {
	r := j
	r.what = "recover"
	r.run(t)
	tree := diskTree(t, j.root)
	isNew := new != nil && maps.Equal(tree, new)
	switch {
	case !isNew && !maps.Equal(tree, old):
		return []string{fmt.Sprintf("the tree is neither old nor new: %v", tree)}
	case acknowledged && !isNew:
		return []string{"it was acknowledged, but the tree is old"}
	}
	e, err := Open(Options{State: j.state})
	must(t, err)
	must(t, e.Recover(context.Background(), j.root))
	bad := realLitter(e, j.root)
	must(t, e.Close(context.Background()))
	return bad
}

// The daemon is killed when it enters each single mutating system call of an
// apply, an abort and an undo.
func TestE01_KillAtEverySystemCall(t *testing.T) {
	st := strace(t)
	var all sweepResult
	for _, rt := range []realTest{
		realApply(1), realApply(3), realAbort(1), realAbort(3), realUndo(1), realUndo(3),
	} {
		t.Run(rt.name, func(t *testing.T) {
			j, _, _ := rt.prepare(t)
			points := j.record(t, st)
			r := &sweepResult{}
			var mu sync.Mutex
			sweepPoints(points, func(p point) {
				j, old, new := rt.prepare(t)
				acknowledged := j.die(t, st, p)
				bad := j.judge(t, old, new, acknowledged)
				mu.Lock()
				defer mu.Unlock()
				r.points++
				for _, b := range bad {
					r.violations = append(r.violations, fmt.Sprintf("%s: %s: %s", rt.name, p, b))
				}
			})
			r.clean(t)
			all.points += r.points
			all.violations = append(all.violations, r.violations...)
		})
	}
	t.Logf("crash sweep over system calls: %d points tried, %d violations", all.points, len(all.violations))
}

// The recovery itself is killed at each of its mutating calls, and the next
// one once more, before one may end.
func TestE03_KillRecoveryAtEverySystemCall(t *testing.T) {
	st := strace(t)
	var all sweepResult
	for _, rt := range []realTest{realApply(1), realApply(3), realUndo(3)} {
		t.Run(rt.name, func(t *testing.T) {
			j, _, _ := rt.prepare(t)
			points := j.record(t, st)
			// The richest moment: all is applied, COMMITTED is about to be written.
			dead := point{}
			for _, p := range points {
				if p.name == "pwrite64" {
					dead = p
				}
			}
			j, _, _ = rt.prepare(t)
			j.die(t, st, dead)
			r := j
			r.what = "recover"
			var res sweepResult
			var mu sync.Mutex
			sweepPoints(r.record(t, st), func(p point) {
				j, old, new := rt.prepare(t)
				acknowledged := j.die(t, st, dead)
				r := j
				r.what = "recover"
				r.die(t, st, p)
				again := r.command(st, "-f", "-qq", "-o", "/dev/null", "-e", "trace="+p.name,
					"-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", p.name, p.n))
				again.Run() // it may have less to do by now, so that it need not fire
				bad := j.judge(t, old, new, acknowledged)
				mu.Lock()
				defer mu.Unlock()
				res.points++
				for _, b := range bad {
					res.violations = append(res.violations, fmt.Sprintf("%s: recovery: %s: %s", rt.name, p, b))
				}
			})
			res.clean(t)
			all.points += res.points
			all.violations = append(all.violations, res.violations...)
		})
	}
	t.Logf("crash sweep over recovery: %d points tried, %d violations", all.points, len(all.violations))
}
