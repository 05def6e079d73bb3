package watch

import "syscall"

// remote names the file system at path when changes that others make to it are
// not notified: those of a server, or of a program behind FUSE. It returns the
// empty string for all others.
func remote(path string) string {
	var st syscall.Statfs_t
	if err := syscall.Statfs(path, &st); err != nil {
		return ""
	}
	return remoteName(int64(st.Type))
}

// remoteName maps the numbers of linux/magic.h and of the kernel's fs folder.
func remoteName(magic int64) string {
	switch uint32(magic) {
	case 0x6969:
		return "NFS"
	case 0x517B, 0xFF534D42, 0xFE534D42:
		return "SMB"
	case 0x65735546:
		return "FUSE"
	case 0x01021997:
		return "9p"
	case 0x00C36400:
		return "Ceph"
	case 0x5346414F, 0x6B414653:
		return "AFS"
	case 0x786F4256:
		return "a shared folder of VirtualBox"
	}
	return ""
}
