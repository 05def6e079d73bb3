package golang

import (
	"cmp"
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
)

// What a symbol can be seen from, in the words of the answers.
const (
	public   = "public"
	internal = "internal" // its package
	private  = "private"  // its function or file
)

// extractor collects the declarations of one file.
type extractor struct {
	tree  *syntax.Tree
	file  *token.File
	src   []byte
	scope *scope // innermost block; nil at package level
	depth int    // of anonymous types within each other
	calls []int  // where identifiers of what is called begin
}

func (x *extractor) add(s graph.Symbol) {
	s.Path = x.tree.Path
	x.tree.Symbols = append(x.tree.Symbols, s)
}

// finish puts the symbols in order of position, outer ones first.
func (x *extractor) finish() {
	x.tree.Call(x.calls)
	slices.SortStableFunc(x.tree.Symbols, func(a, b graph.Symbol) int {
		return cmp.Or(
			cmp.Compare(a.Decl.Start, b.Decl.Start),
			cmp.Compare(b.Decl.End, a.Decl.End),
			cmp.Compare(a.NameSpan.Start, b.NameSpan.Start))
	})
}

func (x *extractor) offset(p token.Pos) int { return x.file.Offset(p) }

// span returns the bytes of a node; a broken one may end before it begins.
func (x *extractor) span(n ast.Node) graph.Span {
	return x.between(n.Pos(), n.End())
}

func (x *extractor) between(from, to token.Pos) graph.Span {
	start, end := x.offset(from), x.offset(to)
	return graph.Span{Start: start, End: max(start, end)}
}

// within returns the bytes between two braces, zero when one is missing.
func (x *extractor) within(open, closing token.Pos) graph.Span {
	if !open.IsValid() || !closing.IsValid() || closing <= open {
		return graph.Span{}
	}
	return x.between(open+1, closing)
}

// maxText bounds the source of a type that a symbol carries, in bytes, and
// maxNesting how deep anonymous types are followed: a generated or hostile file
// must not cost the square of its size.
const (
	maxText    = 2 << 10
	maxNesting = 50
)

// text returns a node's source on one line.
func (x *extractor) text(n ast.Node) string {
	s := x.span(n)
	if s.End-s.Start > maxText {
		return strings.ToValidUTF8(oneLine(x.src[s.Start:s.Start+maxText]), "") + "…"
	}
	return oneLine(x.src[s.Start:s.End])
}

// withDoc widens a declaration's span to its doc comment.
func (x *extractor) withDoc(decl graph.Span, doc *ast.CommentGroup) graph.Span {
	if doc != nil && x.offset(doc.Pos()) < decl.Start {
		decl.Start = x.offset(doc.Pos())
	}
	return decl
}

func visibility(name string) string {
	if ast.IsExported(name) {
		return public
	}
	return internal
}

// declarations walks the file's top level.
func (x *extractor) declarations(file *ast.File) {
	if file.Name != nil && file.Name.Name != "_" && file.Name.Name != "" {
		clause := x.between(file.Package, file.Name.End())
		x.add(graph.Symbol{
			Name: file.Name.Name, Kind: graph.KindPackage, Visibility: public,
			Signature: "package " + file.Name.Name, Doc: docText(file.Doc),
			Whole: x.withDoc(clause, file.Doc), Decl: clause, NameSpan: x.span(file.Name),
		})
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			x.function(d)
		case *ast.GenDecl:
			x.general(d)
		}
	}
}

// function records a function or method and what it declares within.
func (x *extractor) function(d *ast.FuncDecl) {
	if d.Name == nil || d.Type == nil {
		return
	}
	decl := x.span(d)
	head := decl
	s := graph.Symbol{
		Name: d.Name.Name, Qualified: d.Name.Name, Kind: graph.KindFunction, Visibility: visibility(d.Name.Name),
		Doc: docText(d.Doc), Attributes: directives(d.Doc),
		Params: x.types(d.Type.Params, true), Results: x.types(d.Type.Results, false),
		Whole: x.withDoc(decl, d.Doc), Decl: decl, NameSpan: x.span(d.Name),
	}
	if d.Body != nil {
		head.End = max(head.Start, x.offset(d.Body.Pos()))
		s.Body = x.within(d.Body.Lbrace, d.Body.Rbrace)
	}
	s.Signature = oneLine(x.src[head.Start:head.End])
	if d.Recv != nil {
		s.Kind = graph.KindMethod
		if len(d.Recv.List) > 0 {
			base, pointer := receiver(d.Recv.List[0].Type)
			s.Container = base
			s.Qualified = base + "." + d.Name.Name
			if pointer {
				s.Modifiers = []string{"pointer"}
			}
		}
	}
	if d.Name.Name != "_" {
		x.add(s)
	}
	x.open()
	x.receiverNames(d.Recv)
	x.signature(d.Type)
	if d.Body != nil {
		x.statements(d.Body.List)
	}
	x.close()
}

