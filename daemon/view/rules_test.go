package view_test

import (
	"slices"
	"testing"
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
