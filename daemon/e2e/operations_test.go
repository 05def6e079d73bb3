package e2e

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/lspclient/lsptest"
)

var tableFile = flag.String("table", "", "write the table of operations by language between the marks of this Markdown file")

// shopOf is the shop of testdata/workspaces in one language: what its symbols
// are called and where they are.
type shopOf struct {
	language string   // as people call it
	tools    []string // programs that have to be there
	store    string   // the file that declares them
	prepare  func(t testing.TB, dir string)

	order, sum, saver, save, memory, disk, checkout string // names
	references                                      int    // to Order, its declaration included
	line                                            int    // of Checkout, which takes a parameter order
}

func shops() map[string]shopOf {
	lower := shopOf{order: "Order", sum: "sum", saver: "Saver", save: "save", memory: "Memory", disk: "Disk", checkout: "checkout"}
	upper := shopOf{order: "Order", sum: "Sum", saver: "Saver", save: "Save", memory: "Memory", disk: "Disk", checkout: "Checkout"}
	with := func(s shopOf, language, store string, references int, tools ...string) shopOf {
		s.language, s.store, s.references, s.tools = language, store, references, tools
		return s
	}
	all := map[string]shopOf{
		"go":         with(upper, "Go", "store/store.go", 8, "gopls"),
		"rust":       with(lower, "Rust", "src/store.rs", 9, "rust-analyzer"),
		"python":     with(lower, "Python", "shop/store.py", 8, "pyright-langserver"),
		"typescript": with(lower, "TypeScript", "src/store.ts", 8, "typescript-language-server"),
		"csharp":     with(upper, "C#", "Store.cs", 7, "roslyn-lsp", "dotnet"),
	}
	sharp := all["csharp"]
	sharp.prepare = func(t testing.TB, dir string) {
		done(t, dir, nil, lsptest.Tool(t, "dotnet"), "restore", "-v", "quiet")
	}
	all["csharp"] = sharp
	return all
}

// unpack writes a workspace of testdata into a new folder.
func unpack(t testing.TB, lang, name string) string {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("..", "..", "testdata", "workspaces", lang, name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "src")
	for _, f := range archive.Files {
		write(t, filepath.Join(dir, f.Name), string(f.Data))
	}
	return dir
}

// openShop makes a user who trusts the shop in a language.
func openShop(t testing.TB, lang string) (shopOf, *world) {
	t.Helper()
	s := shops()[lang]
	for _, tool := range s.tools {
		lsptest.Tool(t, tool)
	}
	dir := unpack(t, lang, "shop")
	if s.prepare != nil {
		s.prepare(t, dir)
	}
	for i, line := range strings.Split(read(t, filepath.Join(dir, s.store)), "\n") {
		if strings.Contains(line, " "+s.checkout+"(") {
			s.line = i + 1
		}
	}
	return s, newWorld(t, dir)
}

// cell is an operation of the table: it returns where the answer came from, or
// the refusal, and an error when the answer is wrong.
type cell struct {
	operation string
	ask       func(t *testing.T, s shopOf, w *world) (source string, refusal *api.Error, wrong error)
}

