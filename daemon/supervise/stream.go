package supervise

import (
	"io"
	"sync/atomic"

	"github.com/auralsp/aura/lspclient/proc"
)

// stream is the connection to a process. It counts what arrives, to tell a
// silent server from a slow one.
type stream struct {
	*proc.Conn
	read       atomic.Int64
	transcript io.Writer // of what is said; nil for none
	close      func() error
}

func newStream(p *proc.Process, transcript io.WriteCloser) *stream {
	s := &stream{Conn: p.Conn()}
	if transcript != nil {
		s.transcript, s.close = transcript, transcript.Close
	}
	return s
}

// Read counts.
func (s *stream) Read(b []byte) (int, error) {
	n, err := s.Conn.Read(b)
	s.read.Add(int64(n))
	return n, err
}

// end closes the connection and its transcript.
func (s *stream) end() {
	_ = s.Conn.Close()
	if s.close != nil {
		_ = s.close()
	}
}
