package supervise

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/auralsp/aura/lspclient/proc"
)

// Memory is what all servers together use and may use, in bytes.
type Memory struct {
	Used  int64
	Limit int64
	// Over says why more is used than may be; empty when it is not.
	Over string
}

// load is one running server as the budget sees it.
type load struct {
	i    *instance
	used int64
	idle time.Time // since when nobody uses it
	free bool      // nobody does
}

// weigh keeps the servers below the memory budget: it looks at them every now
// and then and whenever one has become ready, until ctx ends.
func (s *Supervisor) weigh(ctx context.Context) {
	tick := time.NewTicker(s.limits.Weigh)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-s.heavier:
		case <-ctx.Done():
			return
		}
		s.keepWithin(s.budget())
	}
}

// looked asks for a look at the memory soon.
func (s *Supervisor) looked() {
	select {
	case s.heavier <- struct{}{}:
	default: // one is due already
	}
}

// budget returns the bytes that all servers may use together.
func (s *Supervisor) budget() int64 {
	if s.o.Memory != nil {
		if n := s.o.Memory(); n > 0 {
			return n
		}
	}
	return proc.MachineMemory() / 2 // 0, where the machine does not say, is no limit
}

// keepWithin stops servers that nobody uses, the longest unused first, until
// the rest fits. Those in use are never stopped: they come back at once, and
// whoever uses them would only wait.
func (s *Supervisor) keepWithin(limit int64) {
	loads := s.loads(false)
	used := sum(loads)
	if limit > 0 && used > limit {
		loads = s.loads(true) // what is shared was counted for each
		used = sum(loads)
	}
	var over string
	if limit > 0 && used > limit {
		slices.SortFunc(loads, func(a, b load) int { return a.idle.Compare(b.idle) })
		for _, l := range loads {
			if used <= limit {
				break
			}
			if !l.free {
				continue
			}
			why := fmt.Sprintf("all servers together used %s of the %s that they may, and nobody had used this one for %s",
				bytes(used), bytes(limit), words(time.Since(l.idle).Round(time.Second)))
			if l.i.evict(why) {
				used -= l.used
			}
		}
		if used > limit {
			over = fmt.Sprintf("language servers use %s, more than the limit of %s, and all of them are in use; raise limits.memory_megabytes or close a workspace",
				bytes(used), bytes(limit))
		}
	}
	s.mu.Lock()
	was := s.memory.Over
	s.memory = Memory{Used: used, Limit: limit, Over: over}
	s.mu.Unlock()
	if over != "" && was == "" {
		s.log.Warn(over)
	}
}

// loads returns what the running servers use; what several processes share is
// counted for each unless shared.
func (s *Supervisor) loads(shared bool) []load {
	var out []load
	var processes []*proc.Process
	for _, i := range s.all() {
		g, idle, free := i.resting()
		if g != nil {
			out = append(out, load{i: i, idle: idle, free: free})
			processes = append(processes, g.process)
		}
	}
	if len(out) == 0 {
		return nil
	}
	usage := proc.Usages(processes, shared)
	for k, p := range processes {
		u := usage[p]
		out[k].used = u.RSS
		if shared {
			out[k].used = u.PSS
		}
	}
	return out
}

func sum(loads []load) (n int64) {
	for _, l := range loads {
		n += l.used
	}
	return n
}

// Memory returns what the servers used together when they were last looked at.
func (s *Supervisor) Memory() Memory {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.memory
	if m.Limit == 0 {
		m.Limit = s.budget()
	}
	return m
}

// resting returns the running process, and since when nobody uses it.
func (i *instance) resting() (g *generation, idle time.Time, free bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.state == Draining || i.closing || i.parked != "" {
		return nil, i.idle, false
	}
	return i.gen, i.idle, i.leases == 0
}

// evict asks for the process to be stopped because others need its memory. It
// is started again when somebody asks for it.
func (i *instance) evict(why string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.leases > 0 || i.closing || i.gen == nil || i.state == Draining {
		return false
	}
	i.parked = why
	i.broadcast()
	return true
}

// bytes prints a size for people.
func bytes(n int64) string {
	if n < 10<<30 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d GiB", n>>30)
}
