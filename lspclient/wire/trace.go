package wire

import (
	"bytes"
	"encoding/json"
	"io"
	"sync"
	"time"
)

// TraceLine is one line of a transcript, written as JSON.
type TraceLine struct {
	Time time.Time `json:"time"`
	// From is "client" or "server".
	From string `json:"from"`
	// Message is the body, compacted; a body that is not JSON stands as a string.
	Message json.RawMessage `json:"message"`
}

// tap writes a transcript. A failed write ends it, not the connection.
type tap struct {
	mu  sync.Mutex
	w   io.Writer
	err error
}

func (t *tap) record(from string, body []byte) {
	if t == nil {
		return
	}
	var compact bytes.Buffer
	if json.Compact(&compact, body) != nil {
		compact.Reset()
		quoted, _ := json.Marshal(string(body))
		compact.Write(quoted)
	}
	line, err := json.Marshal(TraceLine{Time: time.Now().UTC(), From: from, Message: compact.Bytes()})
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil && err == nil {
		_, t.err = t.w.Write(append(line, '\n'))
	}
}
