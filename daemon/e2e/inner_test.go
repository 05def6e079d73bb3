package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/auralsp/aura/daemon/api"
)

// childrenWith returns the descendants of a process whose command line holds a word.
func childrenWith(t testing.TB, parent int, word string) (out []int) {
	t.Helper()
	byParent := map[int][]int{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, f := range files {
		stat, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
		_, rest, _ := strings.Cut(string(stat), ") ")
		if p := strings.Fields(rest); len(p) > 1 && p[0] != "Z" {
			above, _ := strconv.Atoi(p[1])
			byParent[above] = append(byParent[above], pid)
		}
	}
	for list := byParent[parent]; len(list) > 0; list = list[1:] {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", list[0]))
		if bytes.Contains(line, []byte(word)) {
			out = append(out, list[0])
		}
		list = append(list, byParent[list[0]]...)
	}
	return out
}

// TestInnerServerKilled kills the child that works for a server, which itself
// lives on and answers every question with nothing: at rest, and with questions
// in flight. No such answer may reach anybody.
func TestInnerServerKilled(t *testing.T) {
	s, w := openShop(t, "typescript")
	w.stop(t)
	write(t, filepath.Join(w.dir, "config", "aura", "config.toml"), "[limits]\ncrash_seconds = 1\n")
	question := encode(t, map[string]any{"symbolName": s.order, "limit": all})
	ask := func() error {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		r, err := w.command(ctx, "", "call", "aura_references", question)
		if err != nil {
			return err
		}
		var got api.Places
		refusal, err := r.answer(&got)
		switch {
		case err != nil:
			return err
		case refusal != nil && refusal.Code != api.ServerCrashed && refusal.Code != api.ServerUnavailable:
			return fmt.Errorf("refused as %v", refusal)
		case refusal == nil && got.Total != s.references:
			return fmt.Errorf("%d references (complete: %v), want %d", got.Total, got.Complete, s.references)
		}
		return nil
	}
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	for round := range 4 {
		inner := childrenWith(t, w.readyServer(t, 0), "tsserver.js")
		if len(inner) != 1 {
			t.Fatalf("children %v, want one tsserver", inner)
		}
		var questions sync.WaitGroup
		failed := make(chan error, 4)
		if round%2 == 1 {
			for range cap(failed) {
				questions.Go(func() { failed <- ask() })
			}
		}
		if err := syscall.Kill(inner[0], syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if err := ask(); err != nil {
			t.Errorf("round %d, after the kill: %v", round, err)
		}
		questions.Wait()
		close(failed)
		for err := range failed {
			if err != nil {
				t.Errorf("round %d, in flight: %v", round, err)
			}
		}
	}
	restarts := 0
	for _, server := range w.status(t).Servers {
		restarts += server.Restarts
	}
	if restarts < 4 {
		t.Errorf("%d restarts after 4 kills", restarts)
	}
}
