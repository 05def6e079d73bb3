package ingest

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/auralsp/aura/graph/index"
	"github.com/auralsp/aura/graph/record"
	"github.com/auralsp/aura/graph/store"
)

// cache is the store as an index.Cache: what it held at the start is handed out
// where a stamp or a hash proves that it still fits.
type cache struct {
	o    *Options
	ctx  context.Context
	once sync.Once

	mu     sync.Mutex             // guards what follows
	kept   map[string]store.Entry // of the start, by path relative to the root, while nobody asked for it
	makers map[makerKey]string
}

var _ index.Cache = (*cache)(nil)

// makerKey is what records differ by beside the content.
type makerKey struct{ language, extractor, project string }

// maker tells what a record was made by and for.
func (c *cache) maker(s index.Source) string {
	key := makerKey{s.Place.Language, s.Spec.Version, s.Place.Project}
	c.mu.Lock()
	defer c.mu.Unlock()
	m, ok := c.makers[key]
	if !ok {
		m = strings.Join([]string{record.Version, c.o.Build, key.language, key.extractor, key.project}, "\x00")
		if c.makers == nil {
			c.makers = map[makerKey]string{}
		}
		c.makers[key] = m
	}
	return m
}

// load waits until the store is read.
func (c *cache) load() {
	if c.o.Store == nil {
		return
	}
	c.once.Do(func() {
		kept, err := c.o.Store.Entries(c.ctx)
		if err != nil {
			return // it is being closed
		}
		c.mu.Lock()
		c.kept = kept
		c.mu.Unlock()
	})
}

// find returns what is kept of a source, if it was made as it would be now.
func (c *cache) find(s index.Source) (string, store.Entry, bool) {
	c.load()
	rel := c.o.relative(s.Path)
	c.mu.Lock()
	e, ok := c.kept[rel]
	c.mu.Unlock()
	return rel, e, ok && e.Maker == c.maker(s)
}

func (c *cache) take(rel string) (store.Entry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.kept[rel]
	delete(c.kept, rel)
	return e, ok
}

// Unread implements index.Cache.
func (c *cache) Unread(s index.Source) (record.Record, index.Hash, bool) {
	rel, e, ok := c.find(s)
	if !ok {
		return record.Record{}, index.Hash{}, false
	}
	r, ok := c.proven(s, e)
	if ok {
		c.take(rel)
	}
	return r, e.Hash, ok
}

// proven returns the record of an entry if a look at the file proves that it
// still has that content.
func (c *cache) proven(s index.Source, e store.Entry) (record.Record, bool) {
	if e.Stamp == "" {
		return record.Record{}, false
	}
	if look, ok := c.o.Look(s.Path); !ok || look.Stamp != e.Stamp {
		return record.Record{}, false
	}
	r, err := record.Of(e.Record)
	return r, err == nil
}

// fill puts into an index that holds nothing what is kept of files that did not
// change since, all at once, and returns the other sources.
func (c *cache) fill(sources []index.Source) []index.Source {
	c.load()
	c.mu.Lock()
	kept := c.kept
	c.kept = nil // nobody else changes it now
	c.mu.Unlock()
	if len(kept) == 0 {
		return sources
	}
	found := make([]index.Known, len(sources))
	var wg sync.WaitGroup
	part := (len(sources) + c.o.Workers - 1) / c.o.Workers
	for from := 0; from < len(sources); from += part {
		wg.Go(func() {
			for i, s := range sources[from:min(from+part, len(sources))] {
				e, ok := kept[c.o.relative(s.Path)]
				if !ok || s.Anew || e.Maker != c.maker(s) {
					continue
				}
				if r, ok := c.proven(s, e); ok {
					found[from+i] = index.Known{Source: s, Hash: e.Hash, Record: r}
				}
			}
		})
	}
	wg.Wait()
	var rest []index.Source
	for i, s := range sources {
		if found[i].Source.Path == "" {
			rest = append(rest, s)
		}
	}
	found = slices.DeleteFunc(found, func(k index.Known) bool { return k.Source.Path == "" })
	if c.o.Index.Fill(found) {
		for _, k := range found {
			delete(kept, c.o.relative(k.Source.Path))
		}
	} else {
		rest = sources
	}
	c.mu.Lock()
	c.kept = kept
	c.mu.Unlock()
	return rest
}

// Record implements index.Cache.
func (c *cache) Record(s index.Source, hash index.Hash) (record.Record, bool) {
	_, e, ok := c.find(s)
	if !ok || e.Hash != hash {
		return record.Record{}, false
	}
	r, err := record.Of(e.Record)
	return r, err == nil
}

// Keep implements index.Cache.
func (c *cache) Keep(s index.Source, hash index.Hash, r record.Record) {
	rel := c.o.relative(s.Path)
	if c.o.Store == nil || rel == "" {
		return
	}
	look, ok := c.o.Look(s.Path)
	if !ok || !look.Read || look.Hash != hash {
		return // it was changed meanwhile, or is what somebody has not saved yet
	}
	e, known := c.take(rel)
	if known && e.Hash == hash && e.Maker == c.maker(s) {
		if e.Stamp != look.Stamp {
			c.o.Store.Stamp(rel, hash, look.Stamp)
		}
		return
	}
	c.o.Store.Put(rel, store.Entry{Hash: hash, Stamp: look.Stamp, Maker: c.maker(s), Record: r.Data()})
}

// Forget implements index.Cache.
func (c *cache) Forget(path string) {
	rel := c.o.relative(path)
	if c.o.Store == nil || rel == "" {
		return
	}
	c.load()
	c.take(rel)
	c.o.Store.Delete(rel)
}

// rest forgets what was kept of files that are no more.
func (c *cache) rest() {
	if c.o.Store == nil {
		return
	}
	c.load()
	c.mu.Lock()
	rest := c.kept
	c.kept = nil
	c.mu.Unlock()
	for rel := range rest {
		if !c.o.Index.Has(filepath.Join(c.o.Root, rel)) {
			c.o.Store.Delete(rel)
		}
	}
}

// reset empties the store.
func (c *cache) reset() {
	if c.o.Store == nil {
		return
	}
	c.load()
	c.mu.Lock()
	c.kept = nil
	c.mu.Unlock()
	c.o.Store.Reset()
}
