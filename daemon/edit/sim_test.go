package edit

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// simDisk is a disk in memory that keeps apart what programs see and what
// would be left after a power cut. File contents are durable after a flush of
// the file, names after a flush of the folder. Until then each rename, link or
// removal may be lost or kept on its own, in any order that respects earlier
// changes of the same names; a rename is never half done. That is what ext4,
// XFS and btrfs promise, and less than any of them does.
type simDisk struct {
	mu      sync.Mutex
	nodes   map[uint64]*simNode
	nextIno uint64
	durable map[uint64]map[string]uint64 // names on the disk, by folder
	pending []*simChange                 // changes of names that are not
	now     time.Time

	ops        int // mutating calls so far
	killAt     int // from this call on nothing happens any more; -1 is never
	fail       func(n int, call string, grows bool) error
	intrude    func(n int)            // called before the n-th mutating call, under mu
	lie        func(call string) bool // flushes that do nothing and report success
	noExchange bool
	noReplace  bool
	calls      []string
	reflushed  []string // files that were flushed again after a flush had failed
}

type simNode struct {
	ino     uint64
	kind    FileType
	meta    simMeta
	data    []byte // never changed in place
	target  string // of a link
	entries map[string]uint64
	links   int
	// as on the disk
	diskMeta simMeta
	diskData []byte
	poisoned bool // a flush of it failed
}

type simMeta struct {
	mode     uint32
	uid, gid uint32
	mtime    time.Time
	attrs    map[string]string
}

// simChange is one change of names, which is durable as a whole or not at all.
type simChange struct {
	cells []simCell
}

type simCell struct {
	dir  uint64
	name string
	ino  uint64 // 0: no such name
}

var errDead = errors.New("the process is dead")

func newSimDisk() *simDisk {
	d := &simDisk{
		nodes: map[uint64]*simNode{}, durable: map[uint64]map[string]uint64{}, killAt: -1,
		now: time.Unix(1_700_000_000, 0),
	}
	root := d.node(Directory, 0o755)
	root.links = 1
	return d
}

func (d *simDisk) node(kind FileType, mode uint32) *simNode {
	d.nextIno++
	n := &simNode{ino: d.nextIno, kind: kind, meta: simMeta{
		mode: mode, uid: uint32(os.Geteuid()), gid: uint32(os.Getegid()), mtime: d.now,
	}}
	n.diskMeta = n.meta
	if kind == Directory {
		n.entries = map[string]uint64{}
		d.durable[n.ino] = map[string]uint64{}
	}
	d.nodes[n.ino] = n
	return n
}

// step counts a mutating call in and decides whether it happens. grows says
// that it needs new blocks.
func (d *simDisk) step(call string, grows bool) error {
	n := d.ops
	d.ops++
	if d.killAt >= 0 && n >= d.killAt {
		return errDead
	}
	d.calls = append(d.calls, call)
	if d.intrude != nil {
		d.intrude(n)
	}
	if d.fail != nil {
		return d.fail(n, call, grows)
	}
	return nil
}

// lies reports whether the flush that was just counted in does nothing.
func (d *simDisk) lies() bool { return d.lie != nil && d.lie(d.calls[len(d.calls)-1]) }

func (d *simDisk) dead() bool { return d.killAt >= 0 && d.ops > d.killAt }

// change does a change of names for programs and notes it as not yet durable.
func (d *simDisk) change(cells ...simCell) {
	for _, c := range cells {
		dir := d.nodes[c.dir]
		if old := dir.entries[c.name]; old != 0 {
			d.nodes[old].links--
		}
		if c.ino == 0 {
			delete(dir.entries, c.name)
		} else {
			dir.entries[c.name] = c.ino
			d.nodes[c.ino].links++
		}
		dir.meta.mtime = d.now
	}
	d.pending = append(d.pending, &simChange{cells: cells})
}

func (c *simChange) shares(o *simChange) bool {
	for _, a := range c.cells {
		for _, b := range o.cells {
			if a.dir == b.dir && a.name == b.name {
				return true
			}
		}
	}
	return false
}

// flushDir makes the changes of a folder durable, with those that came before
// them on the same names.
func (d *simDisk) flushDir(ino uint64) {
	must := make([]bool, len(d.pending))
	for i := len(d.pending) - 1; i >= 0; i-- {
		for _, c := range d.pending[i].cells {
			must[i] = must[i] || c.dir == ino
		}
		if !must[i] {
			continue
		}
		for j := range i {
			must[j] = must[j] || d.pending[j].shares(d.pending[i])
		}
	}
	d.settle(must)
}

// settle writes the chosen changes to the disk, in order.
func (d *simDisk) settle(chosen []bool) {
	var rest []*simChange
	for i, c := range d.pending {
		if !chosen[i] {
			rest = append(rest, c)
			continue
		}
		for _, cell := range c.cells {
			if cell.ino == 0 {
				delete(d.durable[cell.dir], cell.name)
			} else {
				d.durable[cell.dir][cell.name] = cell.ino
			}
		}
	}
	d.pending = rest
}

func (n *simNode) flush(meta bool) {
	n.diskData = n.data
	if meta {
		n.diskMeta = n.meta
	}
}

func (d *simDisk) flushAll() {
	chosen := make([]bool, len(d.pending))
	for i := range chosen {
		chosen[i] = true
	}
	d.settle(chosen)
	for _, n := range d.nodes {
		n.flush(true)
	}
}

