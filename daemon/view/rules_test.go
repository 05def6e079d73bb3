package view_test

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/auralsp/aura/daemon/view"
)

func (r *rig) listed() []string {
	r.t.Helper()
	return r.rels(r.v.Snapshot(r.barrier()).Glob(ctx, "**/*.x"))
}

// A folder is entered as soon as it is made, before the file that says what it is.
func TestF15_FolderThatTurnsOutToBeACache(t *testing.T) {
	forms(t, map[string]string{"a.x": "", "lib/a.x": ""}, func(r *rig) {
		for name, mark := range map[string]string{"env": "pyvenv.cfg", "lib/out": "CACHEDIR.TAG", "lib/vendor": "modules.txt"} {
			r.write(name+"/deep/b.x", "")
			r.want("before "+mark, slices.Sorted(slices.Values([]string{"a.x", "lib/a.x", name + "/deep/b.x"})), r.listed())
			r.write(name+"/"+mark, "")
			r.want("with "+mark, []string{"a.x", "lib/a.x"}, r.listed())
			r.write(name+"/deep/c.x", "")
			r.want("with "+mark, []string{"a.x", "lib/a.x"}, r.listed())
		}
		// Vendored files are followed, as compilers read them; the others are not.
		if got := r.v.Watching().Dirs; got != 4 {
			t.Errorf("%d folders are followed, want the root, lib, lib/vendor and lib/vendor/deep", got)
		}
	})
}

// F15: what is ignored costs no watch, however much it is, and gives back those
// that it had when it is ignored from now on.
func TestF15_IgnoredFoldersCostNoWatches(t *testing.T) {
	r := open(t, map[string]string{"a.x": "", "lib/.gitignore": "gen/\n"}, view.Options{})
	before := kernelObjects(t)
	for i := range 500 {
		for _, dir := range []string{"node_modules", "lib/gen", "lib/deep/__pycache__"} {
			r.must(os.MkdirAll(r.path(fmt.Sprintf("%s/p%d", dir, i)), 0o755))
		}
	}
	r.want("files", []string{"a.x"}, r.listed())
	if after := kernelObjects(t); after != before+1 {
		t.Errorf("%d watches and files are open for ignored folders, want one for lib/deep", after-before)
	}
	r.must(os.Remove(r.path("lib/.gitignore")))
	r.listed()
	if after := kernelObjects(t); after != before+2+500 {
		t.Errorf("%d watches and files are open for folders that are no longer ignored", after-before)
	}
	r.write(".gitignore", "/lib\n")
	r.listed()
	if after := kernelObjects(t); after != before-1 {
		t.Errorf("%d more watches and files are open after lib was ignored, want those of lib given back", after-before)
	}
}

// What is above the root, and in git's own folder, is not followed; it counts all the same.
func TestF15_RulesThatChangeOutsideTheRoot(t *testing.T) {
	forms(t, map[string]string{"../.git/info/exclude": "", "a.x": "", "b.x": "", "c.x": "", "d/a.x": ""}, func(r *rig) {
		r.want("at first", []string{"a.x", "b.x", "c.x", "d/a.x"}, r.listed())
		r.write("../.gitignore", "a.x\n")
		r.want("after the first .gitignore", []string{"b.x", "c.x"}, r.listed())
		r.write("../.gitignore", "/tree/a.x\n")
		r.want("after its change", []string{"b.x", "c.x", "d/a.x"}, r.listed())
		r.write("../.git/info/exclude", "b.x\n")
		r.want("after a change of info/exclude", []string{"c.x", "d/a.x"}, r.listed())
	})
}

func TestF15_RepositoryThatIsMadeLater(t *testing.T) {
	forms(t, map[string]string{"a.x": "", "b.x": ""}, func(r *rig) {
		r.want("at first", []string{"a.x", "b.x"}, r.listed())
		r.write(".git/info/exclude", "b.x\n")
		r.want("in a repository", []string{"a.x"}, r.listed())
	})
}

func TestF16_WorkTreesShareWhatTheirRepositoryExcludes(t *testing.T) {
	forms(t, map[string]string{
		".git": "gitdir: ../main/.git/worktrees/tree\n", "a.x": "", "b.x": "",
		"../main/.git/worktrees/tree/commondir": "../..\n", "../main/.git/info/exclude": "b.x\n",
	}, func(r *rig) {
		r.want("files", []string{"a.x"}, r.listed())
	})
}
