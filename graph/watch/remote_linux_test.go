package watch

import "testing"

func TestF14_RemoteFileSystems(t *testing.T) {
	for magic, want := range map[int64]string{
		0x6969: "NFS", 0xFF534D42: "SMB", -0x0ACB2BE: "SMB", 0x65735546: "FUSE", 0x01021997: "9p",
		0xEF53: "", 0x01021994: "", 0x794C7630: "", 0x9123683E: "", 0x58465342: "",
	} {
		if got := remoteName(magic); got != want {
			t.Errorf("%#x is %q, want %q", magic, got, want)
		}
	}
	if got := remote("/proc"); got != "" {
		t.Errorf("/proc is %q", got)
	}
}
