//go:build unix

package validate

import (
	"encoding/binary"
	"io/fs"
	"syscall"
	"time"
)

// stamp is how a file looks without being read.
type stamp struct {
	dev, ino     uint64
	size         int64
	mtime, ctime int64 // Unix nanoseconds
}

func stampOf(info fs.FileInfo) stamp {
	s := stamp{size: info.Size(), mtime: info.ModTime().UnixNano()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		s.dev, s.ino, s.ctime = uint64(st.Dev), st.Ino, changeTime(st)
	}
	return s
}

// settled reports whether a later write would change the times: kernels tick
// in steps of up to 10 ms, some file systems in seconds.
func (s stamp) settled() bool {
	return time.Since(time.Unix(0, max(s.mtime, s.ctime))) > 2*time.Second
}

func (s stamp) bytes() []byte {
	b := make([]byte, 0, 40)
	for _, v := range []uint64{s.dev, s.ino, uint64(s.size), uint64(s.mtime), uint64(s.ctime)} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}
