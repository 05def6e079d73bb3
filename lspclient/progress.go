package lspclient

import (
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/auralsp/aura/lspclient/wire"
)

// maxProgress bounds the tokens that are open at once; a server that never ends
// them loses the oldest.
const maxProgress = 1024

// Progress is one piece of work that the server has begun and not ended.
type Progress struct {
	Token      string // as JSON: a string keeps its quotes
	Title      string
	Message    string // the latest
	Percentage int    // -1 when the server gives none
}

type progressState struct {
	mu    sync.Mutex // guards the fields below
	open  []Progress // in the order of their begin
	moves uint64
}

func (p *progressState) report(e wire.Event, log *slog.Logger) {
	var v struct {
		Token json.RawMessage `json:"token"`
		Value struct {
			Kind       string   `json:"kind"`
			Title      string   `json:"title"`
			Message    *string  `json:"message"`
			Percentage *float64 `json:"percentage"`
		} `json:"value"`
	}
	// Partial results come under this method, too, with values of any shape.
	if err := json.Unmarshal(e.Params, &v); err != nil {
		log.Debug("progress of another shape", "err", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.moves++
	token := string(v.Token)
	at := slices.IndexFunc(p.open, func(o Progress) bool { return o.Token == token })
	switch v.Value.Kind {
	case "begin":
		if at >= 0 {
			p.open = slices.Delete(p.open, at, at+1)
		}
		if len(p.open) >= maxProgress {
			p.open = slices.Delete(p.open, 0, 1)
		}
		p.open = append(p.open, Progress{Token: token, Title: strings.Clone(v.Value.Title), Percentage: -1})
		at = len(p.open) - 1
	case "report":
		if at < 0 {
			return
		}
	case "end":
		if at >= 0 {
			p.open = slices.Delete(p.open, at, at+1)
		}
		return
	default:
		return
	}
	if v.Value.Message != nil {
		p.open[at].Message = *v.Value.Message
	}
	if v.Value.Percentage != nil {
		p.open[at].Percentage = int(min(max(*v.Value.Percentage, 0), 100))
	}
}

// Progress returns the work in progress in the order of its begin, and a
// number that grows with each progress notification.
func (c *Client) Progress() (open []Progress, moves uint64) {
	c.progress.mu.Lock()
	defer c.progress.mu.Unlock()
	return slices.Clone(c.progress.open), c.progress.moves
}
