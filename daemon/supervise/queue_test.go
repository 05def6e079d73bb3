package supervise

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// enterInOrder queues tickets one after another and returns the order in which
// they were granted, each for a moment.
func enterInOrder(t *testing.T, q *queue, names []string, class func(string) (client string, c Class, alone bool)) []string {
	t.Helper()
	hold, err := q.enter(t.Context(), "holder", Interactive, true)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var got []string
	var wg sync.WaitGroup
	for _, name := range names {
		wg.Go(func() {
			client, c, alone := class(name)
			leave, err := q.enter(t.Context(), client, c, alone)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			got = append(got, name)
			mu.Unlock()
			<-time.After(time.Millisecond) // of the bubble's clock
			leave()
		})
		synctest.Wait()
	}
	hold()
	wg.Wait()
	return got
}

func TestQueueIsFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(1, 100, 1000)
		got := enterInOrder(t, q, []string{"b1", "b2", "x1", "x2", "x3", "y1", "z1"}, func(name string) (string, Class, bool) {
			if name[0] == 'b' {
				return "batch", Batch, false
			}
			return name[:1], Interactive, false
		})
		want := []string{"x1", "y1", "z1", "x2", "x3", "b1", "b2"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestQueueDoesNotStarveBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(1, 100, 1000)
		names := []string{"b"}
		for n := range 40 {
			names = append(names, fmt.Sprintf("i%d", n))
		}
		got := enterInOrder(t, q, names, func(name string) (string, Class, bool) {
			if name == "b" {
				return "batch", Batch, false
			}
			return "one", Interactive, false
		})
		if at := slices.Index(got, "b"); at != interactiveRun {
			t.Errorf("the batch request was granted after %d others; want %d", at, interactiveRun)
		}
	})
}

func TestQueueWidthAndExclusive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(3, 100, 1000)
		var mu sync.Mutex
		now, most, mostAlone := 0, 0, 0
		var wg sync.WaitGroup
		for n := range 60 {
			alone := n%7 == 0
			wg.Go(func() {
				leave, err := q.enter(t.Context(), fmt.Sprint(n%4), Class(n%2), alone)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				now++
				most = max(most, now)
				if alone {
					mostAlone = max(mostAlone, now)
				}
				mu.Unlock()
				<-time.After(time.Millisecond)
				mu.Lock()
				now--
				mu.Unlock()
				leave()
			})
		}
		wg.Wait()
		if most != 3 || mostAlone != 1 {
			t.Errorf("at most %d ran at once, %d with an exclusive one; want 3 and 1", most, mostAlone)
		}
		if waiting, running := q.sizes(); waiting != 0 || running != 0 {
			t.Errorf("%d wait and %d run at the end", waiting, running)
		}
	})
}

func TestQueueCancelledWaitersLeaveUnsent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(1, 100, 1000)
		hold, err := q.enter(t.Context(), "a", Interactive, false)
		if err != nil {
			t.Fatal(err)
		}
		why := errors.New("the client left")
		ctx, cancel := context.WithCancelCause(t.Context())
		var wg sync.WaitGroup
		for n := range 10 {
			wg.Go(func() {
				_, err := q.enter(ctx, fmt.Sprint(n%3), Class(n%2), n == 5)
				if !errors.Is(err, why) {
					t.Errorf("error %v; want the cause", err)
				}
			})
		}
		synctest.Wait()
		if waiting, _ := q.sizes(); waiting != 10 {
			t.Fatalf("%d wait; want 10", waiting)
		}
		cancel(why)
		wg.Wait()
		if waiting, running := q.sizes(); waiting != 0 || running != 1 {
			t.Errorf("%d wait, %d run; want only the holder", waiting, running)
		}
		hold()
		leave, err := q.enter(t.Context(), "b", Batch, true)
		if err != nil {
			t.Fatal(err)
		}
		leave()
		if len(q.classes[0].clients)+len(q.classes[1].clients)+len(q.classes[0].tickets)+len(q.classes[1].tickets) != 0 {
			t.Error("cancelled tickets left something behind")
		}
	})
}

func TestQueueOverloaded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(1, 2, 3)
		hold, err := q.enter(t.Context(), "a", Interactive, false)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		wait := func(client string) {
			wg.Go(func() {
				leave, err := q.enter(t.Context(), client, Interactive, false)
				if err != nil {
					t.Error(err)
					return
				}
				leave()
			})
			synctest.Wait()
		}
		wait("a")
		wait("a")
		if _, err := q.enter(t.Context(), "a", Interactive, false); !errors.Is(err, errOverloaded) {
			t.Errorf("third of one client: %v", err)
		}
		wait("b")
		if _, err := q.enter(t.Context(), "c", Interactive, false); !errors.Is(err, errOverloaded) {
			t.Errorf("fourth of all: %v", err)
		}
		hold()
		wg.Wait()
	})
}

func TestQueueInterrupt(t *testing.T) {
	q := newQueue(1, 10, 10)
	hold, err := q.enter(t.Context(), "a", Interactive, true)
	if err != nil {
		t.Fatal(err)
	}
	arrived := q.interrupt()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = q.enter(ctx, "b", Batch, false)
	}()
	until(t, "the batch request to wait", func() bool { n, _ := q.sizes(); return n == 1 })
	select {
	case <-arrived:
		t.Error("a batch request interrupts")
	default:
	}
	cancel()
	<-done
	leave := make(chan func(), 1)
	go func() {
		l, _ := q.enter(context.Background(), "b", Interactive, false)
		leave <- l
	}()
	<-arrived
	hold()
	(<-leave)()
}
