package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/auralsp/aura/daemon/api"
)

// daemonScript answers initialize and leaves the rest to next.
func daemonScript(next func(r request, send func(string))) func(request, func(string)) {
	return func(r request, send func(string)) {
		if r.Method == "initialize" {
			send(greetingText)
			return
		}
		next(r, send)
	}
}

func dialScript(t *testing.T, opts Options) *Client {
	t.Helper()
	c, err := Dial(context.Background(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestCancelTellsHowTheCallEnded(t *testing.T) {
	tests := []struct {
		name   string
		answer string // to the call, once it is cancelled
		ctx    func() (context.Context, context.CancelFunc)
		want   string
		code   api.Code
	}{
		{
			"cancelled", `"error":{"code":-32800,"message":"m","data":{"code":"CANCELLED","message":"m"}}`,
			func() (context.Context, context.CancelFunc) {
				return context.WithTimeout(context.Background(), 20*time.Millisecond)
			}, "", api.Timeout,
		},
		{
			"it was too late", `"result":{"success":true}`,
			func() (context.Context, context.CancelFunc) {
				return context.WithTimeout(context.Background(), 20*time.Millisecond)
			}, `{"success":true}`, "",
		},
		{
			"refused meanwhile", `"error":{"code":-32000,"message":"m","data":{"code":"STALE_CONTENT","message":"m"}}`,
			func() (context.Context, context.CancelFunc) {
				return context.WithTimeout(context.Background(), 20*time.Millisecond)
			}, "", api.StaleContent,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := dialScript(t, scripted(t, daemonScript(func(r request, send func(string)) {
				if r.Method == api.CancelMethod {
					if string(r.Params) != `{"id":2}` {
						t.Errorf("cancelled %s", r.Params)
					}
					send(`{"jsonrpc":"2.0","id":2,` + tt.answer + `}`)
				}
			})))
			ctx, cancel := tt.ctx()
			defer cancel()
			raw, err := c.Raw(ctx, "rename", nil)
			if string(raw) != tt.want || api.CodeOf(err) != tt.code {
				t.Errorf("got %s, %v", raw, err)
			}
		})
	}
}

func TestCallsShareAConnection(t *testing.T) {
	var mu sync.Mutex
	var held []int64
	c := dialScript(t, scripted(t, daemonScript(func(r request, send func(string)) {
		mu.Lock()
		defer mu.Unlock()
		if held = append(held, *r.ID); len(held) < 50 {
			return
		}
		for i := len(held) - 1; i >= 0; i-- { // the last first
			send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%d}`, held[i], held[i]))
		}
	})))
	var wg sync.WaitGroup
	seen := map[int]bool{}
	for range 50 {
		wg.Go(func() {
			var n int
			if err := c.Call(context.Background(), "aura_history", nil, &n); err != nil {
				t.Error(err)
			}
			mu.Lock()
			seen[n] = true
			mu.Unlock()
		})
	}
	wg.Wait()
	if len(seen) != 50 {
		t.Errorf("%d different answers", len(seen))
	}
}

// What may change something waits for the greeting; a question need not.
func TestChangesWaitForTheGreeting(t *testing.T) {
	for method, waits := range map[string]bool{"rename": true, "code.refactor": true, "unknown": true, "definition": false} {
		t.Run(method, func(t *testing.T) {
			release := make(chan struct{})
			order := make(chan string, 4)
			var greet func()
			opts := scripted(t, func(r request, send func(string)) {
				order <- r.Method
				switch {
				case r.Method == "initialize" && waits:
					<-release
					send(greetingText)
				case r.Method == "initialize":
					greet = func() { send(greetingText) }
				default:
					if greet != nil {
						greet()
					}
					send(`{"jsonrpc":"2.0","id":2,"result":1}`)
				}
			})
			c := dialScript(t, opts)
			done := make(chan error, 1)
			go func() {
				_, err := c.Raw(context.Background(), method, nil)
				done <- err
			}()
			if got := <-order; got != "initialize" {
				t.Errorf("first %s", got)
			}
			if waits {
				select {
				case got := <-order:
					t.Errorf("%s was sent before the greeting", got)
				case <-time.After(30 * time.Millisecond):
				}
			}
			close(release)
			if err := <-done; err != nil {
				t.Error(err)
			}
			if h, err := c.Hello(context.Background()); err != nil || h.Workspace != "/w" {
				t.Errorf("%+v %v", h, err)
			}
		})
	}
}

func TestConnectionErrors(t *testing.T) {
	tests := []struct {
		name   string
		script func(r request, send func(string))
		want   string
	}{
		{"too many clients", func(_ request, send func(string)) {
			send(`{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"m","data":{"code":"OVERLOADED","message":"full"}}}`)
		}, "OVERLOADED: full"},
		{"initialize refused", func(r request, send func(string)) {
			if r.Method == "initialize" {
				send(`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"m","data":{"code":"INVALID_ARGUMENT","message":"no such folder"}}}`)
			}
		}, "INVALID_ARGUMENT: no such folder"},
		{"nonsense", func(_ request, send func(string)) { send("nonsense") }, "what is not JSON-RPC"},
		{"an error without data", daemonScript(func(_ request, send func(string)) {
			send(`{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"no such method"}}`)
		}), "INTERNAL: no such method"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := dialScript(t, scripted(t, tt.script))
			if _, err := c.Raw(context.Background(), "definition", nil); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
		})
	}
}

func TestDaemonThatDies(t *testing.T) {
	opts := scripted(t, nil)
	dial := opts.Dial
	var other io.Closer
	opts.Dial = func(ctx context.Context, s string) (conn net.Conn, err error) {
		conn, err = dial(ctx, s)
		other = conn
		return conn, err
	}
	c := dialScript(t, opts)
	if _, err := c.Hello(context.Background()); err != nil {
		t.Fatal(err)
	}
	_ = other.Close()
	if _, err := c.Raw(context.Background(), "definition", nil); !errors.As(err, new(*Unreachable)) {
		t.Errorf("got %v", err)
	}
	if _, err := c.Raw(context.Background(), "definition", nil); !errors.As(err, new(*Unreachable)) {
		t.Errorf("again: %v", err)
	}
}

func TestProgressAndNotifications(t *testing.T) {
	var got []string
	opts := scripted(t, daemonScript(func(_ request, send func(string)) {
		send(`{"jsonrpc":"2.0","method":"$/progress","params":{"id":2,"message":"loading","percent":40}}`)
		send(`{"jsonrpc":"2.0","method":"event","params":{"kind":"index"}}`)
		send(`{"jsonrpc":"2.0","id":99,"result":"nobody asked"}`)
		send(`{"jsonrpc":"2.0","id":2,"result":null}`)
	}))
	opts.Progress = func(p api.Progress) { got = append(got, fmt.Sprintf("%s %v", p.Message, p.Percent)) }
	opts.Notify = func(method string, params json.RawMessage) { got = append(got, method+" "+string(params)) }
	c := dialScript(t, opts)
	if _, err := c.Raw(context.Background(), "definition", nil); err != nil {
		t.Fatal(err)
	}
	if strings.Join(got, "; ") != `loading 40; event {"kind":"index"}` {
		t.Errorf("got %q", got)
	}
}

// A daemon of another contract is asked to stop if it is idle, and replaced.
func TestOnceReplacesAnIdleDaemonOfAnotherContract(t *testing.T) {
	for _, method := range []string{"rename", "definition"} {
		for _, idle := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s idle=%v", method, idle), func(t *testing.T) {
				var mu sync.Mutex
				var asked []string
				greetings := 0
				opts := scripted(t, func(r request, send func(string)) {
					mu.Lock()
					defer mu.Unlock()
					switch r.Method {
					case "initialize":
						greetings++
						catalogue := "other"
						if greetings > 1 {
							catalogue = api.CatalogueHash()
						}
						send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"build":"b%d","catalogue":%q}}`, greetings, catalogue))
					case "daemon.shutdown":
						send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"stopping":%v}}`, *r.ID, idle))
						if idle {
							send("")
						}
					default:
						asked = append(asked, fmt.Sprintf("%s %d", r.Method, greetings))
						send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"n":%d}}`, *r.ID, greetings))
					}
				})
				opts.Start, opts.Build = true, "mine"
				raw, _, err := Once(context.Background(), opts, method, nil)
				want := `{"n":1}`
				if idle {
					want = `{"n":2}`
				}
				if err != nil || string(raw) != want {
					t.Errorf("got %s, %v, want %s", raw, err, want)
				}
				if changes := method == "rename"; changes && len(asked) != 1 {
					t.Errorf("a change was asked for %d times: %q", len(asked), asked)
				}
			})
		}
	}
}
