package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/auralsp/aura/daemon/api"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait of these tests.
const patience = 20 * time.Second

// private returns a folder in which Listen makes its socket; t.TempDir is too
// long for some and open to others.
func private(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "aura")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "run")
}

// running is a server under test.
type running struct {
	*Server
	socket string
	stop   context.CancelFunc
	done   chan error
}

func start(t testing.TB, opts Options) *running {
	t.Helper()
	socket := filepath.Join(private(t), "aurad.sock")
	l, err := Listen(context.Background(), socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{New(opts), socket, cancel, make(chan error, 1)}
	go func() { r.done <- r.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		select {
		case <-r.done:
		case <-time.After(patience):
			t.Error("Serve did not return")
		}
	})
	return r
}

// echo answers with the symbolName of the request.
func echo(_ context.Context, c Call) (any, error) {
	if in, ok := c.Input.(api.Navigate); ok {
		return map[string]string{"echo": in.SymbolName}, nil
	}
	return api.Done{Success: true}, nil
}

// peer is a client that speaks bytes.
type peer struct {
	t  testing.TB
	nc *net.UnixConn
	in *bufio.Reader
}

func dial(t testing.TB, socket string) *peer {
	t.Helper()
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	p := &peer{t, c, bufio.NewReader(c)}
	p.waits()
	return p
}

// waits gives the next read or write all of the patience.
func (p *peer) waits() { _ = p.nc.SetDeadline(time.Now().Add(patience)) }

func (p *peer) write(text string) {
	p.t.Helper()
	p.waits()
	if _, err := io.WriteString(p.nc, text); err != nil {
		p.t.Fatal(err)
	}
}

func framed(text string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(text), text) }

func request(id, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params)
}

// line reads an answer in line framing; "" at the end.
func (p *peer) line() string {
	p.t.Helper()
	p.waits()
	s, err := p.in.ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		p.t.Fatal(err)
	}
	return strings.TrimSuffix(s, "\n")
}

// frame reads an answer in Content-Length framing; "" at the end.
func (p *peer) frame() string {
	p.t.Helper()
	p.waits()
	head, err := p.in.ReadString('\n')
	if errors.Is(err, io.EOF) && head == "" {
		return ""
	}
	n, cerr := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(head, "Content-Length:")))
	if err != nil || cerr != nil {
		p.t.Fatalf("header %q: %v %v", head, err, cerr)
	}
	b := make([]byte, 2+n)
	if _, err := io.ReadFull(p.in, b); err != nil {
		p.t.Fatal(err)
	}
	return string(b[2:])
}

func (p *peer) wantLine(want string) {
	p.t.Helper()
	if got := p.line(); got != want {
		p.t.Errorf("got  %.300s\nwant %s", got, want)
	}
}

