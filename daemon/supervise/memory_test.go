package supervise

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/lspclient/lsptest"
)

const eaten = 64 << 20 // bytes that each fake server holds

// leaseOf leases the server of one environment and waits until it answers.
func leaseOf(r *rig, flags string) *Lease {
	r.t.Helper()
	w := r.want("one")
	w.Env["SAMPLEFLAGS"] = flags
	l, err := r.sup.Lease(r.t.Context(), w)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(l.Release)
	r.state(l)
	return l
}

// statusOf returns the status of one instance.
func statusOf(r *rig, id string) Status {
	r.t.Helper()
	for _, s := range r.sup.Status() {
		if s.ID == id {
			return s
		}
	}
	r.t.Fatalf("no instance %s", id)
	return Status{}
}

// Servers share a budget of memory. Beyond it those that nobody uses are
// stopped, the longest unused first; one in use never is.
func TestP17_BudgetStopsTheLongestUnused(t *testing.T) {
	var limit atomic.Int64
	limit.Store(1 << 40)
	r := newRig(t, lsptest.Config{Eat: eaten}, twoFiles, func(o *Options, _ *adapters.Engine, _ *driver) {
		o.Memory = limit.Load
		o.Limits.Weigh = 20 * time.Millisecond
	})
	used := leaseOf(r, "used") // the longest of all, and in use
	one := statusOf(r, used.i.key).Memory
	limit.Store(3*one + one/2) // fits three
	first := leaseOf(r, "first")
	first.Release()
	second := leaseOf(r, "second")
	second.Release()
	if s := statusOf(r, first.i.key); s.State != "ready" || s.Memory < eaten {
		t.Fatalf("before the budget is spent: %+v", s)
	}
	third := leaseOf(r, "third")
	until(t, "the longest unused server to be stopped", func() bool { return statusOf(r, first.i.key).State == "absent" })
	until(t, "the budget to be kept", func() bool { m := r.sup.Memory(); return m.Used > 2*one && m.Used <= limit.Load() && m.Over == "" })
	stopped := statusOf(r, first.i.key)
	if stopped.PID != 0 || stopped.Crashes != 0 || !strings.Contains(stopped.Parked, "may, and nobody had used this one for") {
		t.Errorf("the stopped one: %+v", stopped)
	}
	for _, l := range []*Lease{used, second, third} {
		if s := statusOf(r, l.i.key); s.State != "ready" || s.Parked != "" {
			t.Errorf("%s with %d leases: %s, %q", s.ID, s.Leases, s.State, s.Parked)
		}
	}
	// Whoever asks for it gets it back, and then another has to go.
	leaseOf(r, "first").Release()
	until(t, "another unused server to be stopped", func() bool { return statusOf(r, second.i.key).State == "absent" })
	if s := statusOf(r, first.i.key); s.Starts != 2 || s.Parked != "" {
		t.Errorf("the one that came back: %+v", s)
	}
}

// What a server has started counts, wherever it is.
func TestP17_BudgetCountsDescendants(t *testing.T) {
	r := newRig(t, lsptest.Config{Grandchild: true, Setsid: true}, twoFiles, func(o *Options, _ *adapters.Engine, _ *driver) {
		o.Limits.Weigh = 20 * time.Millisecond
	})
	l := leaseOf(r, "")
	u, err := l.i.gen.process.Usage()
	if err != nil || u.Processes != 2 {
		t.Errorf("usage %+v, %v; want the server and its child", u, err)
	}
	until(t, "the look at the memory", func() bool { return r.sup.Memory().Used >= u.PSS })
	if m := r.sup.Memory(); m.Limit <= 0 {
		t.Errorf("memory %+v; want a share of the machine's as the limit", m)
	}
}

// When all are in use nothing is stopped, and it is said.
func TestP17_BudgetNeverTakesAServerInUse(t *testing.T) {
	r := newRig(t, lsptest.Config{Eat: eaten}, twoFiles, func(o *Options, _ *adapters.Engine, _ *driver) {
		o.Memory = func() int64 { return eaten }
		o.Limits.Weigh = 20 * time.Millisecond
	})
	a, b := leaseOf(r, "a"), leaseOf(r, "b")
	until(t, "the warning", func() bool { return strings.Contains(r.sup.Memory().Over, "all of them are in use") })
	for _, l := range []*Lease{a, b} {
		if s := statusOf(r, l.i.key); s.State != "ready" {
			t.Errorf("a server in use is %s", s.State)
		}
		r.state(l)
	}
	a.Release()
	until(t, "the released one to be stopped", func() bool { return statusOf(r, a.i.key).State == "absent" })
	r.state(b)
}
