package daemon

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/auralsp/aura/graph/watch"
)

func TestNearestRoot(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{
		"mod", // of the home folder itself: never taken
		"a/mod", "a/sub/deep/x",
		"whole/work", "whole/part/mod", "whole/part/sub/x",
		"repo/.git/x", "repo/docs/x", "repo/ignored/lib/mod", "repo/ignored/lib/in/x",
		"outer/work", "outer/repo/.git/x", "outer/repo/mod", "outer/repo/in/x",
		"plain/sub/x",
		"sharp/web/mod", "sharp/web/in/x", "sharp/App.sln", "sharp/app/App.csproj", "sharp/app/src/x", "odd[ab]/App.sln", "odd[ab]/in/x", "folder/is.sln/x", "folder/in/x",
	} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	find := nearestRoot([][]string{{"work", "mod"}, {"package"}, {"*.sln", "*.csproj"}}, home)
	tests := []struct{ folder, want string }{
		{"a", "a"},
		{"a/sub/deep", "a"},
		{"whole/part/sub", "whole"},
		{"repo/docs", "repo"},
		{"repo/ignored/lib/in", "repo/ignored/lib"},
		{"outer/repo/in", "outer/repo"},
		{"plain/sub", "plain/sub"},
		{"sharp/app/src", "sharp"},
		{"odd[ab]/in", "odd[ab]"},
		{"folder/in", "folder/in"},
		{"sharp/web/in", "sharp/web"}, // the first marker of another language is no whole of this one
		{"missing/folder", "missing/folder"},
		{".", "."},
	}
	bare := t.TempDir()
	for _, folder := range []string{bare, "/"} {
		if _, err := os.Lstat("/.git"); err == nil {
			continue // somebody keeps the whole machine in a repository
		}
		if got, err := nearestRoot(nil, bare)(context.Background(), folder); got != "" || err != nil {
			t.Errorf("%s: got %q, %v", folder, got, err)
		}
	}
	for _, tt := range tests {
		got, err := find(context.Background(), filepath.Join(home, tt.folder))
		if err != nil || got != filepath.Join(home, tt.want) {
			t.Errorf("%s: got %s, %v, want %s", tt.folder, got, err, tt.want)
		}
	}
}

// TestNearestRootStaysBelowPublicFolders: what a stranger put into a folder that
// everybody may write to decides nothing.
func TestNearestRootStaysBelowPublicFolders(t *testing.T) {
	public := filepath.Join(t.TempDir(), "public")
	for _, name := range []string{"work", "whole/work", "whole/mine/mod", "mine/mod", "plain/x"} {
		path := filepath.Join(public, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(public, 0o777); err != nil {
		t.Fatal(err)
	}
	find := nearestRoot([][]string{{"work", "mod"}}, "/nowhere")
	for folder, want := range map[string]string{"mine": "mine", "whole/mine": "whole", "plain": "plain", ".": "."} {
		if got, err := find(context.Background(), filepath.Join(public, folder)); err != nil || got != filepath.Join(public, want) {
			t.Errorf("%s: got %s, %v, want %s", folder, got, err, want)
		}
	}
}

func TestListingsAreThoseOfTheFolderAsItIs(t *testing.T) {
	dir := t.TempDir()
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(dir, past, past); err != nil {
		t.Fatal(err)
	}
	stamp, err := watch.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	l := listings{patterns: []string{"*.sln", "*.csproj"}, seen: map[string]listing{dir: {stamp, []string{"remembered"}}}}
	if got := l.matches(dir); !slices.Equal(got, []string{"remembered"}) {
		t.Errorf("a folder that is as it was: %q, want what is remembered", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "App.sln"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := l.matches(dir); !slices.Equal(got, []string{"*.sln"}) {
		t.Errorf("after a file was made: %q, want *.sln", got)
	}
	if _, ok := l.seen[dir]; l.seen[dir].stamp != stamp && ok {
		t.Error("a folder that was changed just now is remembered: its stamp may not show the next change")
	}
}
