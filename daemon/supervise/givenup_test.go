package supervise

import (
	"encoding/json"
	"testing"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/lspclient/lsptest"
)

// givesUp is the fake's driver, which declares the process lost or outdated
// when it hears of it.
type givesUp struct{ *driver }

func (d *givesUp) Observe(e adapters.Event) adapters.Readiness {
	switch {
	case e.Kind == adapters.Notification && e.Method == "fake/lost":
		return adapters.Readiness{State: adapters.Lost, Waiting: "its worker ended"}
	case e.Kind == adapters.Notification && e.Method == "fake/outdated":
		return adapters.Readiness{State: adapters.Outdated, Waiting: "its packages changed"}
	}
	return d.driver.Observe(e)
}

// A server may live on and answer nothing when what works for it has ended:
// that is a crash, and its answers never reach anybody.
func TestLost_AnswersAreAskedAgain(t *testing.T) {
	for _, c := range []struct {
		notice  string
		crashes int
	}{{"fake/lost", 1}, {"fake/outdated", 0}} {
		r := newRig(t, lsptest.Config{Faults: []lsptest.Fault{
			{On: "textDocument/references", Do: lsptest.Notify, Text: c.notice, JSON: json.RawMessage(`{}`)},
		}}, twoFiles, func(_ *Options, e *adapters.Engine, d *driver) {
			e.New = func(adapters.Launch) adapters.Driver {
				own := *d
				return &givesUp{&own}
			}
		})
		l := r.lease("one")
		first := r.only().PID
		r.reconfigure(lsptest.Config{})
		got, err := references(t.Context(), l, r.path("a.txt"))
		if err != nil || len(got) != 2 {
			t.Errorf("%s: %v, %v; want the answer of the process after it", c.notice, got, err)
		}
		if s := r.only(); s.PID == first || s.Starts != 2 || s.Crashes != c.crashes {
			t.Errorf("%s: pid %d after %d, %d starts, %d crashes", c.notice, s.PID, first, s.Starts, s.Crashes)
		}
	}
}
