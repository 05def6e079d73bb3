package e2e

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/registry"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
)

// skipped are folders that hold no sources of a project.
var skipped = []string{".git", ".aura", "node_modules", ".venv", "target", "obj", "bin", "dist"}

// prescribed are names that something outside a project knows: a runtime, the
// standard library, a test runner. No tool can rename them, so that picking
// them would measure nothing.
var prescribed = map[string]*regexp.Regexp{
	"rust": regexp.MustCompile(`^(main|fmt|from|into|try_from|try_into|from_str|next|next_back|size_hint|clone|drop|deref|deref_mut|as_ref|as_mut|borrow|borrow_mut|` +
		`eq|ne|cmp|partial_cmp|hash|default|index|index_mut|into_iter|from_iter|extend|add|sub|mul|div|neg|not|shl|shr|bitand|bitor|bitxor|to_string|to_owned|` +
		`source|description|poll|call|self|Self|Item|IntoIter|Output|Err|Error|Target|Owned|serialize|deserialize|.*_assign|_.*)$`),
	"python":     regexp.MustCompile(`^(__.*__|_|self|cls|main|test_.*|setUp|tearDown|args|kwargs)$`),
	"typescript": regexp.MustCompile(`^(constructor|toString|toJSON|valueOf|then|catch|finally|next|return|throw|length|default|this|_)$`),
	"csharp":     regexp.MustCompile(`^(Main|ToString|Equals|GetHashCode|Dispose|GetEnumerator|CompareTo|Deconstruct|this|_)$`),
}

// syntaxPicks lists what the files of a language below dir declare.
func syntaxPicks(t testing.TB, dir, lang string, only func(rel string) bool) []pick {
	t.Helper()
	i := slices.IndexFunc(registry.Languages(), func(l adapters.Adapter) bool { return l.Language().ID == lang })
	a := registry.Languages()[i]
	var all []pick
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains(skipped, d.Name()) {
			return filepath.SkipDir
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil || d.IsDir() || !slices.Contains(a.Language().Extensions, filepath.Ext(path)) || strings.HasSuffix(path, ".d.ts") || !only(filepath.ToSlash(rel)) {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil || a.Language().Generated(content) {
			return err
		}
		tree, err := a.Syntax().Read(path, content, syntax.Place{Language: lang, Root: dir, Project: "."})
		if err != nil {
			return err
		}
		all = append(all, declared(filepath.ToSlash(rel), content, tree, prescribed[lang])...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// declared lists what one file declares, each symbol once.
func declared(file string, content []byte, tree *syntax.Tree, skip *regexp.Regexp) []pick {
	owners := map[string]graph.Kind{}
	for _, s := range tree.Symbols {
		owners[s.Qualified] = s.Kind
	}
	var picks []pick
	seen := map[graph.ID]bool{}
	for _, s := range tree.Symbols {
		kind := kindOf(s, owners[s.Container])
		if kind == "" || seen[s.ID] || skip.MatchString(s.Name) || string(content[s.NameSpan.Start:s.NameSpan.End]) != s.Name || slices.Contains(s.Modifiers, "override") {
			continue
		}
		seen[s.ID] = true
		line := bytes.LastIndexByte(content[:s.NameSpan.Start], '\n') + 1
		picks = append(picks, pick{
			kind: kind, name: s.Name, owner: s.Container, file: file,
			line:   bytes.Count(content[:s.NameSpan.Start], []byte("\n")) + 1,
			column: len(bytes.TrimPrefix(content[line:s.NameSpan.Start], []byte("\uFEFF"))) + 1,
		})
	}
	return picks
}

// kindOf names a symbol as the table of picks does; what cannot be renamed by
// itself, a constructor say, is none.
func kindOf(s graph.Symbol, owner graph.Kind) string {
	switch s.Kind {
	case graph.KindClass, graph.KindStruct, graph.KindInterface, graph.KindTrait, graph.KindEnum, graph.KindRecord, graph.KindTypeAlias:
		return "type"
	case graph.KindMethod:
		if owner == graph.KindInterface || owner == graph.KindTrait {
			return "interface method"
		}
		return "method"
	case graph.KindField, graph.KindProperty, graph.KindEnumMem, graph.KindEvent:
		return "field"
	case graph.KindFunction:
		return "function"
	case graph.KindConstant:
		if !s.Local {
			return "constant"
		}
		return "local"
	case graph.KindParameter:
		return "parameter"
	case graph.KindVariable:
		if s.Local {
			return "local"
		}
		return "variable"
	}
	return ""
}

// apart keeps a copy of a workspace to build in, so that judging leaves the
// workspace alone; only files that differ are written, so that builds stay short.
func apart(t testing.TB, ws, judge string) {
	t.Helper()
	keep := map[string]bool{}
	err := filepath.WalkDir(ws, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(ws, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if rel != "." && slices.Contains(skipped, d.Name()) {
				return filepath.SkipDir
			}
			return os.MkdirAll(filepath.Join(judge, rel), 0o755)
		}
		if !d.Type().IsRegular() {
			return nil
		}
		keep[rel] = true
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		to := filepath.Join(judge, rel)
		if have, err := os.ReadFile(to); err == nil && bytes.Equal(have, content) {
			return nil
		}
		return os.WriteFile(to, content, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(judge, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(judge, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && rel != "." && slices.Contains(skipped, d.Name()):
			return filepath.SkipDir
		case d.Type().IsRegular() && !keep[rel]:
			return os.Remove(path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// output runs a tool and returns what it printed, whatever its exit code.
func output(t testing.TB, dir string, env []string, argv ...string) string {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if exit := cmd.ProcessState; exit == nil {
		t.Fatalf("%q: %v", argv, err)
	}
	return string(out)
}

// done runs a tool that must succeed.
func done(t testing.TB, dir string, env []string, argv ...string) string {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", argv, err, out)
	}
	return string(out)
}

// matching returns the lines that a pattern finds, without the parts that
// move, the line and column numbers.
func matching(printed string, line *regexp.Regexp) map[string]bool {
	found := map[string]bool{}
	for l := range strings.Lines(printed) {
		if line.MatchString(l) {
			found[numbers.ReplaceAllString(strings.TrimSpace(l), "#")] = true
		}
	}
	return found
}

var numbers = regexp.MustCompile(`\d+`)
