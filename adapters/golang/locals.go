package golang

import (
	"go/ast"
	"go/token"

	"github.com/auralsp/aura/graph"
)

// scope is one block of a function: the names that it declares. Only := needs
// them, which declares those that its own block does not have yet.
type scope struct {
	outer *scope
	names map[string]bool
}

func (x *extractor) open()       { x.scope = &scope{outer: x.scope, names: map[string]bool{}} }
func (x *extractor) close()      { x.scope = x.scope.outer }
func (x *extractor) local() bool { return x.scope != nil }

// name records a local declaration of the innermost block.
func (x *extractor) name(id *ast.Ident, kind graph.Kind, decl graph.Span, signature string) {
	if id == nil || id.Name == "_" || id.Name == "" {
		return
	}
	s := x.place(graph.Symbol{
		Name: id.Name, Kind: kind, Signature: signature,
		Whole: decl, Decl: decl, NameSpan: x.span(id),
	})
	s.Local, s.Visibility = true, private
	x.add(s)
}

// receiverNames records the receiver and the type parameters that it names anew.
func (x *extractor) receiverNames(list *ast.FieldList) {
	x.fieldNames(list, graph.KindParameter)
	if list == nil {
		return
	}
	for _, f := range list.List {
		t := f.Type
		if star, ok := t.(*ast.StarExpr); ok {
			t = star.X
		}
		var params []ast.Expr
		switch e := t.(type) {
		case *ast.IndexExpr:
			params = []ast.Expr{e.Index}
		case *ast.IndexListExpr:
			params = e.Indices
		}
		for _, p := range params {
			if id, ok := p.(*ast.Ident); ok {
				x.name(id, graph.KindTypeParam, x.span(id), id.Name)
			}
		}
	}
}

// signature records the type parameters, parameters and named results of a
// function in the block that is open.
func (x *extractor) signature(t *ast.FuncType) {
	x.fieldNames(t.TypeParams, graph.KindTypeParam)
	x.fieldNames(t.Params, graph.KindParameter)
	x.fieldNames(t.Results, graph.KindVariable)
}

func (x *extractor) fieldNames(list *ast.FieldList, kind graph.Kind) {
	if list == nil {
		return
	}
	for _, f := range list.List {
		if f.Type == nil {
			continue
		}
		for _, id := range f.Names {
			x.name(id, kind, x.span(f), id.Name+" "+x.text(f.Type))
		}
		x.typeExpr(f.Type, "")
	}
}

// typeExpr records what a type expression declares: the parameters that
// function types name, and the members of anonymous structs and interfaces,
// which belong to the container.
func (x *extractor) typeExpr(t ast.Expr, container string) {
	ast.Inspect(t, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncType:
			x.open()
			x.signature(n)
			x.close()
			return false
		case *ast.StructType:
			x.fields(n.Fields, container)
			return false
		case *ast.InterfaceType:
			x.interfaceMethods(n.Methods, container)
			return false
		case *ast.FuncLit:
			x.literal(n)
			return false
		case *ast.CallExpr:
			x.call(n.Fun)
		}
		return true
	})
}

// call records the identifier that names what is called.
func (x *extractor) call(f ast.Expr) {
	if id := baseName(f); id != nil {
		x.calls = append(x.calls, x.offset(id.Pos()))
	}
}

// expression records what an expression declares.
func (x *extractor) expression(e ast.Expr) {
	if e != nil {
		x.typeExpr(e, "")
	}
}

func (x *extractor) expressions(list []ast.Expr) {
	for _, e := range list {
		x.expression(e)
	}
}

func (x *extractor) literal(f *ast.FuncLit) {
	x.open()
	if f.Type != nil {
		x.signature(f.Type)
	}
	if f.Body != nil {
		x.statements(f.Body.List)
	}
	x.close()
}

func (x *extractor) statements(list []ast.Stmt) {
	for _, s := range list {
		x.statement(s)
	}
}

func (x *extractor) block(list []ast.Stmt) {
	x.open()
	x.statements(list)
	x.close()
}

// define records the names that a := on the left side declares.
func (x *extractor) define(left []ast.Expr, decl graph.Span) {
	for _, e := range left {
		id, ok := e.(*ast.Ident)
		if !ok {
			x.expression(e)
			continue
		}
		if x.scope == nil || !x.scope.names[id.Name] {
			x.name(id, graph.KindVariable, decl, "var "+id.Name)
		}
	}
}

func (x *extractor) assign(s *ast.AssignStmt) {
	x.expressions(s.Rhs)
	if s.Tok == token.DEFINE {
		x.define(s.Lhs, x.span(s))
		return
	}
	x.expressions(s.Lhs)
}

func (x *extractor) statement(s ast.Stmt) {
	switch s := s.(type) {
	case nil:
	case *ast.AssignStmt:
		x.assign(s)
	case *ast.DeclStmt:
		if d, ok := s.Decl.(*ast.GenDecl); ok {
			x.general(d)
		}
	case *ast.BlockStmt:
		if s != nil {
			x.block(s.List)
		}
	case *ast.IfStmt:
		x.open()
		x.statement(s.Init)
		x.expression(s.Cond)
		x.statement(s.Body)
		x.statement(s.Else)
		x.close()
	case *ast.ForStmt:
		x.open()
		x.statement(s.Init)
		x.expression(s.Cond)
		x.statement(s.Post)
		x.statement(s.Body)
		x.close()
	case *ast.RangeStmt:
		x.open()
		x.expression(s.X)
		left := make([]ast.Expr, 0, 2)
		for _, e := range []ast.Expr{s.Key, s.Value} {
			if e != nil {
				left = append(left, e)
			}
		}
		if s.Tok == token.DEFINE && len(left) > 0 {
			x.define(left, x.between(left[0].Pos(), left[len(left)-1].End()))
		} else {
			x.expressions(left)
		}
		x.statement(s.Body)
		x.close()
	case *ast.SwitchStmt:
		x.open()
		x.statement(s.Init)
		x.expression(s.Tag)
		x.clauses(s.Body)
		x.close()
	case *ast.TypeSwitchStmt:
		x.open()
		x.statement(s.Init)
		x.statement(s.Assign)
		x.clauses(s.Body)
		x.close()
	case *ast.SelectStmt:
		x.clauses(s.Body)
	case *ast.CaseClause:
		x.expressions(s.List)
		x.block(s.Body)
	case *ast.CommClause:
		x.open()
		x.statement(s.Comm)
		x.statements(s.Body)
		x.close()
	case *ast.LabeledStmt:
		x.statement(s.Stmt)
	case *ast.ExprStmt:
		x.expression(s.X)
	case *ast.SendStmt:
		x.expression(s.Chan)
		x.expression(s.Value)
	case *ast.IncDecStmt:
		x.expression(s.X)
	case *ast.GoStmt:
		if s.Call != nil {
			x.expression(s.Call)
		}
	case *ast.DeferStmt:
		if s.Call != nil {
			x.expression(s.Call)
		}
	case *ast.ReturnStmt:
		x.expressions(s.Results)
	}
}

func (x *extractor) clauses(body *ast.BlockStmt) {
	if body != nil {
		x.statements(body.List)
	}
}
