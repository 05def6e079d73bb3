package op_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"golang.org/x/tools/txtar"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/registry"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/op"
	"github.com/auralsp/aura/daemon/supervise"
	"github.com/auralsp/aura/daemon/workbench"
	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/lsptest"
	"github.com/auralsp/aura/lspclient/proc"
)

var update = flag.Bool("update", false, "write what the operations answer now as what they should")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestGolden runs testdata/OPERATION/LANGUAGE-*.txtar against the real servers.
// A case is a workspace, and in it pairs of files: request/NAME.json holds the
// operation and its fields, want/NAME.json the answer or the refusal, and for a
// change what each file would become.
func TestGolden(t *testing.T) {
	var cases []string
	for _, l := range registry.Languages() {
		found, err := filepath.Glob("../../testdata/*/" + l.Language().ID + "-*.txtar")
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == 0 {
			t.Errorf("testdata has no cases of %s", l.Language().Name)
		}
		cases = append(cases, found...)
	}
	w := newWorld(t)
	for _, path := range cases {
		t.Run(filepath.Base(filepath.Dir(path))+"/"+strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			w.run(t, path)
		})
	}
}

// world is what all cases share: the supervisor and its servers.
type world struct {
	supervisor *supervise.Supervisor
	langs      []adapters.Adapter
}

func newWorld(t *testing.T) *world {
	server := lsptest.Gopls(t)
	log := slog.New(slog.DiscardHandler)
	spawner, err := proc.NewSpawner(t.Context(), proc.Options{Log: log})
	if err != nil {
		t.Fatal(err)
	}
	s := supervise.Start(supervise.Options{
		Log: log, Spawner: spawner, Scratch: t.TempDir(),
		Look: func(_, name, _ string) (string, error) {
			if name == filepath.Base(server) {
				return server, nil
			}
			if bin, err := exec.LookPath(filepath.Join(lsptest.ToolFolder(t), name)); err == nil {
				return bin, nil
			}
			return exec.LookPath(name)
		},
	})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := errors.Join(s.Close(ctx), spawner.Close()); err != nil {
			t.Error(err)
		}
	})
	return &world{supervisor: s, langs: registry.Languages()}
}

