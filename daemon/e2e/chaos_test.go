package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/client"
	"github.com/auralsp/aura/daemon/config"
)

var (
	chaosKills = flag.Int("chaos.kills", 3, "how often each server is killed")
	chaosSeed  = flag.Uint64("chaos.seed", 1, "seed of the choices")
)

const chaosClients = 8

// question is a request with its right answer, as it was given in peace.
type question struct {
	method string
	params map[string]any
	answer string
}

// tally counts what clients were told.
type tally struct {
	right, refused, wrong atomic.Int64
	answered              atomic.Int64 // of both kinds, for the killer to count by

	mu       sync.Mutex
	mistakes []string
	codes    map[api.Code]int
}

func (c *tally) mistake(format string, args ...any) {
	c.wrong.Add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mistakes = append(c.mistakes, fmt.Sprintf(format, args...))
}

// TestChaos kills each server again and again while eight clients ask it. Every
// answer must be right or a typed error, none may hang, and afterwards nothing
// may be left of the dead.
func TestChaos(t *testing.T) {
	for _, lang := range slices.Sorted(maps.Keys(shops())) {
		t.Run(lang, func(t *testing.T) { chaos(t, lang) })
	}
}

func chaos(t *testing.T, lang string) {
	s, w := openShop(t, lang)
	// Each crash counts for a second: the circuit breaker has a test of its own.
	w.stop(t)
	write(t, filepath.Join(w.dir, "config", "aura", "config.toml"), "[limits]\ncrash_seconds = 1\n")
	w.ok(t, "status")

	ask := func(ctx context.Context, c *client.Client, q question) (string, *api.Error, error) {
		var answer any
		err := c.Call(ctx, q.method, q.params, &answer)
		var refusal *api.Error
		if errors.As(err, &refusal) {
			return "", refusal, nil
		}
		return describeAnswer(answer), nil, err
	}
	dial := func(n int) (c *client.Client, hangUp func()) {
		t.Helper()
		c, err := client.Dial(t.Context(), client.Options{
			Paths: config.Paths{Socket: w.socket()}, Name: fmt.Sprint("chaos ", n), Workspace: w.ws, Tier: api.AdminTier, Environ: w.env,
		})
		if err == nil {
			_, err = c.Hello(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		hangUp = sync.OnceFunc(func() { _ = c.Close() })
		t.Cleanup(hangUp)
		return c, hangUp
	}

	questions := chaosQuestions(s)
	peace, _ := dial(0)
	for i := range questions {
		answer, refusal, err := ask(t.Context(), peace, questions[i])
		if refusal != nil || err != nil {
			t.Fatalf("in peace: %v: %v, %v", questions[i], refusal, err)
		}
		questions[i].answer = answer
	}
	baseline, held := w.processes(), w.holds(t)

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	count := &tally{codes: map[api.Code]int{}}
	var clients sync.WaitGroup
	var lines []func()
	for n := range chaosClients {
		c, hangUp := dial(n + 1)
		lines = append(lines, hangUp)
		random := rand.New(rand.NewPCG(*chaosSeed, uint64(n)))
		clients.Go(func() {
			for ctx.Err() == nil {
				q := questions[random.IntN(len(questions))]
				bounded, cancel := context.WithTimeout(context.Background(), patience)
				answer, refusal, err := ask(bounded, c, q)
				cancel()
				switch {
				case err != nil:
					count.mistake("%s %v: %v", q.method, q.params, err)
					return
				case refusal == nil && answer == q.answer:
					count.right.Add(1)
				case refusal == nil && strings.Contains(answer, "complete:false"):
					count.refused.Add(1) // it says itself that it is not whole
					count.mu.Lock()
					count.codes["complete:false"]++
					count.mu.Unlock()
				case refusal == nil:
					count.mistake("%s %v: %s, in peace %s", q.method, q.params, answer, q.answer)
				case strings.HasPrefix(string(refusal.Code), "SERVER_") || refusal.Code == api.StaleContent:
					count.refused.Add(1)
					count.mu.Lock()
					count.codes[refusal.Code]++
					count.mu.Unlock()
				default:
					count.mistake("%s %v: %v", q.method, q.params, refusal)
				}
				count.answered.Add(1)
			}
		})
	}

	random := rand.New(rand.NewPCG(*chaosSeed, 0))
	var recoveries []time.Duration
	for range *chaosKills {
		pid := w.readyServer(t, 0)
		goal := count.answered.Load() + 1 + random.Int64N(10)
		until(t, patience, "some answers", func() bool { return count.answered.Load() >= goal })
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		killed := time.Now()
		w.readyServer(t, pid)
		recoveries = append(recoveries, time.Since(killed).Round(time.Millisecond))
	}
	stop()
	clients.Wait()
	for _, hangUp := range lines {
		hangUp()
	}

	right, refused, wrong := count.right.Load(), count.refused.Load(), count.wrong.Load()
	t.Logf("%s, seed %d: %d kills, %d right, %d refused %v, %d wrong; recovered within %v", lang, *chaosSeed, len(recoveries), right, refused, count.codes, wrong, recoveries)
	for _, m := range count.mistakes[:min(len(count.mistakes), 5)] {
		t.Error(m)
	}
	if all := right + refused + wrong; right*100 < all*80 {
		t.Errorf("%d of %d right: less than 80 %%", right, all)
	}
	// One server with its children, as before; those of the dead are gone.
	until(t, 30*time.Second, fmt.Sprintf("as many processes as before: %v", baseline), func() bool { return len(w.processes()) <= len(baseline) })
	var now holding
	defer func() { t.Logf("the daemon held %+v before, %+v after", held, now) }()
	until(t, 30*time.Second, "no more goroutines and descriptors than before", func() bool {
		now = w.holds(t)
		return now.goroutines <= held.goroutines && now.descriptors <= held.descriptors
	})
}

// holding is what a daemon has of its own that must not grow.
type holding struct{ goroutines, descriptors int }

// holds reads what the daemon holds out of its metrics.
func (w *world) holds(t testing.TB) (h holding) {
	t.Helper()
	var s api.Status
	w.must(t, "daemon.status", map[string]any{"metrics": true}, &s)
	for line := range strings.Lines(s.Metrics) {
		for name, n := range map[string]*int{"go_goroutines ": &h.goroutines, "process_open_fds ": &h.descriptors} {
			if value, ok := strings.CutPrefix(strings.TrimSpace(line), name); ok {
				var err error
				if *n, err = strconv.Atoi(value); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if h.goroutines == 0 || h.descriptors == 0 {
		t.Fatalf("the metrics do not tell: %s", s.Metrics)
	}
	return h
}

// readyServer waits until a server other than the dead one is ready, and
// returns its process.
func (w *world) readyServer(t *testing.T, dead int) (pid int) {
	t.Helper()
	until(t, patience, "a ready server", func() bool {
		servers := w.status(t).Servers
		for _, s := range servers {
			if s.State == "failed" {
				t.Fatalf("given up: %+v", s)
			}
			if s.State == "ready" && s.PID != 0 && s.PID != dead {
				pid = s.PID
				return true
			}
		}
		return false
	})
	if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err != nil {
		t.Fatal(err)
	}
	return pid
}

// chaosQuestions are of every kind that a server answers.
func chaosQuestions(s shopOf) []question {
	var all []question
	for operation, symbol := range map[string]string{
		"definition": s.checkout, "references": s.order, "usages": s.saver, "callers": s.order + "." + s.sum,
		"callees": s.checkout, "implementations": s.saver, "derived_types": s.saver, "supertypes": s.disk,
	} {
		all = append(all, question{method: "code.navigate", params: map[string]any{"operation": operation, "symbolName": symbol, "limit": 100}})
	}
	all = append(all,
		question{method: "aura_rename_symbol", params: map[string]any{"symbolName": s.checkout, "newName": like(s.checkout, "pay"), "preview": true}},
		question{method: "code.inspect", params: map[string]any{"operation": "symbol", "symbolName": s.order}},
	)
	slices.SortFunc(all, func(a, b question) int { return strings.Compare(fmt.Sprint(a.params), fmt.Sprint(b.params)) })
	return all
}

// describeAnswer keeps what must be the same each time.
func describeAnswer(answer any) string {
	m, ok := answer.(map[string]any)
	if !ok {
		return fmt.Sprint(answer)
	}
	// From where an answer comes may change: while a server is down the graph
	// answers, and is right when what it says is the same.
	for _, changing := range []string{"validation", "warnings", "source", "unserved"} {
		delete(m, changing)
	}
	return fmt.Sprint(m)
}
