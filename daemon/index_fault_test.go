package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/auralsp/aura/adapters/registry"
	"github.com/auralsp/aura/daemon/view"
	"github.com/auralsp/aura/daemon/workbench"
	"github.com/auralsp/aura/graph/watch"
)

// paths returns the files that declare a name, relative to the workspace.
func paths(t *testing.T, ws *workbench.Workspace, name string) []string {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	s, err := ws.Begin(ctx, workbench.Caller{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	found, err := s.Reader().ByName(ctx, name)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, f := range found {
		out = append(out, s.Relative(f.Path))
	}
	return out
}

func wantPaths(t *testing.T, ws *workbench.Workspace, name string, want ...string) {
	t.Helper()
	if got := paths(t, ws, name); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s is declared in %q, want %q", name, got, want)
	}
}

// sound compares the index with a new reading of every file.
func sound(t *testing.T, ws *workbench.Workspace) {
	t.Helper()
	if found, err := begin(t, ws, workbench.Caller{}).VerifyIndex(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("%v, %v", found, err)
	}
}

func function(name string) string { return "package p\n\nfunc " + name + "() {}\n" }

// F09: what is no regular file is neither opened nor waited for.
func TestF09TheIndexReadsNothingButFiles(t *testing.T) {
	ws := openTree(t, map[string]string{"a.go": function("Here")})
	in := func(name string) string { return filepath.Join(ws.Root(), name) }
	socket, err := net.Listen("unix", in("socket.go"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = socket.Close() }()
	if err := errors.Join(
		syscall.Mkfifo(in("pipe.go"), 0o644), os.Symlink("loop.go", in("loop.go")), os.Symlink(".", in("around")),
		os.Symlink("/dev/zero", in("endless.go")), os.Symlink("a.go", in("same.go")), os.Mkdir(in("folder.go"), 0o755),
	); err != nil {
		t.Fatal(err)
	}
	put(t, in("folder.go/b.go"), function("Here"))
	wantPaths(t, ws, "Here", "a.go", "folder.go/b.go")
	if err := errors.Join(os.Remove(in("a.go")), syscall.Mkfifo(in("a.go"), 0o644)); err != nil {
		t.Fatal(err)
	}
	wantPaths(t, ws, "Here", "folder.go/b.go")
	sound(t, ws)
}

// F10: a file that is too large is left out until it is not; one of a single
// line is read like others.
func TestF10LargeAndMinifiedFiles(t *testing.T) {
	ws := openTree(t, map[string]string{
		"large.go": function("Large") + strings.Repeat("// filling\n", 5<<20),
		"min.js":   "function small(){" + strings.Repeat("a=b+c;", 2_000) + "}function last(){}",
		"a.go":     function("Here"),
	})
	wantPaths(t, ws, "Here", "a.go")
	wantPaths(t, ws, "Large")
	wantPaths(t, ws, "last", "min.js")
	put(t, filepath.Join(ws.Root(), "large.go"), function("Large"))
	wantPaths(t, ws, "Large", "large.go")
	sound(t, ws)
}

// F11: what is no UTF-8 is read as far as it goes and spoils nothing else.
func TestF11OtherEncodings(t *testing.T) {
	utf16 := []byte{0xff, 0xfe}
	for _, c := range function("Wide") {
		utf16 = append(utf16, byte(c), 0)
	}
	ws := openTree(t, map[string]string{
		"latin.py": "# caf\xe9\ndef one():\n    return '\xff\xfe'\n", "nul.py": "def two():\n    pass\n\x00\x00\n", "utf16.go": string(utf16),
		"sjis.cs": "class Four { /* \x93\xfa\x96\x7b */ }\n", "broken.go": "package p\n\nfunc Five() {}\n\nfunc \xc3( {\n", "bom.ts": "\ufeffexport function six() {}\n",
		"a.go": function("Here"),
	})
	for name, file := range map[string]string{"Here": "a.go", "one": "latin.py", "two": "nul.py", "Four": "sjis.cs", "Five": "broken.go", "six": "bom.ts"} {
		wantPaths(t, ws, name, file)
	}
	sound(t, ws)
}

// F12: a file is cut off and written again and again while it is indexed. In the
// end the index has what is there.
func TestF12FilesThatAreCutOffWhileTheyAreRead(t *testing.T) {
	ws := openTree(t, map[string]string{"a.go": function("Here")})
	path := filepath.Join(ws.Root(), "cut.go")
	whole := []byte(function("Whole") + string(bytes.Repeat([]byte("// filling\n"), 20_000)))
	done := make(chan error, 1)
	go func() {
		for n := range 150 {
			if err := os.WriteFile(path, whole[:len(whole)-n*997%len(whole)], 0o644); err != nil {
				done <- err
				return
			}
			if err := os.Truncate(path, int64(n%40)); err != nil {
				done <- err
				return
			}
		}
		done <- os.WriteFile(path, whole, 0o644)
	}()
	for writing := true; writing; {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			writing = false
		default:
		}
		wantPaths(t, ws, "Here", "a.go")
	}
	wantPaths(t, ws, "Whole", "cut.go")
	sound(t, ws)
}

// F18: a thousand folders within each other are walked without recursion.
func TestF18NestedFolders(t *testing.T) {
	deep := strings.Repeat("d/", 1000) + "a.go"
	ws := openTree(t, map[string]string{"a.go": function("Here"), deep: function("Deep")})
	wantPaths(t, ws, "Deep", deep)
	put(t, filepath.Join(ws.Root(), deep), function("Deeper"))
	wantPaths(t, ws, "Deep")
	wantPaths(t, ws, "Deeper", deep)
}

// F15: vendored and ignored files are left out, generated ones are not.
func TestF15GeneratedAndVendoredFiles(t *testing.T) {
	ws := openTree(t, map[string]string{
		"go.mod": "module example.com/m\n", "vendor/modules.txt": "", "vendor/x/x.go": function("Vendored"), "node_modules/y/y.js": "function vendored() {}\n",
		"made.go": "// Code generated by a program. DO NOT EDIT.\n\n" + function("Generated"), ".gitignore": "out/\n", "out/z.go": function("Ignored"),
	})
	wantPaths(t, ws, "Generated", "made.go")
	for _, name := range []string{"Vendored", "vendored", "Ignored"} {
		wantPaths(t, ws, name)
	}
	put(t, filepath.Join(ws.Root(), ".gitignore"), "made.go\n")
	wantPaths(t, ws, "Ignored", "out/z.go")
	wantPaths(t, ws, "Generated")
}

// F15: a file that is deleted, and is there again when it is ignored by then,
// is left out, though nobody asked in between.
func TestF15AFileThatComesBackIgnored(t *testing.T) {
	ws := openTree(t, map[string]string{"a.go": function("Here"), "b.go": function("There")})
	wantPaths(t, ws, "Here", "a.go")
	noticed := func() {
		t.Helper()
		if _, err := ws.View().Barrier(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(ws.Root(), "a.go")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	noticed()
	put(t, filepath.Join(ws.Root(), ".gitignore"), "a.go\n")
	noticed()
	put(t, path, function("Here"))
	noticed()
	wantPaths(t, ws, "Here")
	wantPaths(t, ws, "There", "b.go")
	sound(t, ws)
}

// saved are the options of a workspace with an index that outlives it.
func saved(t *testing.T, root string) func() *workbench.Workspace {
	t.Helper()
	watcher, err := watch.Start(t.Context(), watch.Options{CookieDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := watcher.Close(); err != nil {
			t.Error(err)
		}
	})
	o := workbench.Options{Root: root, Watcher: watcher, Languages: registry.Languages(), Cache: t.TempDir()}
	return func() *workbench.Workspace {
		t.Helper()
		ws, err := workbench.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return ws
	}
}

// F06: neither a clock that was set nor a file time that was set back hides a
// change from an index that was saved before.
func TestF06TheClockIsSetWhileNobodyLooks(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "a.go")
	open := saved(t, root)
	for _, at := range []time.Time{time.Now().Add(-time.Hour), time.Unix(0, 0), time.Now().Add(48 * time.Hour)} {
		put(t, path, function("One"))
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		ws := open()
		wantPaths(t, ws, "One", "a.go")
		if err := ws.Close(); err != nil {
			t.Fatal(err)
		}
		file, err := os.OpenFile(path, os.O_WRONLY, 0) // the same inode and size
		if err != nil {
			t.Fatal(err)
		}
		_, err = file.WriteString(function("Two"))
		if err := errors.Join(err, file.Close(), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
		ws = open()
		wantPaths(t, ws, "One")
		wantPaths(t, ws, "Two", "a.go")
		sound(t, ws)
		if err := ws.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// F04: while the folder of a workspace is away nothing is answered; what it
// holds when it is back is.
func TestF04TheFolderIsMovedAwayAndBack(t *testing.T) {
	root := filepath.Join(t.TempDir(), "w")
	put(t, filepath.Join(root, "a.go"), function("Here"))
	ws := saved(t, root)()
	defer func() {
		if err := ws.Close(); err != nil {
			t.Error(err)
		}
	}()
	wantPaths(t, ws, "Here", "a.go")
	for n := range 3 {
		if err := os.Rename(root, root+".away"); err != nil {
			t.Fatal(err)
		}
		if _, err := ws.Begin(t.Context(), workbench.Caller{}); !errors.Is(err, view.ErrRootGone) {
			t.Errorf("the folder is gone: %v", err)
		}
		name := fmt.Sprint("Back", n)
		put(t, filepath.Join(root+".away", "b.go"), function(name))
		if err := os.Rename(root+".away", root); err != nil {
			t.Fatal(err)
		}
		wantPaths(t, ws, "Here", "a.go")
		wantPaths(t, ws, name, "b.go")
	}
	sound(t, ws)
}

// An index that is up to date costs nothing while nothing changes.
func TestNothingIsDoneWhileNothingChanges(t *testing.T) {
	tree := map[string]string{}
	for i := range 500 {
		tree[fmt.Sprintf("d%d/f%d.go", i%20, i)] = function(fmt.Sprint("F", i))
	}
	ws := openTree(t, tree)
	wantPaths(t, ws, "F7", "d7/f7.go")
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			t.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	least := time.Hour // another test may be cleaning up, and the collector at work
	for range 5 {
		before := used()
		<-time.After(time.Second)
		least = min(least, used()-before)
	}
	if least > 10*time.Millisecond {
		t.Errorf("%s of processor time in a second in which nothing changed", least)
	}
}