func cells() []cell {
	return []cell{
		placesCell("definition", func(s shopOf) map[string]any { return map[string]any{"symbolName": s.checkout} }, func(s shopOf, p api.Places) error {
			return only(p.Locations, s.store, s.checkout)
		}),
		placesCell("type_definition", func(s shopOf) map[string]any {
			return map[string]any{"symbolName": "order", "filePath": s.store, "line": s.line}
		}, func(s shopOf, p api.Places) error { return only(p.Locations, s.store, s.order) }),
		placesCell("references", func(s shopOf) map[string]any { return map[string]any{"symbolName": s.order, "limit": all} }, func(s shopOf, p api.Places) error {
			return total(p.Total, s.references)
		}),
		placesCell("usages", func(s shopOf) map[string]any { return map[string]any{"symbolName": s.order, "limit": all} }, func(s shopOf, p api.Places) error {
			return total(p.Total, s.references-1)
		}),
		symbolsCell("callers", func(s shopOf) string { return s.order + "." + s.sum }, func(s shopOf) []string { return []string{s.checkout} }),
		symbolsCell("callees", func(s shopOf) string { return s.checkout }, func(s shopOf) []string { return []string{s.save, s.sum} }),
		symbolsCell("implementations", func(s shopOf) string { return s.saver }, func(s shopOf) []string { return []string{s.disk, s.memory} }),
		symbolsCell("implementations", func(s shopOf) string { return s.saver + "." + s.save }, func(s shopOf) []string { return []string{s.save, s.save} }),
		symbolsCell("derived_types", func(s shopOf) string { return s.saver }, func(s shopOf) []string { return []string{s.disk, s.memory} }),
		symbolsCell("supertypes", func(s shopOf) string { return s.memory }, func(s shopOf) []string { return []string{s.saver} }),
		{"outline", func(t *testing.T, s shopOf, w *world) (string, *api.Error, error) {
			var out api.Symbols
			refusal := w.call(t, "code.inspect", map[string]any{"operation": "outline", "filePath": s.store}, &out)
			top := out.Symbols
			if len(top) == 1 {
				top = top[0].Children // of a namespace
			}
			for _, name := range []string{s.order, s.saver, s.memory, s.disk} {
				if refusal == nil && !slices.ContainsFunc(top, func(x api.SymbolEntry) bool { return x.Name == name && x.Line > 0 }) {
					return out.Source, nil, fmt.Errorf("the outline lacks %s: %+v", name, out.Symbols)
				}
			}
			return out.Source, refusal, nil
		}},
		{"symbol", func(t *testing.T, s shopOf, w *world) (string, *api.Error, error) {
			var out api.SymbolDetails
			refusal := w.call(t, "code.inspect", map[string]any{"operation": "symbol", "symbolName": s.order}, &out)
			if refusal == nil && (len(out.Symbols) != 1 || out.Symbols[0].Counts == nil || out.Symbols[0].Counts.References == nil || *out.Symbols[0].Counts.References != s.references-1) {
				return out.Source, nil, fmt.Errorf("%+v", out)
			}
			return out.Source, refusal, nil
		}},
		{"diagnostics", func(t *testing.T, s shopOf, w *world) (string, *api.Error, error) {
			path := filepath.Join(w.ws, s.store)
			before := read(t, path)
			defer write(t, path, before)
			write(t, path, argument.ReplaceAllString(before, "$1()"))
			var out api.Diagnostics
			refusal := w.call(t, "code.inspect", map[string]any{"operation": "diagnostics", "filePath": s.store, "minSeverity": "error"}, &out)
			if refusal == nil && len(out.Diagnostics) == 0 {
				return out.Source, nil, errors.New("no error where an argument is missing")
			}
			return out.Source, refusal, nil
		}},
		listingCell("list_types", func(shopOf) map[string]any { return nil }, func(s shopOf) []string { return []string{s.disk, s.memory, s.order, s.saver} }),
		listingCell("type_members", func(s shopOf) map[string]any { return map[string]any{"symbolName": s.memory} }, func(s shopOf) []string { return []string{s.save} }),
		listingCell("by_signature", func(s shopOf) map[string]any { return map[string]any{"parameterType": s.order} }, func(s shopOf) []string {
			return []string{s.checkout, s.save}
		}),
		renameCell("rename a type", func(s shopOf) (string, string) { return s.order, "Purchase" }),
		renameCell("rename a member with its family", func(s shopOf) (string, string) { return s.memory + "." + s.save, like(s.save, "keep") }),
		renameCell("rename a function", func(s shopOf) (string, string) { return s.checkout, like(s.checkout, "pay") }),
	}
}

// argument is what a call needs, and every server misses.
var argument = regexp.MustCompile(`(order\.[sS]um)\(\w+\)`)

// like gives a name the case of another.
func like(name, lower string) string {
	if name[0] >= 'A' && name[0] <= 'Z' {
		return strings.ToUpper(lower[:1]) + lower[1:]
	}
	return lower
}

func only(locations []api.Place, file, name string) error {
	if len(locations) != 1 || locations[0].File != file || !strings.Contains(locations[0].Context, name) {
		return fmt.Errorf("%+v, want %s in %s", locations, name, file)
	}
	return nil
}

func total(got, want int) error {
	if got != want {
		return fmt.Errorf("%d places, want %d", got, want)
	}
	return nil
}

func placesCell(operation string, params func(shopOf) map[string]any, check func(shopOf, api.Places) error) cell {
	return cell{operation, func(t *testing.T, s shopOf, w *world) (string, *api.Error, error) {
		in := params(s)
		in["operation"] = operation
		var out api.Places
		if refusal := w.call(t, "code.navigate", in, &out); refusal != nil {
			return "", refusal, nil
		}
		if !out.Complete {
			return out.Source, nil, fmt.Errorf("not complete: %q", out.Warnings)
		}
		return out.Source, nil, check(s, out)
	}}
}

func symbolsCell(operation string, of func(shopOf) string, want func(shopOf) []string) cell {
	return cell{operation, func(t *testing.T, s shopOf, w *world) (string, *api.Error, error) {
		var out api.Symbols
		if refusal := w.call(t, "code.navigate", map[string]any{"operation": operation, "symbolName": of(s)}, &out); refusal != nil {
			return "", refusal, nil
		}
		var got []string
		for _, x := range out.Symbols {
			got = append(got, x.Name)
		}
		slices.Sort(got)
		switch {
		case !out.Complete:
			return out.Source, nil, fmt.Errorf("not complete: %q", out.Warnings)
		case !slices.Equal(got, want(s)):
			return out.Source, nil, fmt.Errorf("%s of %s: %q, want %q", operation, of(s), got, want(s))
		}
		return out.Source, nil, nil
	}}
}

