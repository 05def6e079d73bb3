package view_test

import (
	"errors"
	"os"
	"testing"

	"github.com/auralsp/aura/daemon/view"
)

// doc describes the current text of a file.
func (r *rig) doc(name string) string {
	r.t.Helper()
	d, err := r.v.Read(ctx, r.path(name))
	if err != nil {
		return "error"
	}
	s := string(d.Content)
	if d.Owner != "" {
		s += " of " + d.Owner
	}
	if d.Dirty {
		s += ", dirty"
	}
	return s
}

func TestL23_OneOwnerForEachDocument(t *testing.T) {
	r := open(t, map[string]string{"a": "disk"}, view.Options{})
	a := r.path("a")
	r.must(r.v.OpenBuffer("vim", a, 1, []byte("disk")))
	r.want("opened as it is", "disk of vim", r.doc("a"))
	var owned *view.OwnedError
	if err := r.v.OpenBuffer("code", a, 1, []byte("other")); !errors.As(err, &owned) || owned.Owner != "vim" || !errors.Is(err, view.ErrOwned) {
		t.Errorf("a second client with other text: %v", err)
	}
	r.must(r.v.OpenBuffer("code", a, 1, []byte("disk")))
	if err := r.v.ChangeBuffer("code", a, 2, []byte("code's")); !errors.Is(err, view.ErrOwned) {
		t.Errorf("a change by who does not own it: %v", err)
	}
	r.must(r.v.ChangeBuffer("vim", a, 2, []byte("vim's")))
	r.want("changed", "vim's of vim, dirty", r.doc("a"))
	r.must(r.v.ChangeBuffer("code", a, 2, []byte("vim's"))) // it follows
	r.must(r.v.CloseBuffer("vim", a))
	r.want("handed over", "vim's of code, dirty", r.doc("a"))
	r.must(r.v.CloseBuffer("code", a))
	r.want("closed", "disk", r.doc("a"))
	r.want("entries", []string{"changed a by vim", "changed a by vim", "changed a by code", "changed a"}, r.entries(0))
	if err := r.v.CloseBuffer("code", a); !errors.Is(err, view.ErrNotOpen) {
		t.Errorf("closed twice: %v", err)
	}
	if err := r.v.ChangeBuffer("code", a, 9, nil); !errors.Is(err, view.ErrNotOpen) {
		t.Errorf("changed when closed: %v", err)
	}
}

func TestL10_DocumentVersionsRise(t *testing.T) {
	r := open(t, map[string]string{"a": "disk"}, view.Options{})
	a := r.path("a")
	r.must(r.v.OpenBuffer("vim", a, 3, []byte("3")))
	for _, version := range []int{3, 2, -1} {
		if err := r.v.ChangeBuffer("vim", a, version, []byte("old")); !errors.Is(err, view.ErrVersion) {
			t.Errorf("version %d after 3: %v", version, err)
		}
	}
	r.must(r.v.ChangeBuffer("vim", a, 7, []byte("7")))
	r.want("text", "7 of vim, dirty", r.doc("a"))
}

func TestL22_ClientThatDiesLosesItsBuffers(t *testing.T) {
	r := open(t, map[string]string{"a": "disk", "b": "disk"}, view.Options{})
	r.must(r.v.OpenBuffer("vim", r.path("a"), 1, []byte("x")))
	r.must(r.v.OpenBuffer("vim", r.path("b"), 1, []byte("disk")))
	r.must(r.v.OpenBuffer("code", r.path("b"), 1, []byte("disk")))
	r.must(r.v.OpenBuffer("vim", r.path("new"), 1, []byte("x")))
	r.v.CloseClient("vim")
	r.want("a", "disk", r.doc("a"))
	r.want("b", "disk of code", r.doc("b"))
	r.want("new", "error", r.doc("new"))
	r.want("buffers", 1, len(r.v.Buffers()))
}

func TestBufferOverAFileThatChangesOnDisk(t *testing.T) {
	r := open(t, map[string]string{"a": "1"}, view.Options{})
	a := r.path("a")
	r.must(r.v.OpenBuffer("vim", a, 1, []byte("1")))
	at := r.barrier()
	r.write("a", "2")
	r.barrier()
	r.want("the text is the buffer's", "1 of vim, dirty", r.doc("a"))
	r.want("entries", []string(nil), r.entries(at))
	r.must(r.v.ChangeBuffer("vim", a, 2, []byte("2"))) // reloaded
	r.want("reloaded", "2 of vim", r.doc("a"))
	r.write("a", "3")
	r.must(r.v.CloseBuffer("vim", a))
	r.want("closed", "3", r.doc("a"))
	r.barrier()
	r.want("entries", []string{"changed a by vim", "changed a"}, r.entries(at))
}

func TestBufferOfAFileThatIsNotThere(t *testing.T) {
	r := open(t, map[string]string{"a": "1"}, view.Options{})
	n := r.path("n")
	r.must(r.v.OpenBuffer("vim", n, 1, []byte("word")))
	s := r.v.Snapshot(r.barrier())
	r.want("files", []string{"a", "n"}, r.rels(s.Files(ctx)))
	r.want("grep", []string{"n"}, r.rels(s.Grep(ctx, "word")))
	r.must(os.WriteFile(n, []byte("word"), 0o644)) // saved
	r.barrier()
	r.want("saved", "word of vim", r.doc("n"))
	r.must(r.v.CloseBuffer("vim", n))
	r.barrier()
	r.want("entries", []string{"created n by vim", "changed n"}, r.entries(0))
	r.must(os.Remove(n))
	r.barrier()
	r.want("files", []string{"a"}, r.rels(r.v.Snapshot(r.v.Seq()).Files(ctx)))
}

func TestBufferRefusals(t *testing.T) {
	r := open(t, map[string]string{"a": "1"}, view.Options{MaxFile: 10})
	for path, want := range map[string]error{
		"a": view.ErrPath, r.dir + "-evil/a": view.ErrOutside, "/etc/passwd": view.ErrOutside, r.dir: view.ErrOutside,
	} {
		if err := r.v.OpenBuffer("vim", path, 1, nil); !errors.Is(err, want) {
			t.Errorf("OpenBuffer %s: %v, want %v", path, err, want)
		}
	}
	if err := r.v.OpenBuffer("vim", r.path("a"), 1, make([]byte, 11)); !errors.Is(err, view.ErrTooLarge) {
		t.Errorf("a large buffer: %v", err)
	}
	r.want("entries", []string(nil), r.entries(0))
}
