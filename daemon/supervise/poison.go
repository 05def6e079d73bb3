package supervise

import (
	"crypto/sha256"
	"encoding/json"
	"sync"
	"time"

	"github.com/auralsp/aura/lspclient/text"
	"github.com/auralsp/aura/lspclient/wire"
)

const (
	// strikes is how many crashes of the server condemn a document or a request.
	strikes = 2
	// sentence is how long a condemned document or request is kept from the server.
	sentence = 10 * time.Minute
	// maxPoison bounds what is remembered.
	maxPoison = 256
)

// poison remembers what a server crashed on, so that one document or request
// cannot take the server from everybody again and again.
type poison struct {
	mu       sync.Mutex // guards the rest
	unproven map[string]text.Hash
	docs     map[string]strike // by path
	requests map[[sha256.Size]byte]strike
}

type strike struct {
	hash text.Hash // documents: of the text that counted
	n    int
	last time.Time
}

func newPoison() *poison {
	p := &poison{}
	p.clear()
	return p
}

func (p *poison) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unproven = make(map[string]text.Hash)
	p.docs = make(map[string]strike)
	p.requests = make(map[[sha256.Size]byte]strike)
}

// opened notes that a document was sent and that the server has not answered anything since.
func (p *poison) opened(path string, h text.Hash) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unproven[path] = h
}

// proved notes that the server lived to answer, which acquits the documents it was sent.
func (p *poison) proved() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for path, h := range p.unproven {
		if p.docs[path].hash == h {
			delete(p.docs, path)
		}
	}
	clear(p.unproven)
}

// died gives a strike to each document that the server had not survived yet.
func (p *poison) died(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for path, h := range p.unproven {
		s := p.docs[path]
		if s.hash != h {
			s = strike{hash: h}
		}
		s.n++
		s.last = now
		if len(p.docs) < maxPoison || s.n > 1 {
			p.docs[path] = s
		}
	}
	clear(p.unproven)
}

// condemned reports whether a document with this text is kept from the server.
func (p *poison) condemned(path string, h text.Hash, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, ok := p.docs[path]
	return ok && s.hash == h && s.n >= strikes && now.Sub(s.last) < sentence
}

// fingerprint identifies a request by its method and parameters.
func fingerprint(method string, params any) [sha256.Size]byte {
	b, err := wire.Marshal(params)
	var tree any
	if err == nil && json.Unmarshal(b, &tree) == nil {
		b, _ = json.Marshal(tree) // with the members of objects in one order
	}
	return sha256.Sum256(append([]byte(method+"\x00"), b...))
}

// crashedOn gives a strike to a request that the server did not survive.
func (p *poison) crashedOn(f [sha256.Size]byte, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.requests[f]
	s.n++
	s.last = now
	if len(p.requests) >= maxPoison && s.n == 1 {
		clear(p.requests)
	}
	p.requests[f] = s
}

// survived acquits a request.
func (p *poison) survived(f [sha256.Size]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.requests, f)
}

// banned reports whether a request is kept from the server. It costs nothing
// while no request has crashed it.
func (p *poison) banned(method string, params any, now time.Time) bool {
	p.mu.Lock()
	none := len(p.requests) == 0
	p.mu.Unlock()
	if none {
		return false
	}
	f := fingerprint(method, params)
	p.mu.Lock()
	defer p.mu.Unlock()
	s, ok := p.requests[f]
	return ok && s.n >= strikes && now.Sub(s.last) < sentence
}
