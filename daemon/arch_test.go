package daemon_test

import (
	"slices"
	"strings"
	"testing"
)

// The table of layers. A package may import packages of ours that its row
// names, all of lower layers, so that a cycle cannot be written. ARCHITECTURE.md
// tells the same as prose; this is the one that is enforced.

// pkg is one row.
type pkg struct {
	layer int
	may   string // packages of ours that it may import; "*" is lspclient/text and lspclient/change
	why   string // what it owns, and hence why it needs no more
}

// layers holds every package of the module, also those that are still to come.
// A package without a row fails the test: say where it stands before writing it.
var layers = map[string]pkg{
	"daemon/api":     {0, "", "the contract: requests, answers, Specs, error codes; clients link it alone"},
	"daemon/config":  {0, "", "TOML to Config; defaults documented once"},
	"lspclient/text": {0, "", "positions and byte edits; pure"},
	"lspclient/proc": {0, "", "child processes; must not know LSP"},
	"lspclient/wire": {0, "", "frames and ordered dispatch; must not know servers"},
	"graph/watch":    {0, "", "file events to settled batches; must not know servers"},
	"graph":          {0, "", "symbols and their ids; must not know storage or LSP"},

	"lspclient/change":  {1, "lspclient/text", "change.Set, pure; must not know the disk"},
	"graph/syntax":      {1, "graph", "a file into symbols; queries arrive as data"},
	"graph/record":      {1, "graph lspclient/text", "the symbols and words of a file in few bytes; knows no storage"},
	"graph/store":       {1, "graph", "the file that keeps records; the only writer of it"},
	"graph/search":      {1, "graph", "names, chunks, ranking"},
	"daemon/api/schema": {1, "daemon/api", "JSON Schemas of the contract; apart, as its library is slow to start"},
	"daemon/serve":      {1, "daemon/api", "the socket; gets a dispatch func, so it must not know operations"},
	"daemon/client":     {1, "daemon/api daemon/config", "typed client; starts the daemon, whose socket config places"},
	"daemon/session":    {1, "daemon/api", "sessions and the tracker"},

	"lspclient": {2, "lspclient/wire *", "one connection to one server; must not know which, nor processes"},

	"graph/index":  {2, "graph graph/record graph/syntax", "symbols of a workspace in memory, found by name, id and base"},
	"daemon/view":  {2, "graph/watch *", "the current text; must not know servers"},
	"adapters":     {2, "graph graph/syntax *", "the interfaces of a language; must not know the daemon"},
	"daemon/mcp":   {2, "daemon/api daemon/api/schema daemon/client", "runs in auractl's process; must not know servers"},
	"daemon/agent": {2, "daemon/api daemon/client", "runs in auractl's process; must not know servers"},

	"graph/syntax/syntaxtest": {2, "graph graph/syntax *", "goldens of what is extracted from a file; for tests of languages"},

	"graph/ingest":          {3, "graph graph/index graph/record graph/store graph/syntax", "dirty files to index and store; which ones, its caller tells"},
	"lspclient/lsptest":     {3, "lspclient lspclient/wire *", "the scriptable fake server; for tests of everything above"},
	"adapters/recipe":       {3, "adapters graph graph/syntax *", "algorithms true of several languages"},
	"adapters/adapterstest": {3, "adapters graph graph/syntax/syntaxtest *", "what tests of every language assert; for tests of languages"},
	"daemon/edit":           {3, "daemon/api daemon/view *", "the only writer of user files; must not know servers"},
	"daemon/supervise":      {3, "daemon/api daemon/view adapters lspclient lspclient/proc lspclient/wire *", "instances and leases; must not know operations"},

	"adapters/golang":     {4, "adapters adapters/recipe graph graph/syntax *", "one language; knows neither daemon nor processes nor its siblings"},
	"adapters/rust":       {4, "adapters adapters/recipe graph graph/syntax *", "one language"},
	"adapters/python":     {4, "adapters adapters/recipe graph graph/syntax *", "one language"},
	"adapters/typescript": {4, "adapters adapters/recipe graph graph/syntax *", "one language"},
	"adapters/csharp":     {4, "adapters adapters/recipe graph graph/syntax *", "one language"},
	"adapters/java":       {4, "adapters adapters/recipe graph graph/syntax", "one language, by its grammar alone"},
	"adapters/c":          {4, "adapters adapters/recipe graph graph/syntax", "C and C++, by their grammars alone"},
	"adapters/ruby":       {4, "adapters adapters/recipe graph graph/syntax", "one language, by its grammar alone"},
	"adapters/php":        {4, "adapters adapters/recipe graph graph/syntax", "one language, by its grammar alone"},
	"adapters/bash":       {4, "adapters adapters/recipe graph graph/syntax", "one language, by its grammar alone"},
	"daemon/workbench":    {4, "daemon/api daemon/view daemon/supervise adapters graph graph/syntax graph/index graph/ingest graph/store graph/search graph/watch lspclient *", "implements adapters.Bench; must not write"},
	"daemon/validate":     {4, "daemon/api daemon/view daemon/supervise adapters lspclient/proc *", "runs a language's checks; must not know language names or edit"},
	"daemon/proxy":        {4, "daemon/api daemon/view daemon/supervise *", "editors: LSP in, shared server out; refactorings come by dispatch"},

	"adapters/registry": {5, "adapters adapters/golang adapters/rust adapters/python adapters/typescript adapters/csharp adapters/java adapters/c adapters/ruby adapters/php adapters/bash", "the literal list of languages"},
	"daemon/resolve":    {5, "daemon/api daemon/workbench adapters adapters/recipe graph graph/syntax *", "an address to a symbol: the one place"},
	"daemon/transact":   {5, "daemon/api daemon/view daemon/edit daemon/validate *", "the one mutating pipeline; must not know operations"},

	"daemon/op": {6, "daemon/api daemon/resolve daemon/workbench adapters adapters/recipe graph graph/search *", "plans and answers; must not write, nor know sockets"},

	"daemon": {7, "daemon/api daemon/config daemon/serve daemon/session daemon/view daemon/edit daemon/supervise " +
		"daemon/workbench daemon/validate daemon/proxy daemon/resolve daemon/transact daemon/op " +
		"adapters adapters/registry graph graph/store graph/search graph/ingest graph/syntax graph/watch lspclient lspclient/proc *",
		"wires everything; client, mcp and agent live in auractl's process"},

	"cmd/aurad":   {8, "daemon daemon/api daemon/config daemon/serve", "main only"},
	"cmd/auractl": {8, "daemon/api daemon/config daemon/client daemon/mcp daemon/agent", "the command line; no cgo and no database, so that its help needs nothing"},

	"daemon/e2e": {9, "", "end-to-end tests of the built programs; no code of its own"},
}

