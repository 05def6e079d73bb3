package edit

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A daemon that commits, undoes and redoes without a pause is killed at a
// random moment, 200 times; after each the files must all be of one version,
// and not of one before the last that was acknowledged.
func TestE01_TwoHundredRandomKills(t *testing.T) {
	const kills, files = 200, 10
	dir := t.TempDir()
	root, state := filepath.Join(dir, "repo"), filepath.Join(dir, "state")
	for i := range files {
		must(t, os.MkdirAll(filepath.Dir(diskFile0(root, i)), 0o755))
		must(t, os.WriteFile(diskFile0(root, i), versionOf(1), 0o644))
	}
	must(t, os.Mkdir(filepath.Join(root, ".git"), 0o755))
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	commits, window := 0, 25*time.Millisecond
	for k := range kills {
		last, before := churnAndKill(t, job{what: "churn", root: root, state: state, n: files}, time.Duration(rng.Int64N(int64(window))))
		commits += before
		if commits < k/2 && window < time.Second {
			window += window / 8 // a machine on which a transaction takes longer
		}
		e, err := Open(Options{State: state})
		must(t, err)
		must(t, e.Recover(context.Background(), root))
		versions := map[string]int{}
		for i := range files {
			b, err := os.ReadFile(diskFile0(root, i))
			must(t, err)
			versions[string(bytes.SplitN(b, []byte("\n"), 2)[0])]++
		}
		if len(versions) != 1 {
			t.Fatalf("kill %d: the files are of several versions: %v", k, versions)
		}
		for v := range versions {
			n, err := strconv.Atoi(strings.TrimPrefix(v, "version "))
			must(t, err)
			// An undo may be in the files but not yet acknowledged.
			if last >= 0 && n != last && n != last+1 && n != last-1 {
				t.Fatalf("kill %d: version %d after %d was acknowledged", k, n, last)
			}
		}
		if bad := realLitter(e, root); len(bad) > 0 {
			t.Fatalf("kill %d: %v", k, bad)
		}
		must(t, e.Close(context.Background()))
	}
	t.Logf("%d random kills, %d transactions acknowledged between them, 0 violations", kills, commits)
	if commits < kills/4 {
		t.Errorf("only %d transactions in %d rounds: the kills come too early to prove anything", commits, kills)
	}
}

// churnAndKill returns the last acknowledged version, or -1, and how many were.
func churnAndKill(t *testing.T, j job, after time.Duration) (last, count int) {
	t.Helper()
	cmd := j.command()
	out, err := cmd.StdoutPipe()
	must(t, err)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	must(t, cmd.Start())
	r := bufio.NewReader(out)
	line, err := r.ReadString('\n')
	if err != nil || line != "READY\n" {
		t.Fatalf("the helper said %q, %v, %s", line, err, errs.String())
	}
	timer := time.AfterFunc(after, func() { cmd.Process.Kill() })
	defer timer.Stop()
	last = -1
	for {
		line, err := r.ReadString('\n')
		if err == io.EOF {
			break
		}
		must(t, err)
		if strings.HasPrefix(line, "ERROR") {
			t.Fatal(line)
		}
		if _, err := fmt.Sscanf(line, "ACK %d", &last); err == nil {
			count++
		}
	}
	err = cmd.Wait()
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !ws.Signaled() {
		t.Fatalf("the helper ended by itself: %v %s", err, errs.String())
	}
	return last, count
}
