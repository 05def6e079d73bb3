package supervise

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The whole table: what is not named here must mean nothing and change nothing.
func TestNext(t *testing.T) {
	type move struct {
		from State
		e    event
	}
	legal := map[move]State{
		{Absent, wanted}: Starting, {Absent, asked}: Starting,
		{Starting, spawned}: Initializing, {Starting, refused}: Absent, {Starting, stop}: Absent,
		{Initializing, initialized}: Warming, {Initializing, died}: Crashed, {Initializing, stop}: Draining,
		{Warming, settled}: Ready, {Warming, died}: Crashed, {Warming, stop}: Draining,
		{Ready, loading}: Warming, {Ready, died}: Crashed, {Ready, stop}: Draining,
		{Draining, died}: Absent,
		{Crashed, retry}: Backoff, {Crashed, giveUp}: Failed,
		{Backoff, due}: Starting, {Backoff, stop}: Absent, {Backoff, asked}: Starting,
		{Failed, asked}: Starting, {Failed, stop}: Absent,
	}
	seen := 0
	for s := Absent; s <= Failed; s++ {
		for e := wanted; e <= asked; e++ {
			got, ok := next(s, e)
			want, isLegal := legal[move{s, e}]
			if !isLegal {
				want = s
			} else {
				seen++
			}
			if got != want || ok != isLegal {
				t.Errorf("%s on %s: %s, %v; want %s, %v", s, e, got, ok, want, isLegal)
			}
		}
	}
	if seen != len(legal) {
		t.Errorf("%d legal moves seen of %d", seen, len(legal))
	}
	// Whatever happens, a server can be brought to an end and back.
	for s := Absent; s <= Failed; s++ {
		reached := map[State]bool{s: true}
		for todo := []State{s}; len(todo) > 0; todo = todo[1:] {
			for e := wanted; e <= asked; e++ {
				if n, ok := next(todo[0], e); ok && !reached[n] {
					reached[n] = true
					todo = append(todo, n)
				}
			}
		}
		if !reached[Absent] || !reached[Ready] {
			t.Errorf("from %s absent and ready are not both reachable", s)
		}
	}
}

func TestP04_RestartPolicy(t *testing.T) {
	t0 := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(ready bool, seconds ...int) (list []crash) {
		for _, s := range seconds {
			list = append(list, crash{at: t0.Add(time.Duration(s) * time.Second), wasReady: ready})
		}
		return list
	}
	type want struct {
		Delay time.Duration
		Again bool
	}
	for _, c := range []struct {
		name    string
		crashes []crash
		want    want
	}{
		{"none", nil, want{0, true}},
		{"first of a server that was ready", at(true, 0), want{0, true}},
		{"first of one that never was", at(false, 0), want{500 * time.Millisecond, true}},
		{"second that was ready", at(true, 0, 10), want{500 * time.Millisecond, true}},
		{"second that never was", at(false, 0, 1), want{time.Second, true}},
		{"third", at(false, 0, 1, 3), want{2 * time.Second, true}},
		{"fourth", at(false, 0, 1, 3, 7), want{4 * time.Second, true}},
		{"fifth gives up", at(false, 0, 1, 3, 7, 15), want{0, false}},
		{"fifth that was ready gives up", at(true, 0, 60, 120, 180, 240), want{0, false}},
		{"five spread over more than the window go on", at(true, 0, 80, 160, 240, 320), want{2 * time.Second, true}},
		{"old ones do not count", at(true, 0, 1, 2, 3, 1000), want{0, true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			delay, again, why := Restart{}.withDefaults().decide(c.crashes, 0)
			if diff := cmp.Diff(c.want, want{delay, again}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(c.crashes) > 0 && why == "" {
				t.Error("no reason in words")
			}
		})
	}
}

func TestP04_DelaysAreBoundedAndJittered(t *testing.T) {
	p := Restart{Crashes: 100}.withDefaults()
	var list []crash
	last := time.Duration(0)
	for n := range 40 {
		list = append(list, crash{at: time.Unix(int64(n), 0)})
		delay, again, _ := p.decide(list, 0)
		if !again || delay < last || delay > time.Minute {
			t.Fatalf("crash %d: %v, %v after %v", n+1, delay, again, last)
		}
		less, _, _ := p.decide(list, 0.999)
		if less >= delay || less < delay*79/100 {
			t.Fatalf("crash %d: jitter makes %v of %v", n+1, less, delay)
		}
		last = delay
	}
	if last != time.Minute {
		t.Errorf("the delay ends at %v; want the maximum", last)
	}
}

func TestP17_OutOfMemoryDoublesTheDelay(t *testing.T) {
	p := Restart{}.withDefaults()
	delay, again, _ := p.decide([]crash{{at: time.Unix(0, 0), wasReady: true, outOfMemory: true}}, 0)
	if !again || delay != time.Second {
		t.Errorf("%v, %v; want a second, as twice the first delay", delay, again)
	}
}

// A daemon that was stopped for ten minutes must not hold the server's
// deadlines to be passed when it resumes.
func TestP16_PatienceDoesNotCountTimeNobodyWatched(t *testing.T) {
	now := time.Unix(1000, 0)
	p := newPatience(8*time.Second, now)
	look := func(d time.Duration) bool { now = now.Add(d); return p.look(now) }
	for range 3 {
		if look(p.next()) {
			t.Fatal("expired before its limit")
		}
	}
	if look(10 * time.Minute) {
		t.Fatal("expired because of a pause of the machine")
	}
	total := time.Duration(0)
	for !look(p.next()) {
		total += time.Second
		if total > time.Minute {
			t.Fatal("never expires")
		}
	}
	if total != 0 {
		t.Errorf("expired after another %v; want 8 s less 3 looks of 1 s, less 4 s for the pause, less the last", total)
	}
	p.restart(now)
	for range 3 { // however often it is stopped, half of the time has to be watched
		p.restart(now)
		if look(time.Hour) {
			t.Fatal("expired by one pause")
		}
	}
	p.restart(now)
	if look(p.next()) || p.spent != time.Second {
		t.Errorf("after restart spent is %v", p.spent)
	}
	if look(-time.Hour); p.spent != time.Second {
		t.Errorf("a clock that goes back counts: %v", p.spent)
	}
}

func TestWords(t *testing.T) {
	for d, want := range map[time.Duration]string{
		time.Minute: "1 minute", 5 * time.Minute: "5 minutes", 90 * time.Second: "90 s",
		1500 * time.Millisecond: "1.5 s", 300 * time.Millisecond: "300 ms",
	} {
		if got := words(d); got != want {
			t.Errorf("%v: %q; want %q", d, got, want)
		}
	}
}
