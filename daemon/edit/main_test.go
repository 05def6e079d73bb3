package edit

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/lspclient/change"
)

// helperEnv makes the test binary do one thing with a workspace and end: it is
// what the sweeps kill.
const helperEnv = "AURA_EDIT_HELPER"

func init() {
	if os.Getenv(helperEnv) != "" {
		// All system calls from the process's first thread: strace counts the
		// calls of each thread by itself.
		runtime.LockOSThread()
	}
}

func TestMain(m *testing.M) {
	if args := os.Getenv(helperEnv); args != "" {
		if err := helper(strings.Split(args, "\x1f")); err != nil {
			fmt.Println("ERROR", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// helper runs "what root state n token".
func helper(args []string) error {
	what, root, state, token := args[0], args[1], args[2], args[4]
	n, err := strconv.Atoi(args[3])
	if err != nil {
		return err
	}
	e, err := Open(Options{State: state})
	if err != nil {
		return err
	}
	ctx := context.Background()
	switch what {
	case "recover":
		err = e.Recover(ctx, root)
	case "apply":
		if token, err = transact(e, root, diskChanges(root, n)); err == nil {
			fmt.Println("ACK", token)
		}
	case "abort":
		var tx *Tx
		if tx, err = e.Begin(ctx, Plan{Root: root, Files: diskChanges(root, n)}); err == nil {
			if err = tx.Apply(ctx); err == nil {
				err = tx.Abort(ctx)
			}
		}
	case "undo":
		var res Result
		if res, err = e.Undo(ctx, root, token, UndoOptions{}); err == nil {
			fmt.Println("ACK", res.RedoToken)
		}
	case "churn":
		return churn(e, root, n)
	case "big":
		err = big(e, root, n)
	}
	if err != nil {
		return err
	}
	return e.Close(ctx)
}

// churn gives all files the next version again and again and says when each
// was acknowledged, until it is killed; now and then it undoes and redoes.
func churn(e *Engine, root string, n int) error {
	ctx := context.Background()
	out := bufio.NewWriter(os.Stdout)
	say := func(format string, args ...any) error {
		fmt.Fprintf(out, format+"\n", args...)
		return out.Flush()
	}
	first, err := os.ReadFile(diskFile0(root, 0))
	if err != nil {
		return err
	}
	version, err := strconv.Atoi(strings.TrimPrefix(strings.SplitN(string(first), "\n", 2)[0], "version "))
	if err != nil {
		return err
	}
	if err := say("READY"); err != nil {
		return err
	}
	for ; ; version++ {
		var files []change.File
		for i := range n {
			files = append(files, change.File{
				Kind: change.Edit, Path: diskFile0(root, i), Before: versionOf(version), After: versionOf(version + 1),
			})
		}
		token, err := transact(e, root, files)
		if err != nil {
			return err
		}
		if err := say("ACK %d", version+1); err != nil {
			return err
		}
		if version%3 != 0 {
			continue
		}
		for _, after := range []int{version, version + 1} {
			res, err := e.Undo(ctx, root, token, UndoOptions{})
			if err != nil {
				return err
			}
			token = res.RedoToken
			if err := say("ACK %d", after); err != nil {
				return err
			}
		}
	}
}

func bigContent(i int) []byte { return fmt.Appendf(nil, "file %d\n%s", i, strings.Repeat("x", 1000)) }

// big renames n files and cancels in the middle of Apply.
func big(e *Engine, root string, n int) error {
	var files []change.File
	for i := range n {
		before := bigContent(i)
		files = append(files, change.File{
			Kind: change.Rename, Path: filepath.Join(root, fmt.Sprint("d", i%100), fmt.Sprint(i)),
			NewPath: filepath.Join(root, fmt.Sprint("d", i%100), fmt.Sprint("new", i)), Before: before, After: before,
		})
	}
	tx, err := e.Begin(context.Background(), Plan{Root: root, Files: files})
	if err != nil {
		return err
	}
	ctx := &cancelAfter{Context: context.Background()}
	ctx.left.Store(int64(n + n/2))
	if err := tx.Apply(ctx); api.CodeOf(err) != api.Cancelled {
		return fmt.Errorf("not cancelled: %v", err)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			fmt.Println("VmHWM", strings.Fields(rest)[0])
		}
	}
	return nil
}

func versionOf(v int) []byte { return fmt.Appendf(nil, "version %d\nsome text\n", v) }

// diskWorld makes a repository of n files on the real disk and returns its
// root and a state folder.
func diskWorld(t testing.TB, n int) (root, state string) {
	t.Helper()
	dir := t.TempDir()
	root, state = filepath.Join(dir, "repo"), filepath.Join(dir, "state")
	for i := range n {
		p := diskFile0(root, i)
		must(t, os.MkdirAll(filepath.Dir(p), 0o755))
		mode := os.FileMode(0o644)
		if i%2 == 1 {
			mode = 0o750
		}
		must(t, os.WriteFile(p, fmt.Appendf(nil, "file %d\n%s", i, strings.Repeat("old text\n", i)), mode))
		must(t, os.Chmod(p, mode))
	}
	must(t, os.MkdirAll(filepath.Join(root, ".git"), 0o755))
	return root, state
}

func diskFile0(root string, i int) string {
	return filepath.Join(root, fmt.Sprintf("pkg%d", i%3), fmt.Sprintf("f%02d.txt", i))
}

// diskChanges is simChanges on the real disk.
func diskChanges(root string, n int) []change.File {
	var files []change.File
	for i := range n {
		p := diskFile0(root, i)
		before, err := os.ReadFile(p)
		if err != nil {
			continue
		}
		f := change.File{Kind: change.Edit, Path: p, Before: before, After: append([]byte("NEW\n"), before...)}
		switch {
		case n >= 3 && i == 1:
			f.Kind, f.NewPath = change.Rename, filepath.Join(root, "new/deep/renamed.txt")
		case n >= 3 && i == 2:
			f.Kind, f.After = change.Delete, nil
		}
		files = append(files, f)
	}
	if n >= 3 {
		files = append(files, change.File{Kind: change.Create, Path: filepath.Join(root, "new/made.txt"), After: []byte("made\n")})
	}
	return files
}

// diskTree is simDisk.tree for the real disk.
func diskTree(t testing.TB, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	must(t, filepath.WalkDir(root, func(p string, entry os.DirEntry, err error) error {
		if err != nil || p == root {
			return err
		}
		rel := filepath.ToSlash(strings.TrimPrefix(p, root+"/"))
		if rel == stagingGit || rel == stagingFallback {
			return filepath.SkipDir
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		switch {
		case entry.IsDir():
			out[rel+"/"] = "folder"
		case entry.Type().IsRegular():
			content, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			out[rel] = fmt.Sprintf("%04o %s", info.Mode().Perm(), content)
		default:
			target, _ := os.Readlink(p)
			out[rel] = "link " + target
		}
		return nil
	}))
	return out
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