// receiver returns the name of a receiver's type, and whether it is a pointer.
func receiver(t ast.Expr) (name string, pointer bool) {
	for {
		switch e := t.(type) {
		case *ast.StarExpr:
			t, pointer = e.X, true
		case *ast.ParenExpr:
			t = e.X
		case *ast.IndexExpr:
			t = e.X
		case *ast.IndexListExpr:
			t = e.X
		case *ast.Ident:
			return e.Name, pointer
		default:
			return "", pointer
		}
	}
}

// types returns the types of a parameter list as written, one for each
// parameter; an empty list is empty and not nil where it is asked to be.
func (x *extractor) types(list *ast.FieldList, always bool) []string {
	var out []string
	if always {
		out = []string{}
	}
	if list == nil {
		return out
	}
	for _, f := range list.List {
		if f.Type == nil {
			continue
		}
		text := x.text(f.Type)
		for range max(1, len(f.Names)) {
			out = append(out, text)
		}
	}
	return out
}

// general records the specs of a type, const or var declaration.
func (x *extractor) general(d *ast.GenDecl) {
	for _, spec := range d.Specs {
		// A declaration of one spec is that spec: its keyword and comment belong to it.
		whole, doc := x.span(spec), (*ast.CommentGroup)(nil)
		if !d.Lparen.IsValid() {
			whole, doc = x.span(d), d.Doc
		}
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if s.Doc != nil {
				doc = s.Doc
			}
			x.typeSpec(s, whole, doc)
		case *ast.ValueSpec:
			if s.Doc != nil {
				doc = s.Doc
			}
			x.valueSpec(s, d.Tok, whole, doc)
		}
	}
}

// place makes a declaration of the innermost block, or of the package when there is none.
func (x *extractor) place(s graph.Symbol) graph.Symbol {
	s.Qualified = s.Name
	s.Visibility = visibility(s.Name)
	if x.scope != nil {
		s.Local, s.Visibility = true, private
		x.scope.names[s.Name] = true
	}
	return s
}

func (x *extractor) valueSpec(v *ast.ValueSpec, tok token.Token, decl graph.Span, doc *ast.CommentGroup) {
	kind := graph.KindVariable
	if tok == token.CONST {
		kind = graph.KindConstant
	}
	for _, name := range v.Names {
		if name.Name == "_" {
			continue
		}
		s := graph.Symbol{
			Name: name.Name, Kind: kind, Doc: docText(doc), Attributes: directives(doc),
			Whole: x.withDoc(decl, doc), Decl: decl, NameSpan: x.span(name),
		}
		s.Signature = tok.String() + " " + name.Name
		if v.Type != nil {
			s.Signature += " " + x.text(v.Type)
			s.Results = []string{x.text(v.Type)}
		}
		if len(v.Names) == 1 && len(v.Values) == 1 {
			s.Signature = clip(s.Signature+" = ", x.src[x.span(v.Values[0]).Start:x.span(v.Values[0]).End])
		}
		x.add(x.place(s))
	}
	// The members of an anonymous type are those of the variable.
	container := func(i int) string {
		if x.scope != nil || len(v.Names) == 0 {
			return ""
		}
		return v.Names[min(i, len(v.Names)-1)].Name
	}
	if v.Type != nil {
		x.typeExpr(v.Type, container(0))
	}
	for i, e := range v.Values {
		x.typeExpr(e, container(i))
	}
}

