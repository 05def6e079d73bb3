package view

// cache keeps contents up to a number of bytes; the least recently used go
// first. Its user guards it.
type cache struct {
	limit, size    int64
	oldest, newest *file
}

func (c *cache) add(f *file, data []byte) {
	if int64(len(data)) > c.limit/4 {
		return // one file shall not push out all others
	}
	if data == nil {
		data = []byte{}
	}
	f.content = data
	c.size += int64(len(data))
	c.link(f)
	for c.size > c.limit {
		c.remove(c.oldest)
	}
}

func (c *cache) remove(f *file) {
	if f.content == nil {
		return
	}
	c.size -= int64(len(f.content))
	f.content = nil
	c.unlink(f)
}

func (c *cache) use(f *file) {
	if c.newest != f {
		c.unlink(f)
		c.link(f)
	}
}

func (c *cache) link(f *file) {
	f.older, f.newer = c.newest, nil
	if c.newest != nil {
		c.newest.newer = f
	} else {
		c.oldest = f
	}
	c.newest = f
}

func (c *cache) unlink(f *file) {
	if f.older != nil {
		f.older.newer = f.newer
	} else {
		c.oldest = f.newer
	}
	if f.newer != nil {
		f.newer.older = f.older
	} else {
		c.newest = f.older
	}
	f.older, f.newer = nil, nil
}
