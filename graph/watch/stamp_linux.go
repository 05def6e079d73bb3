package watch

import "syscall"

const canNotify = true

func stampOf(st *syscall.Stat_t) Stamp {
	return Stamp{
		ID: ID{Dev: st.Dev, Ino: st.Ino}, Mode: modeOf(st.Mode), Size: st.Size,
		Mtime: st.Mtim.Nano(), Ctime: st.Ctim.Nano(),
	}
}
