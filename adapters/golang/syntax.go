package golang

import (
	"bytes"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/scanner"
	"go/token"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
)

// extractorVersion changes whenever parse answers otherwise for the same bytes.
const extractorVersion = "go2"

// spec is how Go files are read.
func spec() *syntax.Spec {
	return &syntax.Spec{Version: extractorVersion, Parse: parse, Namespace: namespace, Separator: "."}
}

// parse reads one Go file. What a broken file still says is kept.
func parse(path string, content []byte) (*syntax.Tree, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", content, parser.ParseComments|parser.SkipObjectResolution)
	t := &syntax.Tree{Path: path}
	if list, ok := err.(scanner.ErrorList); ok {
		for _, e := range list {
			t.Errors = append(t.Errors, syntax.Problem{Offset: e.Pos.Offset, Message: e.Msg})
		}
	} else if err != nil {
		return nil, err
	}
	lex(t, content)
	if file == nil {
		return t, nil
	}
	tf := fset.File(file.FileStart)
	if tf == nil {
		return t, nil
	}
	if file.Name != nil {
		t.Package = file.Name.Name
	}
	x := &extractor{tree: t, file: tf, src: content}
	x.imports(file)
	x.declarations(file)
	x.finish()
	return t, nil
}

// lex collects identifiers, comments and string literals. It reads tokens and
// not the syntax tree, so that what stands in broken code is found as well.
func lex(t *syntax.Tree, content []byte) {
	fset := token.NewFileSet()
	file := fset.AddFile("", -1, len(content))
	var s scanner.Scanner
	s.Init(file, content, func(token.Position, string) {}, scanner.ScanComments)
	for {
		pos, tok, lit := s.Scan()
		start := file.Offset(pos)
		switch tok {
		case token.EOF:
			return
		case token.IDENT:
			t.Idents = append(t.Idents, syntax.Ident{Name: lit, Span: graph.Span{Start: start, End: start + len(lit)}})
		case token.COMMENT:
			t.Tokens = append(t.Tokens, syntax.Token{Kind: syntax.Comment, Span: graph.Span{Start: start, End: literalEnd(content, start, lit)}})
		case token.STRING:
			t.Tokens = append(t.Tokens, syntax.Token{Kind: syntax.String, Span: graph.Span{Start: start, End: literalEnd(content, start, lit)}})
		}
	}
}

// literalEnd returns where a comment or string ends: the scanner drops carriage
// returns from some of their texts, so that a length does not tell.
func literalEnd(content []byte, start int, lit string) int {
	rest := content[start:]
	closing := ""
	switch {
	case strings.HasPrefix(lit, "//"):
		if n := bytes.IndexByte(rest, '\n'); n >= 0 {
			rest = bytes.TrimSuffix(rest[:n], []byte("\r"))
		}
		return start + len(rest)
	case strings.HasPrefix(lit, "/*"):
		closing = "*/"
	case strings.HasPrefix(lit, "`"):
		closing = "`"
	default:
		return min(start+len(lit), len(content))
	}
	first := min(len(rest), len(closing))
	if n := bytes.Index(rest[first:], []byte(closing)); n >= 0 {
		return start + first + n + len(closing)
	}
	return len(content)
}

// namespace names the package of a file by its folder below the project, as
// import paths do; where the package clause says otherwise, that is the alias.
func namespace(root, file string, t *syntax.Tree) (name, alias string) {
	pkg := t.Package
	dir, err := filepath.Rel(root, filepath.Dir(file))
	if err != nil || dir == ".." || strings.HasPrefix(dir, ".."+string(filepath.Separator)) {
		return pkg, "" // of another module: what is known is its name
	}
	dir = filepath.ToSlash(dir)
	suffix := ""
	if strings.HasSuffix(file, "_test.go") && strings.HasSuffix(pkg, "_test") {
		pkg, suffix = strings.TrimSuffix(pkg, "_test"), "_test"
	}
	switch {
	case standsAlone(t):
		// A program of its own beside the package, run by hand: its names are not the package's.
		name = path.Join(dir, filepath.Base(file))
	case dir == ".":
		name = pkg + suffix
	default:
		name = dir + suffix
	}
	if path.Base(name) != pkg+suffix {
		alias = pkg + suffix
	}
	return name, alias
}

// standsAlone reports whether the file is built only when it is named, by the
// convention "//go:build ignore".
func standsAlone(t *syntax.Tree) bool { return t.Package == "main" && t.Constraint == "ignore" }

// buildConstraint returns the expression of a //go:build line before the package clause.
func buildConstraint(file *ast.File) string {
	for _, g := range file.Comments {
		if g.Pos() >= file.Package {
			break
		}
		for _, c := range g.List {
			if !constraint.IsGoBuild(c.Text) {
				continue
			}
			if expr, err := constraint.Parse(c.Text); err == nil {
				return expr.String()
			}
		}
	}
	return ""
}

// imports records the imports and, as declarations, the names they are given.
func (x *extractor) imports(file *ast.File) {
	x.tree.Constraint = buildConstraint(file)
	for _, s := range file.Imports {
		if s.Path == nil {
			continue
		}
		name, err := strconv.Unquote(s.Path.Value)
		if err != nil {
			continue
		}
		im := syntax.Import{Path: name, Span: x.span(s)}
		if s.Name == nil {
			im.Names = packageNames(name)
		} else {
			im.Alias = s.Name.Name
			if im.Alias != "_" && im.Alias != "." {
				im.Names = []syntax.Binding{{As: im.Alias}}
				x.add(graph.Symbol{
					Name: im.Alias, Qualified: im.Alias, Kind: graph.KindNamespace, Local: true, Visibility: private,
					Signature: "import " + im.Alias + " " + s.Path.Value,
					Whole:     im.Span, Decl: im.Span, NameSpan: x.span(s.Name),
				})
			}
		}
		x.tree.Imports = append(x.tree.Imports, im)
	}
}

// packageNames returns the names that the package at an import path may have:
// the last element that is no version or, as a hyphen or dot cannot be part of a
// name, what stands between them: yaml of "gopkg.in/yaml.v3".
func packageNames(importPath string) []syntax.Binding {
	dir, last := path.Split(importPath)
	if version(last) && dir != "" {
		last = path.Base(dir)
	}
	var out []syntax.Binding
	for _, part := range strings.FieldsFunc(last, func(r rune) bool { return r == '-' || r == '.' }) {
		if part != "go" && !version(part) || part == last {
			out = append(out, syntax.Binding{As: part})
		}
	}
	return out
}

// version reports whether an element of an import path is a major version, as v2.
func version(element string) bool {
	rest, ok := strings.CutPrefix(element, "v")
	return ok && rest != "" && strings.Trim(rest, "0123456789") == ""
}
