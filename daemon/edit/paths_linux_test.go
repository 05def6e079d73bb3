package edit

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/lspclient/change"
)

func TestE11_SymbolicLinks(t *testing.T) {
	b := newBed(t, map[string]string{"real/a.txt": "a\n", "top.txt": "t\n"})
	outsideFile := filepath.Join(filepath.Dir(b.root), "outside.txt")
	must(t, os.WriteFile(outsideFile, []byte("secret\n"), 0o644))
	links := map[string]string{
		"relative.txt":  "real/a.txt",
		"absolute.txt":  b.path("real/a.txt"),
		"folder":        "real",
		"up/back.txt":   "../real/a.txt",
		"chain.txt":     "relative.txt",
		"out.txt":       "../outside.txt",
		"outabs.txt":    outsideFile,
		"outdir":        "..",
		"loop1":         "loop2",
		"loop2":         "loop1",
		"dangling.txt":  "../not-there.txt",
		"dangling2.txt": "nowhere/not-there.txt",
	}
	must(t, os.Mkdir(b.path("up"), 0o755))
	for name, target := range links {
		must(t, os.Symlink(target, b.path(name)))
	}
	old := b.tree()
	for _, through := range []string{"relative.txt", "absolute.txt", "folder/a.txt", "up/back.txt", "chain.txt"} {
		t.Run(through, func(t *testing.T) {
			b.t = t
			token := b.mustApply(change.File{Kind: change.Edit, Path: b.path(through), Before: []byte("a\n"), After: []byte("A\n")})
			want := b.tree()
			if want["real/a.txt"] != "0644 A\n" {
				t.Errorf("the real file is %q", want["real/a.txt"])
			}
			for name, target := range links {
				if got, err := os.Readlink(b.path(name)); err != nil || got != target {
					t.Errorf("link %s leads to %q, %v", name, got, err)
				}
			}
			res, err := b.undo(token)
			must(t, err)
			if f := res.Files[0]; f.Path != b.path(through) || string(f.Before) != "A\n" || string(f.After) != "a\n" {
				t.Errorf("the undo reports %+v", f)
			}
			b.same(old)
		})
	}
	b.t = t
	for _, out := range []string{"out.txt", "outabs.txt", "outdir/outside.txt", "dangling.txt"} {
		_, err := b.begin(b.edit("top.txt", "T\n"),
			change.File{Kind: change.Edit, Path: b.path(out), Before: []byte("secret\n"), After: []byte("stolen\n")})
		b.refused(err, api.OutsideWorkspace, old)
	}
	_, err := b.begin(change.File{Kind: change.Create, Path: b.path("dangling.txt"), After: []byte("x\n")})
	b.refused(err, api.OutsideWorkspace, old)
	_, err = b.begin(change.File{Kind: change.Edit, Path: b.path("loop1"), Before: []byte("a\n"), After: []byte("b\n")})
	b.refused(err, api.StaleContent, old, "loop1")
	for _, kind := range []change.Kind{change.Delete, change.Rename} {
		_, err = b.begin(change.File{
			Kind: kind, Path: b.path("relative.txt"), NewPath: b.path("moved.txt"), Before: []byte("a\n"), After: []byte("a\n"),
		})
		b.refused(err, api.UnsupportedOperation, old, "symbolic link", "real/a.txt")
	}
	if got, _ := os.ReadFile(outsideFile); string(got) != "secret\n" {
		t.Errorf("the file outside holds %q", got)
	}
}