// listingCell asks the graph, whose answer holds at least the wanted names.
func listingCell(operation string, params func(shopOf) map[string]any, want func(shopOf) []string) cell {
	return cell{operation, func(t *testing.T, s shopOf, w *world) (string, *api.Error, error) {
		in := map[string]any{"operation": operation}
		maps.Copy(in, params(s))
		var out api.Listing
		if refusal := w.call(t, "code.inspect", in, &out); refusal != nil {
			return "", refusal, nil
		}
		if !out.Complete {
			return out.Source, nil, fmt.Errorf("not complete: %q", out.Warnings)
		}
		for _, name := range want(s) {
			if !slices.ContainsFunc(out.Symbols, func(x api.ListedSymbol) bool { return x.Name == name }) {
				return out.Source, nil, fmt.Errorf("%s lacks %s: %+v", operation, name, out.Symbols)
			}
		}
		return out.Source, nil, nil
	}}
}

// renameCell renames, lets the language's build decide, and takes it back.
func renameCell(operation string, names func(shopOf) (from, to string)) cell {
	return cell{operation, func(t *testing.T, s shopOf, w *world) (string, *api.Error, error) {
		from, to := names(s)
		before := snapshot(t, w.ws)
		var out api.EditResult
		if refusal := w.call(t, "aura_rename_symbol", map[string]any{"symbolName": from, "newName": to}, &out); refusal != nil {
			return "", refusal, nil
		}
		if out.Validation == nil || !out.Validation.Success || out.Validation.Skipped != "" {
			return "", nil, fmt.Errorf("not validated: %+v", out.Validation)
		}
		old := from[strings.LastIndex(from, ".")+1:]
		if left := read(t, filepath.Join(w.ws, s.store)); strings.Contains(left, " "+old+"(") {
			return "", nil, fmt.Errorf("%s is still there:\n%s", old, left)
		}
		w.must(t, "aura_undo", map[string]any{"undoToken": out.UndoToken}, nil)
		if d := differences(before, snapshot(t, w.ws)); len(d) > 0 {
			return "", nil, fmt.Errorf("after the undo: %q", d)
		}
		return "server", nil, nil
	}}
}

// TestOperations asks every operation of the spine in every language on the
// real server: it passes, falls back to what Aura computes itself, or is
// refused as the capability table says; nothing else.
func TestOperations(t *testing.T) {
	results := map[string]map[string]string{} // by language and operation
	for _, lang := range slices.Sorted(maps.Keys(shops())) {
		t.Run(lang, func(t *testing.T) {
			s, w := openShop(t, lang)
			result := map[string]string{}
			results[s.language] = result
			for _, c := range cells() {
				source, refusal, wrong := c.ask(t, s, w)
				var got string
				switch {
				case refusal != nil && refusal.Code == api.UnsupportedOperation:
					got = "refused"
				case refusal != nil:
					t.Errorf("%s: %v", c.operation, refusal)
				case wrong != nil:
					t.Errorf("%s: %v", c.operation, wrong)
				case source == "server":
					got = "pass"
				case source != "":
					got = "fallback"
				default:
					t.Errorf("%s: an answer without a source", c.operation)
				}
				if have := result[c.operation]; have != "" && have != got {
					got = have + ", " + got
				}
				result[c.operation] = got
			}
		})
	}
	rendered := renderTable(results)
	t.Log("\n" + rendered)
	if *tableFile != "" && !t.Failed() {
		content := read(t, *tableFile)
		head, rest, ok := strings.Cut(content, "<!-- operations -->\n")
		_, tail, ok2 := strings.Cut(rest, "<!-- end of operations -->")
		if !ok || !ok2 {
			t.Fatalf("%s has no marks for the table", *tableFile)
		}
		if err := os.WriteFile(*tableFile, []byte(head+"<!-- operations -->\n"+rendered+"<!-- end of operations -->"+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func renderTable(results map[string]map[string]string) string {
	languages := []string{"Go", "Rust", "Python", "TypeScript", "C#"}
	var b strings.Builder
	b.WriteString("| operation | " + strings.Join(languages, " | ") + " |\n|---" + strings.Repeat("|---", len(languages)) + "|\n")
	seen := map[string]bool{}
	for _, c := range cells() {
		if seen[c.operation] {
			continue
		}
		seen[c.operation] = true
		b.WriteString("| " + c.operation)
		for _, l := range languages {
			b.WriteString(" | " + results[l][c.operation])
		}
		b.WriteString(" |\n")
	}
	return b.String()
}