// thirdParty names who may import a module of others. A module without an
// entry fails the test: CONTRIBUTING.md says what a new one must bring.
var thirdParty = map[string]string{
	"github.com/fsnotify/fsnotify":                  "graph/watch",
	"github.com/kljensen/snowball":                  "graph/search",
	"go.lsp.dev/jsonrpc2":                           "lspclient/wire daemon/serve daemon/client",
	"go.lsp.dev/protocol":                           "lspclient lspclient/wire lspclient/lsptest adapters adapters/recipe adapters/golang adapters/rust adapters/python adapters/typescript adapters/csharp daemon/supervise daemon/workbench daemon/proxy daemon/resolve daemon/op daemon",
	"go.lsp.dev/uri":                                "lspclient lspclient/lsptest",
	"github.com/go-json-experiment/json":            "lspclient lspclient/wire",
	"github.com/spf13/cobra":                        "cmd/auractl",
	"github.com/spf13/pflag":                        "cmd/auractl",
	"github.com/pelletier/go-toml":                  "daemon/config adapters/rust adapters/python",
	"github.com/google/jsonschema-go":               "daemon/api/schema",
	"github.com/aymanbagabas/go-udiff":              "lspclient/change cmd/auractl",
	"github.com/bmatcuk/doublestar":                 "daemon/view graph/watch adapters/rust adapters/python adapters/typescript",
	"go.etcd.io/bbolt":                              "graph/store",
	"github.com/tree-sitter/go-tree-sitter":         "graph/syntax",
	"github.com/tree-sitter/tree-sitter-python":     "adapters/python",
	"github.com/tree-sitter/tree-sitter-rust":       "adapters/rust",
	"github.com/tree-sitter/tree-sitter-javascript": "adapters/typescript",
	"github.com/tree-sitter/tree-sitter-typescript": "adapters/typescript",
	"github.com/tree-sitter/tree-sitter-c-sharp":    "adapters/csharp",
	"github.com/tree-sitter/tree-sitter-java":       "adapters/java",
	"github.com/tree-sitter/tree-sitter-c":          "adapters/c",
	"github.com/tree-sitter/tree-sitter-cpp":        "adapters/c",
	"github.com/tree-sitter/tree-sitter-ruby":       "adapters/ruby",
	"github.com/tree-sitter/tree-sitter-php":        "adapters/php",
	"github.com/tree-sitter/tree-sitter-bash":       "adapters/bash",
	"github.com/prometheus/client_golang":           "daemon",
	"github.com/prometheus/common":                  "daemon",
	"golang.org/x/mod":                              "adapters/golang",
	"golang.org/x/sync":                             "any",
	"golang.org/x/sys":                              "lspclient/proc graph/watch daemon/view daemon/edit daemon/validate daemon/serve daemon/client daemon cmd/auractl cmd/aurad",
	"golang.org/x/term":                             "cmd/auractl",
	"golang.org/x/tools":                            "tests",
	"github.com/google/go-cmp":                      "tests",
	"github.com/rogpeppe/go-internal":               "tests",
	"go.uber.org/goleak":                            "tests",
}

