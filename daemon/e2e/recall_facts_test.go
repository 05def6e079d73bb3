package e2e

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/auralsp/aura/lspclient/lsptest"
)

// factWriter prints facts of one file after another.
type factWriter struct {
	strings.Builder
	file string
}

func (w *factWriter) put(sort string, line int, name, value string) {
	fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\n", sort, w.file, line, name, value)
}

// putEach prints every value once.
func (w *factWriter) putEach(sort string, line int, name string, values []string) {
	slices.Sort(values)
	for _, v := range slices.Compact(values) {
		w.put(sort, line, name, v)
	}
}

// eachFile calls read with the files of an extension.
func eachFile(t *testing.T, dir, extension string, read func(path, rel string)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != extension {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err == nil {
			read(path, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// goFacts walks the trees of go/parser.
func goFacts(t *testing.T, dir string) string {
	var w factWriter
	fset := token.NewFileSet()
	eachFile(t, dir, ".go", func(path, rel string) {
		w.file = rel
		file, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if file == nil {
			t.Logf("%s: %v", rel, err)
			return
		}
		line := func(n ast.Node) int { return fset.Position(n.Pos()).Line }
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				putDirectives(&w, d.Doc, line(d.Name), d.Name.Name)
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if v, ok := s.(*ast.ValueSpec); ok && !d.Lparen.IsValid() {
						for _, name := range v.Names {
							putDirectives(&w, d.Doc, line(name), name.Name)
						}
					}
				}
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeSpec:
				w.put("type", line(n.Name), n.Name.Name, "")
				var embedded *ast.FieldList
				switch t := n.Type.(type) {
				case *ast.StructType:
					embedded = t.Fields
				case *ast.InterfaceType:
					embedded = t.Methods
				}
				if embedded != nil {
					for _, f := range embedded.List {
						if len(f.Names) == 0 {
							w.putEach("base", line(n.Name), n.Name.Name, goHeads(f.Type))
						}
					}
				}
			case *ast.FuncDecl:
				goSignature(&w, line(n.Name), n.Name.Name, n.Type)
			case *ast.InterfaceType:
				for _, f := range n.Methods.List {
					if ft, ok := f.Type.(*ast.FuncType); ok && len(f.Names) == 1 {
						goSignature(&w, line(f.Names[0]), f.Names[0].Name, ft)
					}
				}
			case *ast.StructType:
				for _, f := range n.Fields.List {
					if f.Tag == nil {
						continue
					}
					tag, err := strconv.Unquote(f.Tag.Value)
					if err != nil {
						continue
					}
					names := f.Names
					if len(names) == 0 {
						names = []*ast.Ident{embeddedName(f.Type)}
					}
					for _, name := range names {
						for _, key := range regexp.MustCompile(`(?:^| )([^ :"]+):"(?:[^"\\]|\\.)*"`).FindAllStringSubmatch(tag, -1) {
							if name.Name != "_" {
								w.put("attribute", line(name), name.Name, key[1])
							}
						}
					}
				}
			}
			return true
		})
	})
	return w.String()
}

func putDirectives(w *factWriter, doc *ast.CommentGroup, line int, name string) {
	if doc == nil || name == "_" {
		return
	}
	for _, c := range doc.List {
		if rest, ok := strings.CutPrefix(c.Text, "//go:"); ok {
			verb, _, _ := strings.Cut(rest, " ")
			w.put("attribute", line, name, "go:"+strings.TrimSpace(verb))
		}
	}
}

func goSignature(w *factWriter, line int, name string, f *ast.FuncType) {
	of := func(list *ast.FieldList) (heads []string) {
		if list != nil {
			for _, field := range list.List {
				heads = append(heads, goHeads(field.Type)...)
			}
		}
		return heads
	}
	if name != "_" {
		w.putEach("result", line, name, of(f.Results))
		w.putEach("parameter", line, name, of(f.Params))
	}
}

func embeddedName(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.Ident:
		return e
	case *ast.StarExpr:
		return embeddedName(e.X)
	case *ast.SelectorExpr:
		return e.Sel
	case *ast.IndexExpr:
		return embeddedName(e.X)
	case *ast.IndexListExpr:
		return embeddedName(e.X)
	}
	return &ast.Ident{Name: "_"}
}

// goHeads returns the bare name of a type, none for one without.
func goHeads(e ast.Expr) []string {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return goHeads(e.X)
	case *ast.Ellipsis:
		return goHeads(e.Elt)
	case *ast.BinaryExpr:
		return nil // a constraint
	case *ast.Ident, *ast.StarExpr, *ast.SelectorExpr, *ast.IndexExpr, *ast.IndexListExpr:
		if name := embeddedName(e).Name; name != "_" {
			return []string{name}
		}
	}
	return nil
}

