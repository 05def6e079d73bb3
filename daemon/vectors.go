package daemon

import (
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/auralsp/aura/daemon/config"
	"github.com/auralsp/aura/graph/search"
)

// vectors owns what ranks searches by meaning, as the user's configuration has it
// now; by default it is nothing.
type vectors struct {
	dir    string // folder of kept vectors
	config *config.Store
	log    *slog.Logger

	mu   sync.Mutex // guards what follows
	made config.Embeddings
	now  *search.Vectors
}

// get returns what ranks by meaning, and how many results; nil for words alone.
func (v *vectors) get() (*search.Vectors, int) {
	c, _ := v.config.Get()
	want := c.Search.Embeddings
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.made != want {
		v.close()
		v.made = want
		if want.URL != "" {
			v.now = v.open(want)
		}
	}
	return v.now, want.Candidates
}

func (v *vectors) open(e config.Embeddings) *search.Vectors {
	out := &search.Vectors{Endpoint: search.Endpoint{URL: e.URL, Model: e.Model, Timeout: time.Duration(e.TimeoutSeconds) * time.Second}}
	if e.APIKeyEnv != "" {
		out.Endpoint.Key = os.Getenv(e.APIKeyEnv)
		if out.Endpoint.Key == "" {
			v.log.Warn("the variable that search.embeddings.api_key_env names is not set in the daemon's environment", "variable", e.APIKeyEnv)
		}
	}
	kept, err := search.OpenVectorFile(v.dir, e.URL, e.Model, int64(e.CacheMegabytes)<<20)
	if err != nil {
		v.log.Warn("vectors of the search are not kept", "folder", v.dir, "error", err)
		return out
	}
	out.Kept = kept
	return out
}

// close gives up what there is; mu is held, or nobody asks any more.
func (v *vectors) close() {
	if v.now != nil && v.now.Kept != nil {
		if err := v.now.Kept.Close(); err != nil {
			v.log.Warn("close the file of vectors", "error", err)
		}
	}
	v.now, v.made = nil, config.Embeddings{}
}
