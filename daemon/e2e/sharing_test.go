package e2e

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/auralsp/aura/daemon/api"
)

// moreUses is a declaration that uses Order once more.
func moreUses() map[string]string {
	return map[string]string{
		"go":         "\nvar extra Order\n",
		"rust":       "\npub type Extra = Order;\n",
		"python":     "\n\nExtra = Order\n",
		"typescript": "\nexport type Extra = Order;\n",
		"csharp":     "\npublic class Extra { public Order? Of { get; set; } }\n",
	}
}

// TestBuffersAreSeenByAll has an editor hold a file with unsaved text: every
// other client is answered from that text, also after the server was killed,
// and from the disk again once the editor is gone.
func TestBuffersAreSeenByAll(t *testing.T) {
	for _, lang := range slices.Sorted(maps.Keys(shops())) {
		t.Run(lang, func(t *testing.T) {
			s, w := openShop(t, lang)
			count := func(when string, want int) {
				t.Helper()
				var got api.Places
				w.must(t, "aura_references", map[string]any{"symbolName": s.order, "limit": all}, &got)
				if got.Total != want || !got.Complete {
					t.Errorf("%s: %d references (complete: %v), want %d", when, got.Total, got.Complete, want)
				}
			}
			saved := read(t, filepath.Join(w.ws, s.store))
			count("on disk", s.references)
			editor := w.dial(t)
			send := func(method string, params map[string]any) {
				t.Helper()
				if e := editor.do(method, params, nil); e != nil {
					t.Fatal(e)
				}
			}
			send("initialize", map[string]any{"protocolVersion": 1, "workspace": w.ws, "client": map[string]any{"name": "an editor"}})
			send("document.open", map[string]any{"filePath": s.store, "text": saved + moreUses()[lang], "version": 1})
			count("unsaved", s.references+1)
			w.kill(t, w.serverPID(t))
			count("after the server's death", s.references+1)
			send("document.change", map[string]any{"filePath": s.store, "text": saved, "version": 2})
			count("taken back", s.references)
			send("document.change", map[string]any{"filePath": s.store, "text": saved + moreUses()[lang], "version": 3})
			count("unsaved again", s.references+1)
			_ = editor.net.Close()
			until(t, patience, "the editor's buffer to be dropped", func() bool {
				var got api.Places
				w.must(t, "aura_references", map[string]any{"symbolName": s.order, "limit": all}, &got)
				return got.Total == s.references
			})
		})
	}
}

// TestNamedEnvironmentsAreKeptApart has two clients ask about one module with
// different build flags at the same time: each gets the answer of its own
// build, and one that differs in nothing that counts shares a server.
func TestNamedEnvironmentsAreKeptApart(t *testing.T) {
	dir := unpack(t, "go", "shop")
	write(t, filepath.Join(dir, "store", "extra.go"), "//go:build extra\n\npackage store\n\nvar extra Order\n")
	w := newWorld(t, dir)
	plain := w.env
	tagged := append(slices.Clone(plain), "GOFLAGS=-tags=extra")
	other := append(slices.Clone(plain), "EDITOR=ed")
	want := shops()["go"].references
	for round := range 2 {
		for _, c := range []struct {
			name string
			env  []string
			want int
		}{{"plain", plain, want}, {"tagged", tagged, want + 1}, {"other", other, want}} {
			w.env = c.env
			var got api.Places
			w.must(t, "aura_references", map[string]any{"symbolName": "Order", "limit": all}, &got)
			if got.Total != c.want {
				t.Errorf("round %d, %s: %d references, want %d", round, c.name, got.Total, c.want)
			}
		}
	}
	w.env = plain
	if n := len(w.serversOf(t)["gopls"]); n != 2 {
		t.Errorf("%d servers, want one for each build", n)
	}
}

// TestProgramsAreFoundInTheClientsPath has a daemon that was started where there
// is no server, and a client that has one in its PATH.
func TestProgramsAreFoundInTheClientsPath(t *testing.T) {
	w := newWorld(t, unpack(t, "go", "shop"))
	w.stop(t)
	with := w.env
	w.env = slices.Clone(with)
	for i, v := range w.env {
		if strings.HasPrefix(v, "PATH=") {
			w.env[i] = "PATH=" + withoutServer(t, w)
		}
	}
	question := map[string]any{"symbolName": "Order", "limit": all}
	var got api.Places
	w.must(t, "aura_references", question, &got)
	if got.Unserved != api.ServerUnavailable {
		t.Errorf("a server was asked where there is none: %+v", got.Trust)
	}
	w.env, got = with, api.Places{}
	w.must(t, "aura_references", question, &got)
	if want := shops()["go"].references; got.Total != want || got.Source != "server" {
		t.Errorf("%d references from the %s, want %d from the server", got.Total, got.Source, want)
	}
	var doctor api.Doctor
	w.must(t, "doctor", map[string]any{}, &doctor)
	if !doctor.Success {
		t.Errorf("doctor finds fault: %+v", doctor)
	}
}