func (w *world) run(t *testing.T, path string) {
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	requests, wants := map[string][]byte{}, map[string][]byte{}
	for _, f := range archive.Files {
		switch dir, name := filepath.Split(f.Name); dir {
		case "request/":
			requests[name] = f.Data
		case "want/":
			wants[name] = f.Data
		default:
			write(t, filepath.Join(root, f.Name), f.Data)
		}
	}
	if len(requests) == 0 {
		t.Fatal("the case asks nothing")
	}
	ws, err := workbench.Open(t.Context(), workbench.Options{Root: root, Supervisor: w.supervisor, Languages: w.langs})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(w.supervisor.Forget(context.Background(), ws.View()), ws.Close()); err != nil {
			t.Error(err)
		}
	}()
	for name, request := range requests {
		got := w.ask(t, ws, request)
		if *update {
			put(archive, "want/"+name, got)
			continue
		}
		if diff := cmp.Diff(string(wants[name]), string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if *update {
		if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// ask answers one request as JSON: the operation's answer, its refusal, or the
// files that it would change.
func (w *world) ask(t *testing.T, ws *workbench.Workspace, request []byte) []byte {
	var head struct {
		Operation string `json:"operation"`
	}
	var params map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(request, &head), json.Unmarshal(request, &params)); err != nil {
		t.Fatalf("request %s: %v", request, err)
	}
	delete(params, "operation")
	raw, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := w.answer(t.Context(), ws, head.Operation, raw)
	if err != nil {
		var refused *api.Error
		var declined *adapters.Refusal
		switch {
		case errors.As(err, &refused):
			answer = refused
		case errors.As(err, &declined):
			answer = api.Errorf(api.Code(declined.Reason), "%s", declined.Message)
		default:
			t.Fatalf("%s: %v", head.Operation, err)
		}
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(answer); err != nil {
		t.Fatal(err)
	}
	goroot, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	hidden := bytes.ReplaceAll(out.Bytes(), []byte(ws.Root()), []byte("ROOT"))
	return bytes.ReplaceAll(hidden, bytes.TrimSpace(goroot), []byte("GOROOT"))
}

func (w *world) answer(ctx context.Context, ws *workbench.Workspace, operation string, raw []byte) (any, error) {
	spec, err := api.Find(operation, raw)
	if err != nil {
		return nil, err
	}
	in, err := api.Decode(spec, raw)
	if err != nil {
		return nil, err
	}
	s, err := ws.Begin(ctx, workbench.Caller{
		Trusted: true, Env: map[string]string{"PATH": os.Getenv("PATH"), "HOME": os.Getenv("HOME"), "RUSTUP_HOME": rustup()},
	})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	h := op.Handlers()[spec.Name]
	if h.Query != nil {
		return h.Query(ctx, s, in)
	}
	draft, err := h.Plan(ctx, s, in)
	if err != nil {
		return nil, err
	}
	return planned(ctx, s, draft)
}

// plan is a change as the cases write it down.
type plan struct {
	NewSymbolID string            `json:"newSymbolId"`
	Warnings    []string          `json:"warnings"`
	Quick       string            `json:"quick"`
	Files       map[string]string `json:"files"` // what each changed file becomes, by its path then
}

func planned(ctx context.Context, s *workbench.Session, d *op.Draft) (any, error) {
	files, err := d.Change.Resolve(func(path string) ([]byte, error) {
		b, _, err := s.Snapshot().Read(ctx, path)
		return b, err
	})
	if err != nil {
		return nil, err
	}
	out := plan{NewSymbolID: string(d.NewSymbolID), Files: map[string]string{}, Quick: "passed"}
	_, out.Warnings = s.Notes()
	out.Warnings = append([]string{}, out.Warnings...)
	for _, f := range files {
		content := string(f.After)
		if f.Kind == change.Delete {
			content = "(deleted)"
		}
		out.Files[s.Relative(f.Target())] = content
	}
	q, err := d.Quick(ctx, files)
	if err != nil {
		return nil, err
	}
	if q.Skipped != "" || len(q.Problems)+len(q.Lost) > 0 {
		b, err := json.Marshal(q)
		if err != nil {
			return nil, err
		}
		out.Quick = string(b)
	}
	return out, nil
}

func put(a *txtar.Archive, name string, data []byte) {
	for i := range a.Files {
		if a.Files[i].Name == name {
			a.Files[i].Data = data
			return
		}
	}
	a.Files = append(a.Files, txtar.File{Name: name, Data: data})
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestEverySpecIsBoundOnce pairs the contract with the handlers: an operation
// on code that nothing answers, or a handler that nothing declares, is a lie.
func TestEverySpecIsBoundOnce(t *testing.T) {
	handlers := op.Handlers()
	for _, s := range api.Specs() {
		h, ok := handlers[s.Name]
		if s.Tool == "" && s.Group != "Search" {
			if ok {
				t.Errorf("%s is no operation on code and has a handler here", s.Name)
			}
			continue
		}
		if !ok {
			t.Errorf("%s has no handler", s.Name)
			continue
		}
		if (h.Plan != nil) != s.Mutating || (h.Query != nil) == s.Mutating {
			t.Errorf("%s: mutating is %v, but Plan is %v and Query %v", s.Name, s.Mutating, h.Plan != nil, h.Query != nil)
		}
		delete(handlers, s.Name)
	}
	for name := range handlers {
		t.Errorf("handler %s has no Spec", name)
	}
}

// rustup returns the folder of the toolchains, which may be that of another home.
func rustup() string {
	if dir := os.Getenv("RUSTUP_HOME"); dir != "" {
		return dir
	}
	return filepath.Join(os.Getenv("HOME"), ".rustup")
}
