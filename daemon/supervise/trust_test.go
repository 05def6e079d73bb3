package supervise

import (
	"encoding/json"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/lspclient/lsptest"
	"github.com/auralsp/aura/lspclient/wire"
)

func TestGrantedTrustEndsTheRestrictedServerOnceUnused(t *testing.T) {
	r := newRig(t, lsptest.Config{}, twoFiles)
	l := r.lease("one")
	if n := r.sup.Retrust(r.root, false); n != 0 {
		t.Errorf("%d servers given up though the trust is as it was", n)
	}
	if n := r.sup.Retrust(t.TempDir(), true); n != 0 {
		t.Errorf("%d servers of another workspace given up", n)
	}
	if n := r.sup.Retrust(r.root, true); n != 1 {
		t.Errorf("%d servers given up, want the restricted one", n)
	}
	if _, err := references(t.Context(), l, r.path("a.txt")); err != nil {
		t.Errorf("who still uses it is not served: %v", err)
	}
	l.Release()
	until(t, "the restricted server has ended", func() bool { return len(r.sup.Status()) == 0 })
}

func TestRevokedTrustEndsTheServerAtOnce(t *testing.T) {
	r := newRig(t, lsptest.Config{}, twoFiles)
	want := r.want("one")
	want.Trusted = true
	l, err := r.sup.Lease(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Release)
	if n := r.sup.Retrust(r.root, false); n != 1 {
		t.Errorf("%d servers given up, want the one that trusts", n)
	}
	until(t, "it has ended, though it is leased", func() bool { return len(r.sup.Status()) == 0 })
	if _, err := references(t.Context(), l, r.path("a.txt")); err == nil {
		t.Error("a request of before is still answered")
	}
	r.lease("two") // with the trust that there is now
}

// record is a transcript in memory.
type record struct {
	mu     sync.Mutex // guards what follows
	text   strings.Builder
	closed bool
}

func (r *record) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(b)
}

func (r *record) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	return nil
}

func TestTranscriptHoldsBothSidesAndIsClosed(t *testing.T) {
	var got record
	r := newRig(t, lsptest.Config{}, twoFiles, func(o *Options, _ *adapters.Engine, _ *driver) {
		o.Trace = func(engine string, pid int) io.WriteCloser {
			if engine != "fake" || pid <= 0 {
				t.Errorf("a transcript of %s, process %d", engine, pid)
			}
			return &got
		}
	})
	if _, err := references(t.Context(), r.lease("one"), r.path("a.txt")); err != nil {
		t.Fatal(err)
	}
	r.sup.Restart(r.root, "")
	until(t, "the transcript is closed", func() bool {
		got.mu.Lock()
		defer got.mu.Unlock()
		return got.closed
	})
	from := map[string]int{}
	got.mu.Lock()
	defer got.mu.Unlock()
	for dec := json.NewDecoder(strings.NewReader(got.text.String())); dec.More(); {
		var line wire.TraceLine
		if err := dec.Decode(&line); err != nil {
			t.Fatal(err)
		}
		if time.Since(line.Time) > time.Hour || !json.Valid(line.Message) {
			t.Errorf("line %+v", line)
		}
		from[line.From]++
	}
	if from["client"] < 3 || from["server"] < 2 || len(from) != 2 {
		t.Errorf("lines by side: %v, want initialize and a question of ours and their answers", from)
	}
}