// expand splits a row's list of packages.
func expand(may string) []string {
	var list []string
	for _, p := range strings.Fields(may) {
		if p == "*" {
			list = append(list, "lspclient/text", "lspclient/change")
			continue
		}
		list = append(list, p)
	}
	return list
}

// TestLayerTable checks the table itself: every row names known packages of
// lower layers, so that following it cannot give a cycle.
func TestLayerTable(t *testing.T) {
	for name, row := range layers {
		for _, p := range expand(row.may) {
			low, ok := layers[p]
			switch {
			case !ok:
				t.Errorf("%s may import %s, which has no row", name, p)
			case low.layer >= row.layer:
				t.Errorf("%s (layer %d) may import %s (layer %d): only lower layers", name, row.layer, p, low.layer)
			}
		}
		if row.why == "" {
			t.Errorf("%s has no reason", name)
		}
	}
	for module, owners := range thirdParty {
		for _, p := range strings.Fields(owners) {
			if _, ok := layers[p]; !ok && p != "any" && p != "tests" {
				t.Errorf("%s is owned by %s, which has no row", module, p)
			}
		}
	}
}

// TestArchitecture holds the tree to the table and to the rules of arch_rules_test.go.
func TestArchitecture(t *testing.T) {
	tree := readTree(t, "..")
	if len(tree.files) < 20 {
		t.Fatalf("read only %d Go files: this test looks at the wrong folder", len(tree.files))
	}
	for _, fault := range tree.faults() {
		t.Error(fault)
	}
}