func (x *extractor) typeSpec(t *ast.TypeSpec, decl graph.Span, doc *ast.CommentGroup) {
	if t.Name == nil || t.Type == nil {
		return
	}
	s := graph.Symbol{
		Name: t.Name.Name, Kind: graph.KindClass, Doc: docText(doc), Attributes: directives(doc),
		Whole: x.withDoc(decl, doc), Decl: decl, NameSpan: x.span(t.Name),
	}
	head := "type " + t.Name.Name
	if t.TypeParams != nil {
		head += x.text(t.TypeParams)
	}
	if t.Assign.IsValid() {
		head += " ="
	}
	switch e := t.Type.(type) {
	case *ast.StructType:
		s.Kind, s.Signature = graph.KindStruct, head+" struct"
		if e.Fields != nil {
			s.Body = x.within(e.Fields.Opening, e.Fields.Closing)
			s.Bases = x.embedded(e.Fields)
		}
	case *ast.InterfaceType:
		s.Kind, s.Signature = graph.KindInterface, head+" interface"
		if e.Methods != nil {
			s.Body = x.within(e.Methods.Opening, e.Methods.Closing)
			s.Bases = x.embedded(e.Methods)
		}
	default:
		span := x.span(t.Type)
		s.Signature = clip(head+" ", x.src[span.Start:span.End])
	}
	if t.Assign.IsValid() {
		s.Kind = graph.KindTypeAlias
	}
	if s.Name != "_" {
		x.add(x.place(s))
	}
	x.open()
	x.fieldNames(t.TypeParams, graph.KindTypeParam)
	x.close()
	x.members(t.Type, t.Name.Name)
}

// embedded returns the types that a struct or interface embeds, as written.
func (x *extractor) embedded(list *ast.FieldList) []string {
	var out []string
	for _, f := range list.List {
		if len(f.Names) == 0 && f.Type != nil {
			out = append(out, x.text(f.Type))
		}
	}
	return out
}

// members records the fields and methods that a type expression declares, in
// the named container, and whatever function types within name.
func (x *extractor) members(t ast.Expr, container string) {
	switch e := t.(type) {
	case *ast.StructType:
		x.fields(e.Fields, container)
	case *ast.InterfaceType:
		x.interfaceMethods(e.Methods, container)
	default:
		x.typeExpr(t, container)
	}
}

// member makes a field or method of the container.
func (x *extractor) member(name *ast.Ident, f *ast.Field, container string) graph.Symbol {
	decl := x.span(f)
	s := graph.Symbol{
		Name: name.Name, Qualified: name.Name, Container: container, Kind: graph.KindField,
		Visibility: visibility(name.Name), Local: x.local(),
		Doc: docText(f.Doc), Attributes: directives(f.Doc), Results: []string{x.text(f.Type)},
		Whole: x.withDoc(decl, f.Doc), Decl: decl, NameSpan: x.span(name),
	}
	if container != "" {
		s.Qualified = container + "." + name.Name
	}
	return s
}

func (x *extractor) fields(list *ast.FieldList, container string) {
	if list == nil || x.depth >= maxNesting {
		return
	}
	x.depth++
	defer func() { x.depth-- }()
	for _, f := range list.List {
		if f.Type == nil {
			continue
		}
		names, embedded := f.Names, false
		if len(names) == 0 {
			if id := baseName(f.Type); id != nil {
				names, embedded = []*ast.Ident{id}, true
			}
		}
		inner := container
		for _, name := range names {
			if name.Name == "_" {
				continue
			}
			s := x.member(name, f, container)
			s.Signature = s.Name + " " + s.Results[0]
			if embedded {
				s.Signature, s.Modifiers = s.Results[0], []string{"embedded"}
			}
			if f.Tag != nil {
				s.Attributes = append(s.Attributes, f.Tag.Value)
			}
			x.add(s)
			inner = s.Qualified
		}
		if !embedded {
			x.typeExpr(f.Type, inner)
		}
	}
}

func (x *extractor) interfaceMethods(list *ast.FieldList, container string) {
	if list == nil || x.depth >= maxNesting {
		return
	}
	x.depth++
	defer func() { x.depth-- }()
	for _, f := range list.List {
		ft, ok := f.Type.(*ast.FuncType)
		if !ok || len(f.Names) == 0 {
			continue
		}
		for _, name := range f.Names {
			s := x.member(name, f, container)
			s.Kind, s.Modifiers = graph.KindMethod, []string{"abstract"}
			s.Params, s.Results = x.types(ft.Params, true), x.types(ft.Results, false)
			s.Signature = oneLine(x.src[s.Decl.Start:s.Decl.End])
			x.add(s)
		}
		x.open()
		x.signature(ft)
		x.close()
	}
}

// baseName returns the identifier that names an embedded field or what is called.
func baseName(t ast.Expr) *ast.Ident {
	for {
		switch e := t.(type) {
		case *ast.StarExpr:
			t = e.X
		case *ast.ParenExpr:
			t = e.X
		case *ast.IndexExpr:
			t = e.X
		case *ast.IndexListExpr:
			t = e.X
		case *ast.SelectorExpr:
			return e.Sel
		case *ast.Ident:
			return e
		default:
			return nil
		}
	}
}