func TestM09_PathsOutsideAreRefused(t *testing.T) {
	b := newBed(t, map[string]string{"a.txt": "a\n"})
	twin := b.root + "-evil"
	must(t, os.Mkdir(twin, 0o755))
	must(t, os.WriteFile(filepath.Join(twin, "x.txt"), []byte("x\n"), 0o644))
	before := b.tree()
	for _, p := range []string{
		filepath.Join(twin, "x.txt"), b.root + "/../repo-evil/x.txt", "/etc/passwd", b.root, filepath.Dir(b.root), "relative.txt",
		b.root + "/\x00", b.root + "/a.txt/../../repo-evil/x.txt",
	} {
		for _, kind := range []change.Kind{change.Edit, change.Create, change.Delete} {
			_, err := b.begin(b.edit("a.txt", "A\n"), change.File{Kind: kind, Path: p, Before: []byte("x\n"), After: []byte("stolen\n")})
			b.refused(err, api.OutsideWorkspace, before)
		}
		_, err := b.begin(change.File{Kind: change.Rename, Path: b.path("a.txt"), NewPath: p, Before: []byte("a\n"), After: []byte("a\n")})
		b.refused(err, api.OutsideWorkspace, before)
	}
	if got, _ := os.ReadFile(filepath.Join(twin, "x.txt")); string(got) != "x\n" {
		t.Errorf("the twin's file holds %q", got)
	}
	_, err := b.begin(change.File{Kind: change.Create, Path: b.path(strings.Repeat("n", 256)), After: []byte("x\n")})
	b.refused(err, api.InvalidArgument, before)
}

func TestM11_NewFileBelowMissingFolders(t *testing.T) {
	b := newBed(t, map[string]string{"a.txt": "a\n"})
	outsideDir := filepath.Join(filepath.Dir(b.root), "outside")
	must(t, os.Mkdir(outsideDir, 0o755))
	must(t, os.Symlink(outsideDir, b.path("out")))
	must(t, os.Symlink(filepath.Join(outsideDir, "later"), b.path("dangling")))
	before := b.tree()
	for _, p := range []string{"out/x.txt", "out/deep/er/x.txt", "dangling/x.txt", "new/../../outside/x.txt"} {
		_, err := b.begin(change.File{Kind: change.Create, Path: b.root + "/" + p, After: []byte("x\n")})
		b.refused(err, api.OutsideWorkspace, before)
	}
	_, err := b.begin(change.File{Kind: change.Create, Path: b.path("a.txt/x.txt"), After: []byte("x\n")})
	b.refused(err, api.InvalidArgument, before, "a.txt is a file")
	if names, _ := os.ReadDir(outsideDir); len(names) != 0 {
		t.Errorf("outside has %v", names)
	}
	token := b.mustApply(change.File{Kind: change.Create, Path: b.path("very/deep/er/x.txt"), After: []byte("x\n")})
	_, err = b.undo(token)
	must(t, err)
	b.same(before)
}

// Devices, pipes and sockets are neither opened nor replaced.
func TestE11_OnlyRegularFiles(t *testing.T) {
	b := newBed(t, map[string]string{"a.txt": "a\n"})
	must(t, syscall.Mkfifo(b.path("pipe.txt"), 0o644))
	before := b.tree()
	done := make(chan error, 1)
	go func() {
		_, err := b.begin(change.File{Kind: change.Edit, Path: b.path("pipe.txt"), Before: []byte("a\n"), After: []byte("b\n")})
		done <- err
	}()
	select {
	case err := <-done:
		b.refused(err, api.UnsupportedOperation, before, "pipe.txt")
	case <-time.After(5 * time.Second):
		t.Fatal("a pipe blocks Begin")
	}
}