// TestArchitectureCanFail feeds each rule something that breaks it.
func TestArchitectureCanFail(t *testing.T) {
	const comment = "// Package x owns nothing. It starts no goroutines.\n"
	cases := []struct{ name, path, source, want string }{
		{"higher layer", "daemon/api/x.go", comment + "package api\nimport _ \"" + module + "/daemon/view\"\n", "may not import daemon/view"},
		{"sibling language", "adapters/rust/x.go", comment + "package rust\nimport _ \"" + module + "/adapters/golang\"\n", "may not import adapters/golang"},
		{"unknown package", "daemon/util/x.go", comment + "package util\n", "has no row"},
		{"foreign module", "daemon/view/x.go", comment + "package view\nimport _ \"github.com/fsnotify/fsnotify\"\n", "belongs to graph/watch"},
		{"unknown module", "daemon/view/x.go", comment + "package view\nimport _ \"example.com/new/thing\"\n", "has no owner"},
		{"test module in code", "daemon/view/x.go", comment + "package view\nimport _ \"go.uber.org/goleak\"\n", "belongs to tests"},
		{"lsptest in code", "daemon/supervise/x.go", comment + "package supervise\nimport _ \"" + module + "/lspclient/lsptest\"\n", "may not import lspclient/lsptest"},
		{"test of a higher layer", "daemon/view/x_test.go", "package view\nimport _ \"" + module + "/daemon/op\"\n", "may not import daemon/op"},
		{"no package comment", "daemon/view/x.go", "package view\n", "no package comment"},
		{"comment without goroutines", "daemon/view/x.go", "// Package view owns text.\npackage view\n", "goroutines"},
		{"long file", "daemon/view/x.go", comment + "package view\n" + strings.Repeat("\n", maxLines), "lines"},
		{"naked go", "daemon/view/x.go", comment + "package view\nfunc (v *View) read() { go func() {}() }\n", "go statement in read"},
		{"naked go at package level", "daemon/view/x.go", comment + "package view\nvar f = func() { go g() }\n", "go statement outside"},
		{"sleep", "daemon/view/x_test.go", "package view\nimport zz \"time\"\nfunc f() { zz.Sleep(1) }\n", "Sleep"},
		{"server name", "daemon/view/x.go", comment + "package view\nconst s = \"run Gop" + "ls now\"\n", "names a server"},
		{"language name", "daemon/view/x.go", comment + "package view\nconst s = \"type" + "script\"\n", "names a language"},
		{"file extension", "daemon/view/x.go", comment + "package view\nconst s = \".g" + "o\"\n", "names a language"},
		{"machine path", "daemon/view/x.go", comment + "package view\n// see /wo" + "rk/main\n", "machine path"},
		{"top-level package state", "daemon/view/x.go", comment + "package view\nvar count int\n", "package-level state"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			tree := newTree()
			tree.add(t, c.path, []byte(c.source))
			faults := tree.faults()
			if !slices.ContainsFunc(faults, func(f string) bool { return strings.Contains(f, c.want) }) {
				t.Errorf("no fault contains %q; got %q", c.want, faults)
			}
		})
	}
}

// TestArchitectureAccepts shows that the rules leave honest code alone.
func TestArchitectureAccepts(t *testing.T) {
	tree := newTree()
	tree.add(t, "daemon/view/x.go", []byte(`// Package view owns text. Goroutines: one, ended by Close.
package view

import (
	"errors"
	"sync"
	"time"

	"`+module+`/graph/watch"
	"`+module+`/lspclient/text"
)

var errGone = errors.New("gone")

var _ text.Edit

func Open(w *watch.Watcher) { go func() {}() }

func startLoop() { go func() {}() }

func (v *View) read(wg *sync.WaitGroup) { wg.Go(func() { <-time.After(1) }) }
`))
	tree.add(t, "daemon/view/x_test.go", []byte("package view\nimport _ \"go.uber.org/goleak\"\nfunc f() { go f() }\nconst s = \"gop"+"ls\"\n"))
	tree.add(t, "adapters/golang/x.go", []byte("// Package golang knows Go. It starts no goroutines.\npackage golang\nconst s = \"gop"+"ls\"\n"))
	if faults := tree.faults(); len(faults) != 0 {
		t.Errorf("faults in honest code: %q", faults)
	}
}