// structureNode is a line that the symbols command of rust-analyzer prints.
var structureNode = regexp.MustCompile(`^StructureNode \{ parent: (?:None|Some\((\d+)\)), label: "(.*)", navigation_range: (\d+)\.\.(\d+), node_range: (\d+)\.\.(\d+), kind: SymbolKind\((\w+)\), detail: (?:None|Some\("(.*)"\)), deprecated: \w+ \}$`)

// rustFacts reads what rust-analyzer's parser prints of each file, and of
// attributes what stands before the names.
func rustFacts(t *testing.T, dir string) string {
	analyzer := lsptest.Tool(t, "rust-analyzer")
	var w factWriter
	type place struct {
		file string
		line int
	}
	declared := map[string][]place{}
	var edges [][3]string // trait, type, file of the implementation
	eachFile(t, dir, ".rs", func(path, rel string) {
		w.file = rel
		source := read(t, path)
		cmd := exec.Command(analyzer, "symbols")
		cmd.Stdin = strings.NewReader(source)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", rel, err)
		}
		edge := func(trait, typ string) {
			// A trait of the standard library is not the one of that name here.
			if foreign, err := regexp.MatchString(`\b(std|core|alloc)::[\w:]*(\{[^;]*)?\b`+trait+`\b`, source); err == nil && !foreign {
				edges = append(edges, [3]string{trait, typ, rel})
			}
		}
		for printed := range strings.Lines(string(out)) {
			m := structureNode.FindStringSubmatch(strings.TrimSpace(printed))
			if m == nil {
				continue
			}
			at, start := number(t, m[3]), number(t, m[5])
			line := 1 + strings.Count(source[:at], "\n")
			name, kind, detail := m[2], m[7], strings.ReplaceAll(m[8], `\"`, `"`)
			switch kind {
			case "Struct", "Enum", "Union", "Trait", "TypeAlias":
				if parent := strings.TrimSpace(m[1]); kind == "TypeAlias" && parent != "" && associated(string(out), parent) {
					break
				}
				w.put("type", line, name, "")
				declared[name] = append(declared[name], place{rel, line})
				if kind == "Trait" {
					head, _, _ := strings.Cut(source[number(t, m[4]):number(t, m[6])], "{")
					head, _, _ = strings.Cut(head, "where")
					if _, bounds, ok := strings.Cut(withoutGenerics(head), ":"); ok {
						for _, b := range rustHeads(bounds) {
							edge(b, name)
						}
					}
				}
			case "Function", "Method":
				parameters, result := rustSignature(detail)
				w.putEach("parameter", line, name, parameters)
				w.putEach("result", line, name, result)
			case "Impl":
				label := strings.TrimSpace(withoutGenerics(strings.TrimPrefix(name, "impl")))
				if trait, typ, ok := strings.Cut(label, " for "); ok && !strings.HasPrefix(trait, "!") {
					if traits, types := rustHeads(trait), rustHeads(typ); len(traits) == 1 && len(types) == 1 && !strings.ContainsAny(typ, "&[(") {
						edge(traits[0], types[0])
					}
				}
				continue
			}
			if kind != "Local" {
				for _, a := range rustAttributes(source[start:at]) {
					w.put("attribute", line, name, a)
				}
			}
		}
	})
	for _, e := range edges {
		p := declared[e[1]]
		if here := slices.DeleteFunc(slices.Clone(p), func(p place) bool { return p.file != e[2] }); len(here) > 0 {
			p = here
		}
		if len(p) == 1 {
			w.file = p[0].file
			w.put("base", p[0].line, e[1], e[0])
		}
	}
	return w.String()
}

