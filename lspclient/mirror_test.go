package lspclient_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/lspclient"
	"github.com/auralsp/aura/lspclient/lsptest"
)

// state asks the fake what it knows.
func state(t testing.TB, c *lspclient.Client) lsptest.State {
	t.Helper()
	var s struct {
		Documents map[string]struct {
			Version int32  `json:"version"`
			Text    string `json:"text"`
		} `json:"documents"`
		Violations []string `json:"violations"`
	}
	if err := c.Call(testContext(t), "fake/state", nil, &s); err != nil {
		t.Fatal(err)
	}
	out := lsptest.State{Documents: map[string]lsptest.State{}, Violations: s.Violations}
	for path, d := range s.Documents {
		out.Documents[path] = lsptest.State{Version: d.Version, Text: d.Text}
	}
	return out
}

func TestMirror(t *testing.T) {
	client, _ := start(t, lsptest.Config{}, lspclient.Options{})
	ctx := testContext(t)
	const path = "/ws/é file.fake"
	if err := client.DidOpen(ctx, path, "fake", []byte("one\n")); err != nil {
		t.Fatal(err)
	}
	if err := client.DidOpen(ctx, path, "fake", []byte("two\n")); !errors.Is(err, lspclient.ErrOpen) {
		t.Errorf("opening twice: %v", err)
	}
	first, _ := client.Document(path)
	second, err := client.DidChange(ctx, path, []byte("two\n"))
	if err != nil || second <= first.Version {
		t.Errorf("version went from %d to %d, %v", first.Version, second, err)
	}
	if same, err := client.DidChange(ctx, path, []byte("two\n")); err != nil || same != second {
		t.Errorf("an equal text became version %d of %d, %v", same, second, err)
	}
	text, version, open := client.Text(path)
	if string(text) != "two\n" || version != second || !open {
		t.Errorf("mirror holds %q, version %d, open %v", text, version, open)
	}
	if string(first.Text) != "one\n" {
		t.Errorf("the text that was handed out changed to %q", first.Text)
	}
	if err := client.DidSave(ctx, path); err != nil {
		t.Error(err)
	}
	if err := client.DidClose(ctx, path); err != nil {
		t.Error(err)
	}
	if _, _, open := client.Text(path); open {
		t.Error("a closed document is open")
	}
	for name, err := range map[string]error{
		"close": client.DidClose(ctx, path), "save": client.DidSave(ctx, path),
		"change": func() error { _, err := client.DidChange(ctx, path, nil); return err }(),
	} {
		if !errors.Is(err, lspclient.ErrNotOpen) {
			t.Errorf("%s of a closed document: %v", name, err)
		}
	}
	if err := client.DidOpen(ctx, path, "fake", nil); err != nil {
		t.Fatal(err)
	}
	if again, _ := client.Document(path); again.Version <= second {
		t.Errorf("version of the reopened document is %d, of the closed one %d", again.Version, second)
	}
	if s := state(t, client); len(s.Violations) != 0 {
		t.Errorf("the server complains of %q", s.Violations)
	}
}

func TestL04_TextThatIsNotUTF8(t *testing.T) {
	client, server := start(t, lsptest.Config{}, lspclient.Options{})
	ctx := testContext(t)
	if err := client.DidOpen(ctx, "/a", "fake", []byte("a\xffb")); !errors.Is(err, lspclient.ErrNotUTF8) {
		t.Errorf("open: %v", err)
	}
	if err := client.DidOpen(ctx, "/a\xff", "fake", nil); !errors.Is(err, lspclient.ErrNotUTF8) {
		t.Errorf("open of a path: %v", err)
	}
	const odd = "nul \x00 \u2028 \ufeff <&> \ufffd 🙂\r\n"
	if err := client.DidOpen(ctx, "/a", "fake", []byte(odd)); err != nil {
		t.Fatal(err)
	}
	if _, err := client.DidChange(ctx, "/a", []byte("\xc3")); !errors.Is(err, lspclient.ErrNotUTF8) {
		t.Errorf("change: %v", err)
	}
	if got := state(t, client).Documents["/a"].Text; got != odd {
		t.Errorf("the server has %q, want %q", got, odd)
	}
	for _, r := range server.Received() {
		if r.Method == "textDocument/didChange" {
			t.Errorf("sent %s", r.Params)
		}
	}
}