func TestE29_ControlFiles(t *testing.T) {
	for _, p := range []string{
		".git/config", ".git/hooks/pre-commit", "sub/.git/config", ".GIT/config", ".g\u200cit/config", ".git/aura/x", ".aura/x",
		".vscode/settings.json", ".vscode/tasks.json", ".cargo/config.toml", ".cargo/config", "go" + ".work", "x.code-workspace",
		".github/workflows/ci.yml", ".github/actions/a/action.yml", ".gitlab-ci.yml", ".circleci/config.yml", "Jenkinsfile",
		".husky/pre-commit", ".githooks/pre-push", ".pre-commit-config.yaml", "lefthook.yml", ".mcp.json", "sub/.mcp.json",
		".cursor/mcp.json", ".claude/settings.json", ".idea/workspace.xml", ".devcontainer/devcontainer.json", ".envrc",
		".aura.toml", "aura.toml", ".gitattributes", ".gitmodules", "azure-pipelines.yml",
	} {
		t.Run(p, func(t *testing.T) {
			b := newBed(t, map[string]string{"a.txt": "a\n"})
			before := b.tree()
			make := change.File{Kind: change.Create, Path: b.path(p), After: []byte("x\n")}
			_, err := b.begin(b.edit("a.txt", "A\n"), make)
			b.refused(err, api.PermissionDenied, before, "Aura does not write it")
			_, err = b.begin(change.File{Kind: change.Rename, Path: b.path("a.txt"), NewPath: b.path(p), Before: []byte("a\n"), After: []byte("a\n")})
			b.refused(err, api.PermissionDenied, before)
			tx, err := b.e.Begin(context.Background(), Plan{Root: b.root, Files: []change.File{make}, AllowControl: true})
			if strings.Contains(p, "aura/") {
				b.refused(err, api.PermissionDenied, before)
				return
			}
			must(t, err)
			must(t, tx.Abort(context.Background()))
		})
	}
	// A link is no way around it.
	b := newBed(t, map[string]string{".git/config": "[core]\n"})
	must(t, os.Symlink(".git/config", b.path("innocent.txt")))
	before := b.tree()
	_, err := b.begin(change.File{Kind: change.Edit, Path: b.path("innocent.txt"), Before: []byte("[core]\n"), After: []byte("x\n")})
	b.refused(err, api.PermissionDenied, before, ".git/config")
	for _, p := range []string{".github/README.md", "github/workflows/x.yml", "cargo/config.toml", "hooks/use.ts", "vscode/a.json", "work.txt", ".gitignore"} {
		if why := control(p); why != "" {
			t.Errorf("%s is taken for a control file: it %s", p, why)
		}
	}
}

func TestE28_GitAtWorkAndGeneratedFilesAreTold(t *testing.T) {
	b := newBed(t, map[string]string{
		"gen.txt": "// Code generated by x. DO NOT EDIT.\n", ".git/index.lock": "", ".git/rebase-merge/onto": "", ".git/MERGE_HEAD": "x\n",
	})
	tx, err := b.begin(b.edit("gen.txt", "edited\n"))
	must(t, err)
	all := strings.Join(tx.Warnings, "\n")
	for _, want := range []string{"gen.txt", "index.lock", "rebase", "merge"} {
		if !strings.Contains(all, want) {
			t.Errorf("no warning about %s in %q", want, all)
		}
	}
	must(t, tx.Abort(context.Background()))
}

// A workspace that does not exist, is no folder, or was replaced by another.
func TestRootThatMoves(t *testing.T) {
	b := newBed(t, map[string]string{"a.txt": "a\n"})
	token := b.mustApply(b.edit("a.txt", "A\n"))
	must(t, os.Rename(b.root, b.root+"-old"))
	_, err := b.begin(change.File{Kind: change.Edit, Path: b.path("a.txt"), Before: []byte("A\n"), After: []byte("x\n")})
	if api.CodeOf(err) != api.FileNotFound {
		t.Errorf("a root that is gone: %v", err)
	}
	must(t, os.MkdirAll(b.path(".git"), 0o755))
	b.write("a.txt", "another\n")
	if _, err := b.undo(token); api.CodeOf(err) != api.UndoNotFound {
		t.Errorf("undo in a folder that took the root's place: %v", err)
	}
	b.mustApply(b.edit("a.txt", "edited\n"))
	if got, _ := os.ReadFile(b.root + "-old/a.txt"); string(got) != "A\n" {
		t.Errorf("the moved root was written: %q", got)
	}
	if _, err := b.e.Begin(context.Background(), Plan{Root: "relative"}); api.CodeOf(err) != api.InvalidArgument {
		t.Errorf("a relative root: %v", err)
	}
	if _, err := b.e.Begin(context.Background(), Plan{Root: b.path("a.txt")}); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("a root that is a file: %v", err)
	}
}
