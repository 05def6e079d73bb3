package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/textproto"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// bare is a server that the test drives by itself, with none of Aura's code in
// between: the truth that answers are compared with, and the floor of the
// benchmarks.
type bare struct {
	root  string
	pid   int
	stdin io.WriteCloser
	stop  func() // ends the server; may be called again

	inBytes bool                // characters of its positions are bytes and not units of UTF-16
	lines   map[string][]string // of files by path, which do not change meanwhile; used by the test's goroutine only

	mu      sync.Mutex // guards what follows, and writes to stdin
	next    int
	waiting map[string]chan reply
}

// reply is one response, or why there is none.
type reply struct {
	result json.RawMessage
	err    error
}

// startBare starts gopls in a workspace and shakes hands.
func startBare(t testing.TB, gopls, root string, env []string) *bare {
	t.Helper()
	return startServer(t, []string{gopls}, nil, root, env)
}

// startServer starts any server in a workspace, in a process group of its own,
// and shakes hands.
func startServer(t testing.TB, argv []string, options any, root string, env []string) *bare {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = root, env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	b := &bare{root: root, pid: cmd.Process.Pid, stdin: stdin, waiting: map[string]chan reply{}, lines: map[string][]string{}}
	var reader sync.WaitGroup
	reader.Go(func() { b.read(bufio.NewReaderSize(stdout, 1<<20)) })
	b.stop = sync.OnceFunc(func() {
		cancel()
		reader.Wait()
		_ = cmd.Wait() // killed
	})
	t.Cleanup(b.stop)
	var hello struct {
		Capabilities struct{ PositionEncoding string }
	}
	b.call(t, "initialize", map[string]any{
		"processId":        nil,
		"rootUri":          uri(root),
		"workspaceFolders": []any{map[string]any{"uri": uri(root), "name": "w"}},
		"capabilities": map[string]any{
			"general":   map[string]any{"positionEncodings": []string{"utf-8"}},
			"workspace": map[string]any{"configuration": true, "workspaceFolders": true},
		},
		"initializationOptions": options,
	}, &hello)
	b.inBytes = hello.Capabilities.PositionEncoding == "utf-8"
	if err := b.send(map[string]any{"jsonrpc": "2.0", "method": "initialized", "params": map[string]any{}}); err != nil {
		t.Fatal(err)
	}
	return b
}

// call asks and waits, for minutes if need be: it is the patient client.
func (b *bare) call(t testing.TB, method string, params, result any) {
	t.Helper()
	raw, err := b.ask(method, params)
	if err != nil {
		t.Fatalf("bare %s: %v", method, err)
	}
	if result != nil {
		if err := json.Unmarshal(raw, result); err != nil {
			t.Fatalf("bare %s: %v in %s", method, err, raw)
		}
	}
}

// ask is call without the test; it returns the raw result.
func (b *bare) ask(method string, params any) (json.RawMessage, error) {
	ch := make(chan reply, 1)
	b.mu.Lock()
	b.next++
	id := strconv.Itoa(b.next)
	b.waiting[id] = ch
	b.mu.Unlock()
	if err := b.send(map[string]any{"jsonrpc": "2.0", "id": json.RawMessage(id), "method": method, "params": params}); err != nil {
		return nil, err
	}
	select {
	case r := <-ch:
		return r.result, r.err
	case <-time.After(patience):
		return nil, fmt.Errorf("no answer in %v", patience)
	}
}

func (b *bare) send(v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	_, err = fmt.Fprintf(b.stdin, "Content-Length: %d\r\n\r\n%s", len(body), body)
	return err
}

// read hands out responses and answers what the server asks, until it ends.
func (b *bare) read(r *bufio.Reader) {
	err := b.readAll(r)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, ch := range b.waiting {
		ch <- reply{err: fmt.Errorf("the server ended: %w", err)}
	}
}

func (b *bare) readAll(r *bufio.Reader) error {
	for {
		header, err := textproto.NewReader(r).ReadMIMEHeader()
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(header.Get("Content-Length"))
		if err != nil {
			return err
		}
		body := make([]byte, n)
		if _, err := io.ReadFull(r, body); err != nil {
			return err
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params json.RawMessage
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		if err := json.Unmarshal(body, &m); err != nil {
			return fmt.Errorf("%w in %s", err, body)
		}
		switch {
		case m.Method != "" && m.ID != nil:
			var result any
			var asked struct{ Items []any }
			if m.Method == "workspace/configuration" && json.Unmarshal(m.Params, &asked) == nil {
				result = make([]any, len(asked.Items)) // all as it is by default
			}
			if err := b.send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result}); err != nil {
				return err
			}
		case m.Method == "":
			b.mu.Lock()
			ch := b.waiting[string(m.ID)]
			delete(b.waiting, string(m.ID))
			b.mu.Unlock()
			if ch == nil {
				continue
			}
			if m.Error != nil {
				ch <- reply{err: fmt.Errorf("%s", m.Error.Message)}
				continue
			}
			ch <- reply{result: m.Result}
		}
	}
}

