package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func write(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestLoadDefaults(t *testing.T) {
	c, origins, err := Load(Source{File: filepath.Join(t.TempDir(), "missing.toml")})
	if err != nil {
		t.Fatal(err)
	}
	want := &Config{
		Daemon:   Daemon{IdleStopMinutes: 60, ServerIdleMinutes: 30, LogLevel: "info"},
		Validate: Validate{BuildTimeoutSeconds: 30, EditTimeoutSeconds: 300, KeepDays: 14, KeepMegabytes: 10000, Shadow: true},
		Journal:  Journal{KeepDays: 14, KeepTransactions: 200, KeepMegabytes: 500},
		Limits:   Limits{Connections: 256, QueuedRequests: 512, FrameMegabytes: 64, OutboundMegabytes: 16, FileMegabytes: 16, TransactionFiles: 10000, Crashes: 5, CrashSeconds: 300, LoadingSeconds: 60},
		Search:   Search{Embeddings: Embeddings{TimeoutSeconds: 5, Candidates: 50, CacheMegabytes: 64}},
	}
	if d := cmp.Diff(want, c); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	for _, v := range c.Values(origins) {
		if v.Origin != "default" || v.Doc == "" {
			t.Errorf("%+v", v)
		}
	}
}

func TestLoadOrder(t *testing.T) {
	file := write(t, `# mine
[validate]
shadow = false
edit_timeout_seconds = 10

[validate.commands]
go = ["make", "check"]

[servers.gopls]
command = ["/opt/gopls", "-v"]
settings = {staticcheck = true}
[servers]
rust-analyzer = {disabled = true}
`)
	c, origins, err := Load(Source{
		File:  file,
		Env:   []string{"AURA_VALIDATE_EDIT_TIMEOUT_SECONDS=20", "AURA_TRUST=1", "AURA_SESSION=x", "AURA_LIMITS_CONNECTIONS=3", "AURA_SERVERS_RUST_ANALYZER_COMMAND=ra --x", `AURA_TRUST_ROOTS=["/a b"]`},
		Flags: map[string]string{"limits.connections": "4", "daemon.log_level": "DEBUG"},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	values := map[string]any{}
	for _, v := range c.Values(origins) {
		if v.Origin != "default" {
			got[v.Key], values[v.Key] = strings.TrimPrefix(v.Origin, file), v.Value
		}
	}
	want := map[string]string{
		"validate.shadow": ":3", "validate.edit_timeout_seconds": "AURA_VALIDATE_EDIT_TIMEOUT_SECONDS",
		"limits.connections": "flag", "daemon.log_level": "flag", "trust.roots": "AURA_TRUST_ROOTS",
		"servers.gopls.command": ":10", "servers.gopls.settings": ":11",
		"servers.rust-analyzer.disabled": ":13", "servers.rust-analyzer.settings": ":13", "servers.rust-analyzer.trace": ":13", "servers.rust-analyzer.command": "AURA_SERVERS_RUST_ANALYZER_COMMAND",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("origins -want +got:\n%s", d)
	}
	wantValues := map[string]any{
		"validate.shadow": false, "validate.edit_timeout_seconds": 20, "limits.connections": 4, "daemon.log_level": "debug",
		"trust.roots": []string{"/a b"}, "servers.gopls.command": []string{"/opt/gopls", "-v"},
		"servers.gopls.settings": map[string]any{"staticcheck": true}, "servers.rust-analyzer.disabled": true, "servers.rust-analyzer.settings": map[string]any(nil), "servers.rust-analyzer.trace": false,
		"servers.rust-analyzer.command": []string{"ra", "--x"},
	}
	if d := cmp.Diff(wantValues, values); d != "" {
		t.Errorf("values -want +got:\n%s", d)
	}
	if d := cmp.Diff(map[string][]string{"go": {"make", "check"}}, c.Validate.Commands); d != "" {
		t.Error(d)
	}
}

func TestLoadRefuses(t *testing.T) {
	tests := []struct {
		name, text string
		env        string
		want       string // FILE stands for the file
	}{
		{"unknown key", "[validate]\n\nshadwo = true\n", "", "FILE:3:1: unknown key validate.shadwo; did you mean validate.shadow?"},
		{"unknown table", "[vaildate]\nshadow = true\n", "", "FILE:1:2: unknown key vaildate"},
		{"unknown server key", "[servers.gopls]\ncmd = []\n", "", "FILE:2:1: unknown key servers.gopls.cmd"},
		{"wrong type", "[limits]\nconnections = \"many\"\n", "", "FILE:2:15: limits.connections: "},
		{"syntax", "[limits\n", "", "FILE:1:"},
		{"too small", "\n[limits]\nconnections = 0\n", "", "FILE:3: limits.connections must be at least 1, not 0"},
		{"enum", "[daemon]\nlog_level = \"loud\"\n", "", "FILE:2: daemon.log_level must be one of debug, info, warn, error, not \"loud\""},
		{"unknown variable", "", "AURA_JOURNAL_KEEP_WEEKS=1", "AURA_JOURNAL_KEEP_WEEKS: there is no such setting"},
		{"variable of the wrong type", "", "AURA_JOURNAL_KEEP_DAYS=soon", "AURA_JOURNAL_KEEP_DAYS: must be a whole number, not \"soon\""},
		{"variable too small", "", "AURA_JOURNAL_KEEP_DAYS=0", "AURA_JOURNAL_KEEP_DAYS: journal.keep_days must be at least 1, not 0"},
		{"variable for a table of values", "", "AURA_SERVERS_GOPLS_SETTINGS=x", "AURA_SERVERS_GOPLS_SETTINGS: can be set in the file only"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := write(t, tt.text)
			src := Source{File: file}
			if tt.env != "" {
				src.Env = []string{tt.env}
			}
			c, _, err := Load(src)
			if err == nil {
				t.Fatalf("accepted: %+v", c)
			}
			if got := strings.ReplaceAll(err.Error(), file, "FILE"); !strings.HasPrefix(got, tt.want) {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestLoadRefusesFileThatOthersMayWrite(t *testing.T) {
	file := write(t, "")
	if err := os.Chmod(file, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Load(Source{File: file}); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Fatalf("got %v", err)
	}
}

func TestReloadIsWholeOrNot(t *testing.T) {
	file := write(t, "[journal]\nkeep_days = 3\n")
	s, err := Open(Source{File: file})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("[journal]\nkeep_days = 5\nkeep_megabytes = -1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Reload(); err == nil {
		t.Fatal("accepted a bad file")
	}
	if c, _ := s.Get(); c.Journal.KeepDays != 3 {
		t.Fatalf("half of a bad file was taken: %+v", c.Journal)
	}
	if err := os.WriteFile(file, []byte("[journal]\nkeep_days = 5\n[servers.x]\ndisabled = true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	changed, err := s.Reload()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"journal.keep_days", "servers.x.command", "servers.x.disabled", "servers.x.settings", "servers.x.trace"}
	if d := cmp.Diff(want, changed); d != "" {
		t.Error(d)
	}
	if c, _ := s.Get(); c.Journal.KeepDays != 5 {
		t.Fatalf("%+v", c.Journal)
	}
}

// Every setting has one default that its own check accepts, and a line of documentation.
func TestTags(t *testing.T) {
	for _, s := range append(settings(reflect.ValueOf(&Config{}).Elem(), ""), settings(reflect.ValueOf(&Server{}).Elem(), "")...) {
		if s.tag.Get("doc") == "" {
			t.Errorf("%s has no doc", s.key)
		}
		value, given := s.tag.Lookup("default")
		switch s.value.Kind() {
		case reflect.Int, reflect.Bool:
			given = value != ""
		case reflect.String: // may be empty, if it says so
		default:
			given = true
		}
		if !given {
			t.Errorf("%s has no default", s.key)
		}
	}
}
