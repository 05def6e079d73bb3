package view

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"github.com/auralsp/aura/lspclient/text"
)

// scan returns the listed files that contain word as a whole identifier. It
// does not verify by stat what the watcher would have told. Files on disk that
// lacks, if not nil, tells of are not read.
func (v *View) scan(ctx context.Context, word string, lacks func(path string) bool) ([]string, error) {
	var mu sync.Mutex
	var out []string
	buffers := sync.Pool{New: func() any { return new([]byte) }}
	each(ctx, v.listed(), func(path string) {
		v.mu.Lock()
		var content []byte
		b := v.buffers[path]
		if b != nil {
			content = b.holders[0].text
		} else if f := v.files[path]; f != nil && !f.racy {
			content = f.content
		}
		v.mu.Unlock()
		if b == nil && lacks != nil && lacks(path) {
			return
		}
		var found bool
		if content != nil {
			found = text.NextWord(content, word, 0) >= 0 && !binary(content)
		} else {
			buf := buffers.Get().(*[]byte)
			if data, _, _, err := readRegular(path, *buf, v.opts.MaxFile); err == nil {
				found = text.NextWord(data, word, 0) >= 0 && !binary(data)
				*buf = data
			}
			buffers.Put(buf)
		}
		if found {
			mu.Lock()
			out = append(out, path)
			mu.Unlock()
		}
	})
	slices.Sort(out)
	return out, ctx.Err()
}

// binary reports whether content is no text, as git tells.
func binary(content []byte) bool {
	return bytes.IndexByte(content[:min(len(content), 8000)], 0) >= 0
}
