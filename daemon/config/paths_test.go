package config

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func env(m map[string]string) func(string) string { return func(k string) string { return m[k] } }

func TestFindPaths(t *testing.T) {
	dir := t.TempDir()
	got, err := FindPaths(env(map[string]string{"HOME": "/h", "XDG_RUNTIME_DIR": dir, "XDG_STATE_HOME": "/s", "XDG_CACHE_HOME": "relative"}))
	if err != nil {
		t.Fatal(err)
	}
	want := Paths{
		Socket: filepath.Join(dir, "aura/aurad.sock"), State: "/s/aura", Cache: "/h/.cache/aura", Data: "/h/.local/share/aura",
		Config: "/h/.config/aura", ConfigFile: "/h/.config/aura/config.toml", LogFile: "/s/aura/aurad.log", Tools: "/h/.local/share/aura/tools",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if _, err := FindPaths(env(nil)); err == nil || !strings.Contains(err.Error(), "HOME") {
		t.Errorf("without HOME: %v", err)
	}
}

func TestS04_SocketPath(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(dir, "foreign")
	if err := os.Mkdir(foreign, 0o700); err != nil {
		t.Fatal(err)
	}
	short := "/tmp/aura-" + strconv.Itoa(os.Geteuid()) + "/"
	long := "/" + strings.Repeat("x", 120)
	tests := []struct {
		name, home, runtime string
		want                string
	}{
		{"runtime folder", "/h", dir, dir + "/aura/aurad.sock"},
		{"runtime folder to be made below ours", "/h", dir + "/new/er", dir + "/new/er/aura/aurad.sock"},
		{"unset", "/h", "", "/h/.local/state/aura/run/aurad.sock"},
		{"relative", "/h", "run", "/h/.local/state/aura/run/aurad.sock"},
		{"a file", "/h", file, "/h/.local/state/aura/run/aurad.sock"},
		{"a symlink", "/h", link, "/h/.local/state/aura/run/aurad.sock"},
		{"home too long", long, "", short},
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(foreign, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		tests = append(tests, struct{ name, home, runtime, want string }{"of another user", "/h", foreign, "/h/.local/state/aura/run/aurad.sock"})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := FindPaths(env(map[string]string{"HOME": tt.home, "XDG_RUNTIME_DIR": tt.runtime}))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(p.Socket, tt.want) || len(p.Socket) > MaxSocketPath {
				t.Errorf("socket %s, want %s", p.Socket, tt.want)
			}
		})
	}
	a, b := socketPath(long+"a", 7), socketPath(long+"b", 7)
	if a == b || a != socketPath(long+"a", 7) || !strings.HasPrefix(a, "/tmp/aura-7/") {
		t.Errorf("%s and %s", a, b)
	}
	if p := "/" + strings.Repeat("x", 106); socketPath(p, 7) != p {
		t.Error("a path of 107 bytes was replaced")
	}
	if p := "/" + strings.Repeat("x", 107); socketPath(p, 7) == p {
		t.Error("a path of 108 bytes was kept")
	}
}
