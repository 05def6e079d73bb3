package daemon

import (
	"os"
	"path/filepath"
	"testing"
)

func newTrust(t *testing.T, roots ...string) *trustStore {
	t.Helper()
	return &trustStore{path: filepath.Join(t.TempDir(), "state", "trust.json"), roots: func() []string { return roots }}
}

func trusts(t *testing.T, s *trustStore, dir string) bool {
	t.Helper()
	ok, err := s.Trusts(dir)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

func set(t *testing.T, s *trustStore, dir string, trust, wantChanged bool) {
	t.Helper()
	if _, changed, err := s.Set(dir, trust); err != nil || changed != wantChanged {
		t.Fatalf("Set(%s, %v) = changed %v, %v; want changed %v", dir, trust, changed, err, wantChanged)
	}
}

func TestTrustIsOfOneFolderAndLastsUntilRevoked(t *testing.T) {
	s, dir := newTrust(t), t.TempDir()
	inner := filepath.Join(dir, "inner")
	if err := os.Mkdir(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	if trusts(t, s, dir) {
		t.Error("a folder is trusted before anybody said so")
	}
	set(t, s, dir, true, true)
	set(t, s, dir, true, false)
	again := &trustStore{path: s.path, roots: s.roots}
	if !trusts(t, again, dir) {
		t.Error("trust did not survive a restart")
	}
	if trusts(t, again, inner) {
		t.Error("a folder inside is trusted, which nobody said")
	}
	set(t, again, dir, false, true)
	if trusts(t, s, dir) {
		t.Error("trust was revoked and still holds")
	}
	if info, err := os.Stat(s.path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the store is %v, %v; want it private", info.Mode(), err)
	}
}

// TestTrustEndsWithTheFolder: another folder put in the place of a trusted one
// is not trusted, by whatever name it is reached.
func TestTrustEndsWithTheFolder(t *testing.T) {
	s, base := newTrust(t), t.TempDir()
	dir, link := filepath.Join(base, "project"), filepath.Join(base, "link")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	set(t, s, link, true, true)
	if !trusts(t, s, dir) {
		t.Error("trust given through a link does not hold for the folder")
	}
	if err := os.Rename(dir, dir+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if trusts(t, s, dir) || trusts(t, s, link) {
		t.Error("another folder of the same name is trusted")
	}
}

func TestTrustOfConfiguredFoldersReachesBelow(t *testing.T) {
	base := t.TempDir()
	below, twin := filepath.Join(base, "src", "project"), filepath.Join(base, "src-evil")
	for _, d := range []string{below, twin} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s := newTrust(t, filepath.Join(base, "src"))
	if !trusts(t, s, below) {
		t.Error("a folder below a configured one is not trusted")
	}
	if trusts(t, s, twin) {
		t.Error("a folder whose name only begins like a configured one is trusted")
	}
}

func TestDamagedTrustIsAnErrorNotTrust(t *testing.T) {
	s, dir := newTrust(t), t.TempDir()
	set(t, s, dir, true, true)
	if err := os.WriteFile(s.path, []byte(`[{"root":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if ok, err := s.Trusts(dir); err == nil || ok {
		t.Errorf("Trusts on a damaged store = %v, %v; want an error", ok, err)
	}
}