// TestIncrementalChanges applies random edits to large texts of every line
// ending and checks after each that the server has the same bytes.
func TestIncrementalChanges(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	pieces := []string{"a", "é", "🙂", "\n", "\r\n", "word ", "\t", "é🙂", "x\r\ny"}
	for _, encoding := range []string{"utf-8", "utf-16", "utf-32"} {
		for _, odd := range []string{"", "\r", "\u2028"} {
			t.Run(fmt.Sprintf("%s %q", encoding, odd), func(t *testing.T) {
				client, server := start(t, lsptest.Config{Encoding: encoding}, lspclient.Options{})
				ctx := testContext(t)
				part := func() string {
					var b strings.Builder
					for range random.IntN(8) {
						b.WriteString(pieces[random.IntN(len(pieces))])
					}
					return b.String()
				}
				runes := []rune(strings.Repeat("première ligne 🙂\r\nsecond\n", 2300) + odd)
				if err := client.DidOpen(ctx, "/a", "fake", []byte(string(runes))); err != nil {
					t.Fatal(err)
				}
				for range 20 {
					from := random.IntN(len(runes) + 1)
					to := min(len(runes), from+random.IntN(5))
					runes = append(append(append([]rune{}, runes[:from]...), []rune(part())...), runes[to:]...)
					if _, err := client.DidChange(ctx, "/a", []byte(string(runes))); err != nil {
						t.Fatal(err)
					}
					s := state(t, client)
					if got := s.Documents["/a"].Text; got != string(runes) || len(s.Violations) != 0 {
						t.Fatalf("the server has %d bytes, want %d; it complains of %q", len(got), len(string(runes)), s.Violations)
					}
				}
				ranges := 0
				for _, r := range server.Received() {
					if r.Method == "textDocument/didChange" && strings.Contains(string(r.Params), `"range"`) {
						ranges++
					}
				}
				if odd == "" && ranges == 0 || odd != "" && ranges > 0 {
					t.Errorf("%d changes were incremental", ranges)
				}
			})
		}
	}
}

// yielding lets others run in the middle of what its owner does.
type yielding struct{}

func (yielding) Write(p []byte) (int, error) {
	runtime.Gosched()
	return len(p), nil
}

func TestL10_ManyWritersOneOrder(t *testing.T) {
	for _, full := range []bool{true, false} {
		// The trace is written while a message is on its way to the queue.
		client, _ := start(t, lsptest.Config{FullSync: full}, lspclient.Options{Trace: yielding{}})
		ctx := testContext(t)
		paths := []string{"/a", "/b", "/c"}
		var wg sync.WaitGroup
		for writer := range 8 {
			wg.Go(func() {
				for i := range 60 {
					path := paths[(writer+i)%len(paths)]
					text := fmt.Appendf(nil, "%d of %d\n", i, writer)
					var err error
					switch i % 10 {
					case 0:
						err = client.DidOpen(ctx, path, "fake", text)
					case 9:
						err = client.DidClose(ctx, path)
					default:
						_, err = client.DidChange(ctx, path, text)
					}
					if err != nil && !errors.Is(err, lspclient.ErrOpen) && !errors.Is(err, lspclient.ErrNotOpen) {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		s := state(t, client)
		if len(s.Violations) != 0 {
			t.Errorf("the server complains of %q", s.Violations)
		}
		want := map[string]lsptest.State{}
		for _, d := range client.Documents() {
			want[d.Path] = lsptest.State{Version: d.Version, Text: string(d.Text)}
		}
		if diff := cmp.Diff(want, s.Documents); diff != "" {
			t.Errorf("documents (-mirror +server):\n%s", diff)
		}
	}
}

func TestFilesOnDiskAreReadWhenTold(t *testing.T) {
	dir := write(t, map[string]string{"a.fake": "func Foo\n"})
	path := filepath.Join(dir, "a.fake")
	client, _ := start(t, lsptest.Config{}, lspclient.Options{Root: dir})
	ctx := testContext(t)
	symbols := func() string {
		t.Helper()
		var list []struct {
			Name string `json:"name"`
		}
		if err := client.Call(ctx, "workspace/symbol", map[string]string{"query": ""}, &list); err != nil {
			t.Fatal(err)
		}
		names := ""
		for _, s := range list {
			names += s.Name + " "
		}
		return names
	}
	if got := symbols(); got != "Foo " {
		t.Errorf("symbols are %s", got)
	}
	rewrite(t, path, "func Bar\n")
	if got := symbols(); got != "Foo " {
		t.Errorf("the server looked by itself: %s", got)
	}
	err := client.Notify(ctx, "workspace/didChangeWatchedFiles", map[string]any{
		"changes": []any{map[string]any{"uri": lspclient.URI(path), "type": 2}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := symbols(); got != "Bar " {
		t.Errorf("symbols are %s", got)
	}
}