// open opens a document, as an editor does before it asks about it: the server
// then keeps the types of its package.
func (b *bare) open(t testing.TB, file string) {
	t.Helper()
	b.openAs(t, file, "go")
}

// openAs is open in another language, by LSP's id.
func (b *bare) openAs(t testing.TB, file, languageID string) {
	t.Helper()
	path := filepath.Join(b.root, filepath.FromSlash(file))
	err := b.send(map[string]any{"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": map[string]any{
		"textDocument": map[string]any{"uri": uri(path), "languageId": languageID, "version": 1, "text": read(t, path)},
	}})
	if err != nil {
		t.Fatal(err)
	}
}

// place is a location as a person would write it: file:line:column, 1-based,
// with columns in bytes. Files outside the workspace keep their absolute path.
func (b *bare) place(u string, line, character int) string {
	parsed, err := url.Parse(u)
	if err != nil {
		return u
	}
	name := parsed.Path
	if text, wide := b.line(name, line); wide {
		units := utf16.Encode([]rune(text))
		character = len(string(utf16.Decode(units[:min(character, len(units))])))
	}
	if rel, err := filepath.Rel(b.root, name); err == nil && filepath.IsLocal(rel) {
		name = filepath.ToSlash(rel)
	}
	return fmt.Sprintf("%s:%d:%d", name, line+1, character+1)
}

// at is the position parameter of a request, from a 1-based place.
func (b *bare) at(file string, line, column int) map[string]any {
	path := filepath.Join(b.root, filepath.FromSlash(file))
	character := column - 1
	if text, wide := b.line(path, line-1); wide {
		character = len(utf16.Encode([]rune(text[:character])))
	}
	return map[string]any{
		"textDocument": map[string]any{"uri": uri(path)},
		"position":     map[string]any{"line": line - 1, "character": character},
	}
}

// line returns a line of a file; wide says that its bytes are not what the
// server's characters count.
func (b *bare) line(path string, n int) (text string, wide bool) {
	if b.inBytes {
		return "", false
	}
	if b.lines[path] == nil {
		content, err := os.ReadFile(path)
		if err != nil {
			return "", false
		}
		b.lines[path] = strings.Split(string(content), "\n")
	}
	if n >= len(b.lines[path]) {
		return "", false
	}
	text = b.lines[path][n]
	return text, strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf })
}

func uri(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }

// span is a range in a reply.
type span struct {
	URI   string
	Range struct{ Start struct{ Line, Character int } }
}

// places asks for locations: definition, references, implementation.
func (b *bare) places(t testing.TB, method, file string, line, column int) []string {
	t.Helper()
	params := b.at(file, line, column)
	if method == "textDocument/references" {
		params["context"] = map[string]any{"includeDeclaration": true}
	}
	var spans []span
	b.call(t, method, params, &spans)
	return b.spans(spans)
}

func (b *bare) spans(spans []span) []string {
	var list []string
	for _, s := range spans {
		list = append(list, b.place(s.URI, s.Range.Start.Line, s.Range.Start.Character))
	}
	return sorted(list)
}

// item is an entry of the call hierarchy.
type item struct {
	Name           string `json:"name"`
	Kind           int    `json:"kind"`
	Detail         string `json:"detail,omitempty"`
	URI            string `json:"uri"`
	Range          any    `json:"range"`
	SelectionRange struct {
		Start struct {
			Line      int `json:"line"`
			Character int `json:"character"`
		} `json:"start"`
		End any `json:"end"`
	} `json:"selectionRange"`
	Data any `json:"data,omitempty"`
}

// callers asks for the places where a function is called.
func (b *bare) callers(t testing.TB, file string, line, column int) []string {
	t.Helper()
	var items []item
	b.call(t, "textDocument/prepareCallHierarchy", b.at(file, line, column), &items)
	var list []string
	for _, it := range items {
		var calls []struct {
			From       item
			FromRanges []struct{ Start struct{ Line, Character int } }
		}
		b.call(t, "callHierarchy/incomingCalls", map[string]any{"item": it}, &calls)
		for _, c := range calls {
			for _, r := range c.FromRanges {
				list = append(list, b.place(c.From.URI, r.Start.Line, r.Start.Character))
			}
		}
	}
	return sorted(list)
}
