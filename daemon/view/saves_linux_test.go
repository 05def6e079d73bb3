package view_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// F17: however an editor or a tool saves, the log names one change of the file,
// with its final text, and nothing of what the editor had beside it for a moment.
func TestF17_SaveStyles(t *testing.T) {
	forms(t, map[string]string{"sub/a.x": "0"}, func(r *rig) {
		path := r.path("sub/a.x")
		beside := func(name string) string { return filepath.Join(filepath.Dir(path), name) }
		put := func(path, text string) { r.must(os.WriteFile(path, []byte(text), 0o644)) }
		styles := map[string]func(text string){
			"in place": func(text string) { put(path, text) },
			"truncated, then written in parts": func(text string) {
				f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
				r.must(err)
				for i := range text {
					_, err := f.WriteString(text[i : i+1])
					r.must(err)
				}
				r.must(f.Close())
			},
			"temp and rename": func(text string) {
				put(beside("a.x.tmp123"), text)
				r.must(os.Rename(beside("a.x.tmp123"), path))
			},
			"temp elsewhere and rename": func(text string) {
				put(r.dir+".temp", text)
				r.must(os.Rename(r.dir+".temp", path))
			},
			"removed and made": func(text string) {
				r.must(os.Remove(path))
				put(path, text)
			},
			"vim": func(text string) {
				put(beside("4913"), "")
				r.must(os.Remove(beside("4913")))
				put(beside(".a.x.swp"), "swap")
				r.must(os.Rename(path, beside("a.x~")))
				put(path, text)
				r.must(os.Remove(beside("a.x~")))
				r.must(os.Remove(beside(".a.x.swp")))
			},
			"vim with backupcopy": func(text string) {
				put(beside("a.x~"), r.read("sub/a.x"))
				put(path, text)
				r.must(os.Remove(beside("a.x~")))
			},
			"emacs": func(text string) {
				r.must(os.Symlink("user@host.123:456", beside(".#a.x")))
				r.must(os.Rename(path, beside("a.x~")))
				put(path, text)
				r.must(os.Remove(beside(".#a.x")))
			},
			"safe write": func(text string) {
				put(beside("a.x___jb_tmp___"), text)
				r.must(os.Rename(path, beside("a.x___jb_old___")))
				r.must(os.Rename(beside("a.x___jb_tmp___"), path))
				r.must(os.Remove(beside("a.x___jb_old___")))
			},
			"exchange": func(text string) {
				put(beside("slot"), text)
				r.must(unix.Renameat2(unix.AT_FDCWD, path, unix.AT_FDCWD, beside("slot"), unix.RENAME_EXCHANGE))
				r.must(os.Remove(beside("slot")))
			},
			"hard link": func(text string) {
				put(beside("new"), text)
				r.must(os.Remove(path))
				r.must(os.Link(beside("new"), path))
				r.must(os.Remove(beside("new")))
			},
			"unnamed file": func(text string) {
				fd, err := unix.Open(filepath.Dir(path), unix.O_TMPFILE|unix.O_WRONLY, 0o644)
				r.must(err)
				_, err = unix.Write(fd, []byte(text))
				r.must(err)
				r.must(os.Remove(path))
				r.must(unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW))
				r.must(unix.Close(fd))
			},
			"rights only": func(string) { r.must(os.Chmod(path, 0o600)) },
		}
		for style, save := range styles {
			for i := range 3 {
				before, at := r.read("sub/a.x"), r.barrier()
				text := fmt.Sprintf("%s %d", style, i)
				save(text)
				r.barrier()
				want := []string{"changed sub/a.x"}
				if style == "rights only" {
					text, want = before, nil
				}
				r.want(style, want, r.entries(at))
				r.want(style, text, r.read("sub/a.x"))
			}
		}
	})
}
