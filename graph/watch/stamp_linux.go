package watch

import (
	"io/fs"
	"syscall"
)

const canNotify = true

// StampOf returns the stamp that info holds; info must come from package os.
func StampOf(info fs.FileInfo) Stamp {
	s := Stamp{Mode: info.Mode(), Size: info.Size(), Mtime: info.ModTime().UnixNano()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		s.ID = ID{Dev: st.Dev, Ino: st.Ino}
		s.Ctime = st.Ctim.Nano()
	}
	return s
}
