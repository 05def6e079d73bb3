package edit

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"syscall"
	"testing"

	"github.com/auralsp/aura/daemon/api"
)

// failures runs c once for each mutating call, with that call failing, and
// gives what the same process then sees to look.
func (c *crashTest) failures(t *testing.T, fails func(k int) func(n int, call string, grows bool) error,
	look func(e *Engine, d *simDisk, acknowledged bool, where string) []string,
) *sweepResult {
	r := &sweepResult{}
	for k := 0; ; k++ {
		d := c.base.clone()
		fired := false
		fail := fails(k)
		d.fail = func(n int, call string, grows bool) error {
			err := fail(n, call, grows)
			fired = fired || err != nil
			return err
		}
		e := c.engine(t)(d)
		acknowledged := c.run(e)
		where := fmt.Sprintf("%s: call %d failed", c.name, k)
		if k < len(d.calls) {
			where += " (" + d.calls[k] + ")"
		}
		d.fail = nil
		r.points += boolInt(fired)
		r.states++
		r.violations = append(r.violations, look(e, d, acknowledged, where)...)
		if d.ops <= k {
			return r
		}
	}
}

// settled checks what a process that goes on must see after a failed call: the
// old tree without a restart, nothing left over, and work goes on.
func (c *crashTest) settled(t *testing.T) func(e *Engine, d *simDisk, acknowledged bool, where string) []string {
	return func(e *Engine, d *simDisk, acknowledged bool, where string) []string {
		want := c.old
		if acknowledged {
			want = c.new
		}
		if !maps.Equal(d.tree(simRoot), want) {
			return []string{fmt.Sprintf("%s: acknowledged %v, but the tree is another", where, acknowledged)}
		}
		if o := e.spaces[simRoot]; o == nil || o.w == nil {
			return nil // the state folder could not be opened
		}
		bad := litter(e, d, where)
		if !acknowledged && c.new != nil {
			if !c.run(e) {
				bad = append(bad, where+": the next try failed as well")
			} else if !maps.Equal(d.tree(simRoot), c.new) {
				bad = append(bad, where+": the next try did not lead to the new tree")
			}
		}
		return bad
	}
}

func faultTests(t *testing.T) []*crashTest {
	return []*crashTest{applyTest(1), applyTest(3), applyTest(10), abortTest(3), undoTest(t, 3, false), undoTest(t, 10, true)}
}

// The disk is full from one call on: what needs new blocks fails, renames and
// removals do not. The old tree must come back without any new block.
func TestE04_DiskFullAtEveryWrite(t *testing.T) {
	t.Parallel()
	for _, c := range faultTests(t) {
		for _, once := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, once %v", c.name, once), func(t *testing.T) {
				r := c.failures(t, func(k int) func(int, string, bool) error {
					return func(n int, _ string, grows bool) error {
						if grows && (n == k || n > k && !once) {
							return syscall.ENOSPC
						}
						return nil
					}
				}, c.settled(t))
				if strings.HasPrefix(c.name, "undo") && r.points == 0 {
					t.Log("an undo needs no new block at all")
					return
				}
				r.clean(t)
			})
		}
	}
}

// One call fails with EIO, be it a flush or anything else.
func TestE05_IOErrorAtEveryCall(t *testing.T) {
	t.Parallel()
	for _, c := range faultTests(t) {
		t.Run(c.name, func(t *testing.T) {
			c.failures(t, func(k int) func(int, string, bool) error {
				return func(n int, _ string, _ bool) error {
					if n == k {
						return syscall.EIO
					}
					return nil
				}
			}, func(e *Engine, d *simDisk, acknowledged bool, where string) []string {
				// When it hits the way back, the rest is done at the next start.
				img := d.crash(loseNothing, nil)
				return c.judge(t, c.engine(t), img, acknowledged, where)
			}).clean(t)
		})
	}
}

// A call on the way forward fails with EIO: the same process takes everything
// back, flushes no file twice, and goes on.
func TestE05_FailedFlushIsTakenBack(t *testing.T) {
	t.Parallel()
	for _, c := range faultTests(t) {
		if c.new == nil {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			c.failures(t, func(k int) func(int, string, bool) error {
				return func(n int, call string, _ bool) error {
					if n != k || !strings.Contains(call, "sync") {
						return nil
					}
					return syscall.EIO
				}
			}, func(e *Engine, d *simDisk, acknowledged bool, where string) []string {
				bad := c.settled(t)(e, d, acknowledged, where)
				for _, p := range d.reflushed {
					if strings.Contains(p, "/pkg") {
						continue // put back by a rename: its time was flushed, nothing was written
					}
					bad = append(bad, where+": believed a second flush of "+p)
				}
				return bad
			}).clean(t)
		})
	}
}

// The disk goes bad for good in the middle; after it was repaired, the next
// start finds old or new.
func TestE05_DiskGoneFromOneCallOn(t *testing.T) {
	t.Parallel()
	for _, c := range faultTests(t) {
		t.Run(c.name, func(t *testing.T) {
			c.failures(t, func(k int) func(int, string, bool) error {
				return func(n int, _ string, _ bool) error {
					if n >= k {
						return syscall.EIO
					}
					return nil
				}
			}, func(_ *Engine, d *simDisk, acknowledged bool, where string) []string {
				return c.judge(t, c.engine(t), d.crash(loseAll, nil), acknowledged, where)
			}).clean(t)
		})
	}
}

// A process that has no descriptor left, or is interrupted, changes nothing.
func TestE06_NoDescriptorsMidway(t *testing.T) {
	t.Parallel()
	for _, c := range []*crashTest{applyTest(3), applyTest(10)} {
		t.Run(c.name, func(t *testing.T) {
			c.failures(t, func(k int) func(int, string, bool) error {
				return func(n int, call string, _ bool) error {
					if n >= k && strings.HasPrefix(call, "create") {
						return syscall.EMFILE
					}
					return nil
				}
			}, c.settled(t)).clean(t)
		})
	}
}

// What a full disk tells the user.
func TestE04_MessageOfAFullDisk(t *testing.T) {
	t.Parallel()
	d := simWorld(1)
	e := simEngine(t, d)
	if err := e.Recover(context.Background(), simRoot); err != nil {
		t.Fatal(err)
	}
	d.fail = func(_ int, _ string, grows bool) error {
		if grows {
			return syscall.ENOSPC
		}
		return nil
	}
	_, err := transact(e, simRoot, simChanges(d, 1))
	if api.CodeOf(err) != api.Internal || !strings.Contains(err.Error(), "disk is full") || !strings.Contains(err.Error(), "nothing was changed") {
		t.Errorf("a full disk is told as %v", err)
	}
}
