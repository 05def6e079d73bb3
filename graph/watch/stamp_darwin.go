package watch

import "syscall"

// kqueue needs an open file for everything watched; the poller is used instead.
const canNotify = false

func stampOf(st *syscall.Stat_t) Stamp {
	return Stamp{
		ID: ID{Dev: uint64(st.Dev), Ino: st.Ino}, Mode: modeOf(uint32(st.Mode)), Size: st.Size,
		Mtime: st.Mtimespec.Nano(), Ctime: st.Ctimespec.Nano(),
	}
}
