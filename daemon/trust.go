package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/auralsp/aura/graph/watch"
)

// trustStore remembers which workspaces the user trusts, by canonical path and
// inode, so that another folder put in its place is not trusted. It lies in
// user state: a repository cannot ship it.
type trustStore struct {
	path  string
	roots func() []string // trusted by configuration, with all below them

	mu   sync.Mutex  // guards the file and what follows
	read watch.Stamp // of the file when list was read; zero when it was not, or could have changed unseen
	list []trusted
}

// trusted is one workspace of the store.
type trusted struct {
	Root string `json:"root"`
	Dev  uint64 `json:"dev"`
	Ino  uint64 `json:"ino"`
}

// load returns what the file holds, which is looked at each time: a person may
// have changed it. The caller holds mu and does not change the list.
func (s *trustStore) load() ([]trusted, error) {
	now := time.Now()
	stamp, err := watch.Stat(s.path)
	if err == nil && stamp == s.read {
		return s.list, nil
	}
	s.read = watch.Stamp{}
	b, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read trusted workspaces: %w", err)
	}
	var list []trusted
	if err := json.Unmarshal(b, &list); err != nil {
		return nil, fmt.Errorf("read trusted workspaces: %s is damaged: %w; remove it and trust again", s.path, err)
	}
	if !stamp.Racy(now) {
		s.read, s.list = stamp, list
	}
	return list, nil
}

// identity returns what names a folder: its canonical path, device and inode.
func identity(root string) (trusted, error) {
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return trusted{}, err
	}
	info, err := os.Stat(real)
	if err != nil {
		return trusted{}, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() {
		return trusted{}, fmt.Errorf("%s is not a folder", root)
	}
	return trusted{Root: real, Dev: uint64(st.Dev), Ino: st.Ino}, nil
}

// Trusts reports whether the user trusts the folder, by itself or below a
// folder that the configuration names.
func (s *trustStore) Trusts(root string) (bool, error) {
	there, err := watch.Stat(root)
	if err != nil {
		return false, err
	}
	s.mu.Lock()
	list, damaged := s.load()
	s.mu.Unlock()
	// The same folder under the same name needs no look at the links on the way.
	if slices.Contains(list, trusted{Root: root, Dev: there.ID.Dev, Ino: there.ID.Ino}) {
		return true, nil
	}
	id, err := identity(root)
	if err != nil {
		return false, err
	}
	for _, r := range s.roots() {
		if real, err := filepath.EvalSymlinks(r); err == nil && (id.Root == real || strings.HasPrefix(id.Root, strings.TrimSuffix(real, "/")+"/")) {
			return true, nil
		}
	}
	return slices.Contains(list, id), damaged
}

// Set trusts a folder, or no more; changed says that it was different before.
func (s *trustStore) Set(root string, trust bool) (real string, changed bool, err error) {
	id, err := identity(root)
	if err != nil {
		return "", false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	list, err := s.load()
	if err != nil {
		return "", false, err
	}
	if slices.Contains(list, id) == trust {
		return id.Root, false, nil
	}
	list = slices.DeleteFunc(slices.Clone(list), func(t trusted) bool { return t.Root == id.Root })
	if trust {
		list = append(list, id)
	}
	return id.Root, true, s.save(list)
}

// List returns the trusted folders.
func (s *trustStore) List() ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list, err := s.load()
	out := []string{}
	for _, t := range list {
		out = append(out, t.Root)
	}
	slices.Sort(out)
	return out, err
}

// save replaces the file whole: a torn one would forget or invent trust.
func (s *trustStore) save(list []trusted) error {
	b, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(s.path), ".trust-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if _, err = f.Write(b); err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("save trusted workspaces: %w", err)
	}
	return os.Rename(f.Name(), s.path)
}
