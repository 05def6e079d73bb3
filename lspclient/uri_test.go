package lspclient_test

import (
	"encoding/json"
	"errors"
	"path"
	"strings"
	"testing"
	"unicode/utf8"

	"go.lsp.dev/protocol"

	"github.com/auralsp/aura/lspclient"
)

func TestL20_URIs(t *testing.T) {
	cases := []struct{ uri, path string }{
		{"file:///a/b.x", "/a/b.x"},
		{"FILE:///a/b.x", "/a/b.x"},
		{"file:/a/b.x", "/a/b.x"},
		{"file://localhost/a/b.x", "/a/b.x"},
		{"file:///a/%C3%A9.x", "/a/é.x"},
		{"file:///a/é.x", "/a/é.x"},
		{"file:///a%20b/c%2Bd+e", "/a b/c+d+e"},
		{"file:///a/@b%40c", "/a/@b@c"},
		{"file:///a/x%3Ay:z", "/a/x:y:z"},
		{"file:///a//b/./c/", "/a/b/c"},
		{"file:////a", "/a"},
		{"file:///", "/"},
		{"file:///a/%252e%252e/b", "/a/%2e%2e/b"},
		{"file:///a/%23%3F", "/a/#?"},
		{"file:///a/..b/c..", "/a/..b/c.."},
		{"file:///c%3A/x", "/c:/x"},
		{"file:///a/back%5Cslash", `/a/back\slash`},
		{"file:///a/%2e%2e/b", ""},
		{"file:///a/%2e%2e%2fb", ""},
		{"file:///a/../b", ""},
		{"file:///a/..", ""},
		{"file:///..", ""},
		{"file:///a%00b", ""},
		{"file:///a\x00b", ""},
		{"file://host/a", ""},
		{"file://host", ""},
		{"file://%2e%2e/a", ""},
		{"file:///a/%", ""},
		{"file:///a/%2", ""},
		{"file:///a/%zz", ""},
		{"file:///a?q", ""},
		{"file:///a#L1", ""},
		{"file:a", ""},
		{"file:", ""},
		{"", ""},
		{"/a/b", ""},
		{"untitled:Untitled-1", ""},
		{"jdt://contents/a.class", ""},
		{"https://host/a", ""},
		{"vscode-notebook-cell:/a", ""},
		{"c:/a", ""},
	}
	for _, c := range cases {
		t.Run(c.uri, func(t *testing.T) {
			got, err := lspclient.Path(c.uri)
			if c.path == "" {
				if !errors.Is(err, lspclient.ErrURI) {
					t.Errorf("Path is %q, %v; want ErrURI", got, err)
				}
				return
			}
			if err != nil || got != c.path {
				t.Errorf("Path is %q, %v; want %q", got, err, c.path)
			}
		})
	}
}

// FuzzPath checks that whatever is taken for a path is absolute, clean and
// without a way out.
func FuzzPath(f *testing.F) {
	for _, s := range []string{"file:///a/%2e%2e%2f", "file:///a%00", "file://host/x", "file:///%252e%252e/", "file:////..//", "file:///a/é%C3%28"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := lspclient.Path(s)
		if err != nil {
			if !errors.Is(err, lspclient.ErrURI) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		if !path.IsAbs(p) || path.Clean(p) != p || strings.Contains(p, "\x00") {
			t.Fatalf("%q gave %q", s, p)
		}
		if back, err := lspclient.Path(lspclient.URI(p)); err != nil || back != p {
			t.Fatalf("%q came back as %q, %v", p, back, err)
		}
	})
}

// FuzzURI checks that a path survives the way to a server and back, through the
// protocol library's canonical form of URIs.
func FuzzURI(f *testing.F) {
	for _, s := range []string{"/a/b", "/a b/é/🙂", "/%41/%2f", "/a@b:c", "/C:/x", "/a?b#c", "/a\\b", "/a/\"'\n\t"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p := path.Clean("/" + s)
		if strings.Contains(p, "\x00") {
			t.Skip("no file has such a name")
		}
		if !utf8.ValidString(p) {
			t.Skip("the library escapes the escapes of such a name; DidOpen refuses it")
		}
		if len(p) > 2 && p[2] == ':' && (p[1] >= 'A' && p[1] <= 'Z') {
			t.Skip("the library takes /C: for a drive and folds its letter")
		}
		raw, err := json.Marshal(map[string]any{"uri": string(lspclient.URI(p)), "range": map[string]any{
			"start": map[string]int{"line": 0, "character": 0}, "end": map[string]int{"line": 0, "character": 0},
		}})
		if err != nil {
			t.Fatal(err)
		}
		var loc protocol.Location
		if err := lspclient.Unmarshal(raw, &loc); err != nil {
			t.Fatalf("%q: %v", p, err)
		}
		got, err := lspclient.Path(loc.URI)
		if err != nil {
			t.Fatalf("%q became %q: %v", p, loc.URI, err)
		}
		if got != p {
			t.Fatalf("%q became %q, then %q", p, loc.URI, got)
		}
	})
}