// clone copies the disk with its unflushed state; the hooks stay behind.
func (d *simDisk) clone() *simDisk {
	c := &simDisk{
		nodes: map[uint64]*simNode{}, durable: map[uint64]map[string]uint64{}, nextIno: d.nextIno, now: d.now,
		pending: slices.Clone(d.pending), killAt: -1, noExchange: d.noExchange, noReplace: d.noReplace,
	}
	for ino, n := range d.nodes {
		m := *n
		m.entries = maps.Clone(n.entries)
		c.nodes[ino] = &m
	}
	for ino, names := range d.durable {
		c.durable[ino] = maps.Clone(names)
	}
	return c
}

// loss says what a crash does to what was not flushed.
type loss uint8

const (
	loseNothing loss = iota // only the process died
	loseAll
	loseData // names are kept, contents are not
	loseNames
	loseSome // by chance, contents torn at sectors
	losses
)

func (l loss) String() string {
	return [...]string{"process died", "all lost", "contents lost", "names lost", "some lost"}[l]
}

// crash returns the disk as it may be found after the machine died.
func (d *simDisk) crash(l loss, rng *rand.Rand) *simDisk {
	c := d.clone()
	if l == loseNothing {
		return c // what was not flushed is still not, and can be lost later
	}
	keepNames := func() bool { return l == loseData || l == loseSome && rng.IntN(2) == 0 }
	chosen := make([]bool, len(c.pending))
	for i, p := range c.pending {
		chosen[i] = keepNames()
		for j := range i {
			if !chosen[j] && c.pending[j].shares(p) {
				chosen[i] = false
			}
		}
	}
	c.settle(chosen)
	c.pending = nil
	inos := slices.Sorted(maps.Keys(c.nodes))
	for _, ino := range inos {
		n := c.nodes[ino]
		n.links = 0
		if n.kind == Directory {
			n.entries = maps.Clone(c.durable[ino])
		}
		switch l {
		case loseNames:
		case loseAll, loseData:
			n.data, n.meta = n.diskData, n.diskMeta
		case loseSome:
			n.data = torn(n.diskData, n.data, rng)
			if rng.IntN(2) == 0 {
				n.meta = n.diskMeta
			}
		}
		n.flush(true)
	}
	c.nodes[1].links = 1
	for _, ino := range inos {
		for _, child := range c.nodes[ino].entries {
			c.nodes[child].links++
		}
	}
	return c
}

// torn mixes two contents by sectors.
func torn(old, now []byte, rng *rand.Rand) []byte {
	const sector = 512
	size := len(old)
	if rng.IntN(2) == 0 {
		size = len(now)
	}
	out := make([]byte, size)
	for at := 0; at < size; at += sector {
		from := old
		if rng.IntN(2) == 0 {
			from = now
		}
		if at < len(from) {
			copy(out[at:min(at+sector, size)], from[at:])
		}
	}
	return out
}

// walk finds a path from the root; links are not followed.
func (d *simDisk) walk(p string) (*simNode, error) {
	n := d.nodes[1]
	for part := range strings.SplitSeq(strings.Trim(path.Clean(p), "/"), "/") {
		if part == "" || part == "." {
			continue
		}
		if n.kind == Symlink {
			return nil, syscall.ELOOP
		}
		if n.kind != Directory {
			return nil, syscall.ENOTDIR
		}
		ino := n.entries[part]
		if ino == 0 {
			return nil, syscall.ENOENT
		}
		n = d.nodes[ino]
	}
	return n, nil
}

// put makes or replaces a file by a rename, as an editor that saves does. It
// does not count as a call.
func (d *simDisk) put(p, content string, mode uint32) *simNode {
	parent, err := d.walk(path.Dir(p))
	if errors.Is(err, syscall.ENOENT) {
		d.mkdir(path.Dir(p))
		parent, err = d.walk(path.Dir(p))
	}
	if err != nil {
		panic(fmt.Sprintf("put %s: %v", p, err))
	}
	n := d.node(RegularFile, mode)
	n.data = []byte(content)
	d.change(simCell{parent.ino, path.Base(p), n.ino})
	return n
}

func (d *simDisk) mkdir(p string) {
	if _, err := d.walk(p); err == nil {
		return
	}
	d.mkdir(path.Dir(p))
	parent, err := d.walk(path.Dir(p))
	if err != nil {
		panic(err)
	}
	d.change(simCell{parent.ino, path.Base(p), d.node(Directory, 0o755).ino})
}

// tree returns the files below a folder as "mode content", those of Aura's
// staging folders left out.
func (d *simDisk) tree(root string) map[string]string {
	out := map[string]string{}
	d.each(root, "", func(rel string, n *simNode) bool {
		if rel == stagingGit || rel == stagingFallback {
			return false
		}
		switch n.kind {
		case RegularFile:
			out[rel] = fmt.Sprintf("%04o %s", n.meta.mode, n.data)
		case Directory:
			out[rel+"/"] = "folder"
		}
		return true
	})
	return out
}

func (d *simDisk) each(root, rel string, visit func(rel string, n *simNode) bool) {
	n, err := d.walk(path.Join(root, rel))
	if err != nil || rel != "" && !visit(rel, n) || n.kind != Directory {
		return
	}
	for _, name := range slices.SortedFunc(maps.Keys(n.entries), cmp.Compare[string]) {
		d.each(root, path.Join(rel, name), visit)
	}
}