func number(t *testing.T, text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// associated reports whether the node of a number is a trait or an implementation.
func associated(printed, parent string) bool {
	n := 0
	for line := range strings.Lines(printed) {
		if strconv.Itoa(n) == parent {
			return strings.Contains(line, "SymbolKind(Impl)") || strings.Contains(line, "SymbolKind(Trait)")
		}
		n++
	}
	return false
}

// withoutGenerics takes out what stands in angle brackets.
func withoutGenerics(s string) string {
	var b strings.Builder
	depth := 0
	for i, r := range s {
		switch {
		case r == '<':
			depth++
		case r == '>' && i > 0 && s[i-1] != '-' && s[i-1] != '=':
			depth--
		case depth == 0:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// topLevel splits at commas outside of brackets.
func topLevel(s string) []string {
	var out []string
	depth, from := 0, 0
	for i, r := range s {
		switch r {
		case '(', '[', '<', '{':
			depth++
		case ')', ']', '}':
			depth--
		case '>':
			if i == 0 || s[i-1] != '-' && s[i-1] != '=' {
				depth--
			}
		case ',':
			if depth == 0 {
				out = append(out, s[from:i])
				from = i + 1
			}
		}
	}
	return append(out, s[from:])
}

// rustSignature takes "fn<T>(&self, a: A) -> B" apart.
func rustSignature(detail string) (parameters, results []string) {
	open := strings.Index(detail, "(")
	if strings.HasPrefix(detail, "fn<") {
		depth := 0
		for i, r := range detail {
			if r == '<' {
				depth++
			} else if r == '>' && detail[i-1] != '-' {
				if depth--; depth == 0 {
					open = i + 1 + strings.Index(detail[i+1:], "(")
					break
				}
			}
		}
	}
	if open < 0 {
		return nil, nil
	}
	depth, end := 0, open
	for i, r := range detail[open:] {
		if r == '(' {
			depth++
		} else if r == ')' {
			if depth--; depth == 0 {
				end = open + i
				break
			}
		}
	}
	for _, p := range topLevel(detail[open+1 : end]) {
		if _, typ, ok := strings.Cut(p, ": "); ok && !strings.HasPrefix(strings.TrimLeft(p, "&' "), "self") && !strings.HasPrefix(strings.TrimSpace(p), "mut self") {
			parameters = append(parameters, rustHeads(typ)...)
		}
	}
	if _, result, ok := strings.Cut(detail[end:], "-> "); ok {
		results = rustHeads(result)
	}
	return parameters, results
}

var rustPrefix = regexp.MustCompile(`^(?:[&*]|'\w+\s|mut\s|const\s|dyn\s|impl\s|\?|for<[^>]*>)\s*`)

// rustHeads returns the bare names of a type: of a tuple all, of bounds each.
func rustHeads(typ string) []string {
	typ = strings.TrimSpace(typ)
	for {
		loc := rustPrefix.FindStringIndex(typ)
		if loc == nil {
			break
		}
		typ = typ[loc[1]:]
	}
	if inner, ok := strings.CutPrefix(typ, "("); ok {
		var out []string
		if end := strings.LastIndex(inner, ")"); end >= 0 {
			for _, part := range topLevel(inner[:end]) {
				out = append(out, rustHeads(part)...)
			}
		}
		return out
	}
	var out []string
	for part := range strings.SplitSeq(withoutGenerics(withoutCalls(typ)), "+") {
		part = strings.TrimSpace(part)
		for {
			loc := rustPrefix.FindStringIndex(part)
			if loc == nil {
				break
			}
			part = part[loc[1]:]
		}
		part = part[strings.LastIndex(part, ":")+1:]
		if regexp.MustCompile(`^[A-Za-z_]\w*$`).MatchString(part) && part != "fn" && part != "_" {
			out = append(out, part)
		}
	}
	return out
}

// withoutCalls takes the arguments and result out of "Fn(A) -> B + Send".
func withoutCalls(s string) string {
	open := strings.IndexByte(s, '(')
	if open < 0 {
		return s
	}
	rest := s[strings.LastIndexByte(s, ')')+1:]
	if _, after, ok := strings.Cut(rest, "+"); ok {
		return s[:open] + "+" + after
	}
	return s[:open]
}

var rustAttribute = regexp.MustCompile(`(?m)^\s*#\[\s*([\w:]+)\s*(\(([^\]]*)\))?`)

// rustList returns the bare names of a list of paths.
func rustList(list string) (out []string) {
	for _, d := range strings.Split(list, ",") {
		d = strings.Trim(d, " \n\t)")
		if d = d[strings.LastIndex(d, ":")+1:]; d != "" {
			out = append(out, d)
		}
	}
	return out
}

// rustAttributes returns the bare names of the attributes in what stands before a name.
func rustAttributes(head string) []string {
	var out []string
	bare := func(path string) string { return strings.TrimSpace(path[strings.LastIndex(path, ":")+1:]) }
	for _, m := range rustAttribute.FindAllStringSubmatch(head, -1) {
		out = append(out, bare(m[1]))
		switch m[1] {
		case "derive":
			out = append(out, rustList(m[3])...)
		case "cfg_attr":
			for _, part := range topLevel(strings.TrimSuffix(strings.TrimSpace(m[3]), ")"))[1:] {
				name, list, _ := strings.Cut(strings.TrimSpace(part), "(")
				if out = append(out, bare(strings.Fields(name + " ")[0])); name == "derive" {
					out = append(out, rustList(list)...)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