type answer struct {
	ID     json.RawMessage `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int       `json:"code"`
		Message string    `json:"message"`
		Data    api.Error `json:"data"`
	} `json:"error"`
}

func parse(t testing.TB, text string) answer {
	t.Helper()
	var a answer
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		t.Fatalf("%v in %.300q", err, text)
	}
	return a
}

// until waits for a condition.
func until(t testing.TB, what string, cond func() bool) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-deadline:
			t.Fatalf("never: %s", what)
		case <-tick.C:
		}
	}
}

func TestFramings(t *testing.T) {
	r := start(t, Options{Dispatch: echo})
	req := request("1", "aura_definition", `{"symbolName":"A<b>&"}`)
	want := `{"jsonrpc":"2.0","id":1,"result":{"echo":"A<b>&"}}`
	p := dial(t, r.socket)
	p.write(framed(req))
	if got := p.frame(); got != want {
		t.Errorf("got %s", got)
	}
	p.write("content-length:" + strconv.Itoa(len(req)) + "\nContent-Type: application/json\n\n" + req)
	if got := p.frame(); got != want {
		t.Errorf("lenient header: got %s", got)
	}
	p = dial(t, r.socket)
	p.write(" \n" + req + "\n\n")
	p.wantLine(want)
	p.write("[" + req + "]\r\n")
	p.wantLine("[" + want + "]")
}

// printf … | nc -U: the sending half is closed before the answer is made.
func TestHalfClosedClientGetsItsAnswers(t *testing.T) {
	release := make(chan struct{})
	r := start(t, Options{Dispatch: func(ctx context.Context, c Call) (any, error) {
		select {
		case <-release:
			return echo(ctx, c)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}})
	p := dial(t, r.socket)
	p.write(request("1", "definition", `{"symbolName":"A"}`)) // no end of line either
	if err := p.nc.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	until(t, "the request runs", func() bool { return r.Stats().Running == 1 })
	close(release)
	p.wantLine(`{"jsonrpc":"2.0","id":1,"result":{"echo":"A"}}`)
	if got := p.line(); got != "" {
		t.Errorf("then %q", got)
	}
}

func TestL06_IDsComeBackAsTheyWere(t *testing.T) {
	r := start(t, Options{Dispatch: echo})
	p := dial(t, r.socket)
	for _, id := range []string{"1", "-7", "1.5", "9007199254740993", "1e3", `"x\u0041"`, `""`, "null"} {
		p.write(request(id, "definition", `{"symbolName":"A"}`) + "\n")
		p.wantLine(`{"jsonrpc":"2.0","id":` + id + `,"result":{"echo":"A"}}`)
	}
	for _, id := range []string{"{}", "[1]", "true"} {
		p.write(request(id, "definition", `{"symbolName":"A"}`) + "\n")
		if a := parse(t, p.line()); a.Error == nil || a.Error.Code != invalidRequest || string(a.ID) != "null" {
			t.Errorf("id %s: %+v", id, a)
		}
	}
}

func TestErrors(t *testing.T) {
	r := start(t, Options{Dispatch: func(_ context.Context, c Call) (any, error) {
		switch in := c.Input.(api.Navigate); in.SymbolName {
		case "candidates":
			return nil, fmt.Errorf("resolve: %w", &api.Error{Code: api.AmbiguousSymbol, Message: "m", Candidates: []api.Candidate{{Name: "A"}}})
		case "plain":
			return nil, errors.New("disk on fire")
		case "cancelled":
			return nil, fmt.Errorf("wait: %w", context.Canceled)
		case "deadline":
			return nil, context.DeadlineExceeded
		case "unencodable":
			return func() {}, nil
		case "details":
			return nil, &api.Error{Code: api.StaleContent, Message: "m", Details: func() {}}
		}
		return nil, nil
	}})
	p := dial(t, r.socket)
	tests := []struct {
		send   string
		number int
		code   api.Code
		text   string
	}{
		{request("1", "definition", `{"symbolName":"candidates"}`), -32000, api.AmbiguousSymbol, "m"},
		{request("1", "definition", `{"symbolName":"plain"}`), -32603, api.Internal, "disk on fire (request c1-"},
		{request("1", "definition", `{"symbolName":"cancelled"}`), -32800, api.Cancelled, ""},
		{request("1", "definition", `{"symbolName":"deadline"}`), -32000, api.Timeout, ""},
		{request("1", "definition", `{"symbolName":"unencodable"}`), -32603, api.Internal, "encode the answer"},
		{request("1", "definition", `{"symbolName":"details"}`), -32000, api.StaleContent, "m"},
		{request("1", "definition", `{"symbol":"A"}`), -32602, api.InvalidArgument, "did you mean symbolName?"},
		{request("1", "definition", `[1]`), -32602, api.InvalidArgument, "must be a JSON object"},
		{request("1", "defnition", `{}`), -32000, api.UnsupportedOperation, "the nearest is"},
		{`{"jsonrpc":"2.0","id":1,"method":"definition"`, -32700, api.InvalidArgument, "not valid JSON"},
		{`{"jsonrpc":"1.0","id":1,"method":"definition"}`, -32600, api.InvalidArgument, `jsonrpc must be "2.0"`},
		{`{"jsonrpc":"2.0","id":1}`, -32600, api.InvalidArgument, "method is missing"},
		{`{"jsonrpc":"2.0","id":1,"method":7}`, -32600, api.InvalidArgument, "not a JSON-RPC request"},
		{`{"jsonrpc":"2.0","id":1,"method":"definition","params":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}`, -32602, api.InvalidArgument, "nested deeper"},
		{`[]`, -32600, api.InvalidArgument, "batch"},
		{`[`, -32700, api.InvalidArgument, "not valid JSON"},
		{`nonsense`, -32700, api.InvalidArgument, "not valid JSON"},
	}
	for _, tt := range tests {
		p.write(tt.send + "\n")
		a := parse(t, p.line())
		if a.Error == nil || a.Error.Code != tt.number || a.Error.Data.Code != tt.code || !strings.Contains(a.Error.Message, tt.text) {
			t.Errorf("%.80s: got %+v", tt.send, a.Error)
		}
	}
	p.write(request("2", "definition", `{"symbolName":"A"}`) + "\n")
	p.wantLine(`{"jsonrpc":"2.0","id":2,"result":null}`)
}

func TestBatches(t *testing.T) {
	r := start(t, Options{Dispatch: echo})
	p := dial(t, r.socket)
	p.write("[" + request("1", "definition", `{"symbolName":"A"}`) + "," + `{"jsonrpc":"2.0","method":"definition","params":{"symbolName":"N"}}` +
		",7," + request("2", "nothing", `{}`) + "]\n")
	var answers []answer
	if err := json.Unmarshal([]byte(p.line()), &answers); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, a := range answers {
		switch {
		case a.Error != nil:
			seen[string(a.ID)+" "+strconv.Itoa(a.Error.Code)]++
		default:
			seen[string(a.ID)+" "+string(a.Result)]++
		}
	}
	want := map[string]int{`1 {"echo":"A"}`: 1, "null -32600": 1, "2 -32000": 1}
	if fmt.Sprint(seen) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", seen, want)
	}
	p.write(`[{"jsonrpc":"2.0","method":"definition","params":{"symbolName":"N"}}]` + "\n" + request("3", "definition", `{"symbolName":"A"}`) + "\n")
	p.wantLine(`{"jsonrpc":"2.0","id":3,"result":{"echo":"A"}}`)
}

func TestInitialize(t *testing.T) {
	var mu sync.Mutex
	var got Client
	r := start(t, Options{
		Name: api.ClientInfo{Name: "aurad", Version: "1.2"}, Build: "b1", Keep: func(name string) bool { return name == "GOFLAGS" },
		Dispatch: func(_ context.Context, c Call) (any, error) {
			mu.Lock()
			defer mu.Unlock()
			got = c.Client
			return nil, nil
		},
	})
	p := dial(t, r.socket)
	p.write(request("1", "initialize", `{"protocolVersion":1,"client":{"name":"x","version":"3"},"workspace":"/w","session":"s","tier":"Preview","environment":{"GOFLAGS":"-mod=mod","TOKEN":"secret"}}`) + "\n" +
		request("2", "definition", `{"symbolName":"A"}`) + "\n")
	var in api.Initialized
	if err := json.Unmarshal(parse(t, p.line()).Result, &in); err != nil {
		t.Fatal(err)
	}
	if in.Server.Version != "1.2" || in.Build != "b1" || in.Catalogue != api.CatalogueHash() || in.Tier != "preview" || in.PID != os.Getpid() {
		t.Errorf("%+v", in)
	}
	p.wantLine(`{"jsonrpc":"2.0","id":2,"result":null}`)
	mu.Lock()
	defer mu.Unlock()
	want := Client{ID: "c1", Name: "x", Version: "3", Session: "s", Workspace: "/w", Tier: api.PreviewTier, Env: map[string]string{"GOFLAGS": "-mod=mod"}, PID: os.Getpid()}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestS09_TierDenied(t *testing.T) {
	r := start(t, Options{Dispatch: echo})
	tests := []struct{ tier, method, params, denied string }{
		{"observe", "rename", `{"symbolName":"A","newName":"B","preview":true}`, "connect with tier preview, or run auractl rename"},
		{"preview", "rename", `{"symbolName":"A","newName":"B","preview":true}`, ""},
		{"preview", "rename", `{"symbolName":"A","newName":"B"}`, "connect with tier apply"},
		{"preview", "undo", `{"undoToken":"T"}`, "connect with tier apply"},
		{"apply", "undo", `{"undoToken":"T"}`, ""},
		{"apply", "aura_trust", `{"path":"/w"}`, "auractl trust"},
		{"apply", "daemon.shutdown", `{}`, "auractl stop"},
		{"admin", "daemon.shutdown", `{}`, ""},
		{"observe", "definition", `{"symbolName":"A"}`, ""},
		{"apply", "initialize", `{"trust":true}`, "auractl trust DIR"},
	}
	for _, tt := range tests {
		p := dial(t, r.socket)
		p.write(request("1", "initialize", `{"tier":"`+tt.tier+`"}`) + "\n" + request("2", tt.method, tt.params) + "\n")
		p.line()
		a := parse(t, p.line())
		if tt.denied == "" && a.Error != nil || tt.denied != "" && (a.Error == nil || a.Error.Data.Code != api.TierDenied || !strings.Contains(a.Error.Message, tt.denied)) {
			t.Errorf("%v: %+v", tt, a.Error)
		}
	}
}
