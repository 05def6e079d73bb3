package python

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
	"github.com/auralsp/aura/lspclient/text"
)

// named changes the strings by which the program itself knows the symbol:
// types that stand in quotes because they are not declared yet, where pyright
// reads them only to check them; the first argument of what makes a type by a
// call; members of an enumeration that are asked for by name.
func (r *renamer) named(ctx context.Context) error {
	typed := typed(r.Symbol)
	for _, m := range r.Members {
		src, err := r.source(ctx, m.Path)
		if err != nil {
			return err
		}
		if m.Kind != graph.KindVariable && m.Kind != graph.KindConstant && m.Kind != graph.KindTypeAlias || src.Tree == nil {
			continue
		}
		made := maker.FindSubmatchIndex(src.Content[m.NameSpan.End:])
		if made == nil {
			continue
		}
		span := graph.Span{Start: m.NameSpan.End + made[2], End: m.NameSpan.End + made[3]}
		if string(src.Content[span.Start:span.End]) == m.Name {
			typed = true
			r.Edits.Add(m.Path, span, r.In.NewName)
		}
	}
	for _, path := range r.Edits.Paths() {
		src, err := r.source(ctx, path)
		if err != nil {
			return err
		}
		if src.Tree == nil {
			continue
		}
		bare := slices.ContainsFunc(r.Edits.Of(path), func(e text.Edit) bool { return src.alone(e.Start) })
		for _, m := range recipe.Mentions(src.Tree, src.Content, r.Symbol.Name) {
			if m.Token.Kind != syntax.String || r.Edits.Covers(path, m.Span) {
				continue
			}
			switch {
			case bare && typed && src.sees(r.Symbol, m.Span) && src.quotedType(m), r.Symbol.Kind == graph.KindEnumMem && src.enumKey(m, last(r.Symbol.Container)):
				r.Edits.Add(path, m.Span, r.In.NewName)
			}
		}
	}
	return nil
}

// maker matches, behind a name, the call that gives it its type with that name
// as a string: T = TypeVar("T").
var maker = regexp.MustCompile(`^[ \t]*=[ \t]*(?:\w+\.)*(?:TypeVar|ParamSpec|TypeVarTuple|NewType|NamedTuple|namedtuple|TypedDict|Enum|IntEnum|StrEnum|Flag|IntFlag|TypeAliasType)\([ \t\r\n]*['"](\w+)['"]`)

// typed reports whether the symbol can stand for a type. A local variable does
// so only where a call makes it one.
func typed(sym graph.Symbol) bool {
	switch sym.Kind {
	case graph.KindClass, graph.KindEnum, graph.KindTypeAlias, graph.KindTypeParam:
		return true
	case graph.KindFunction, graph.KindParameter:
		return false
	}
	return !isMember(sym) && !sym.Local
}

// sees reports whether a symbol can be named at a place: what is local can be in
// the function that declares it.
func (s *source) sees(sym graph.Symbol, at graph.Span) bool {
	if !sym.Local {
		return true
	}
	in, ok := s.Tree.Enclosing(sym.NameSpan.Start)
	return s.Path == sym.Path && (!ok || in.Whole.Start <= at.Start && at.End <= in.Whole.End)
}

// alone reports whether a name stands by itself in code.
func (s *source) alone(at int) bool {
	_, inText := s.Tree.TokenAt(at)
	return !inText && s.bare(at)
}

// quoted adds to the references that pyright knows those that stand in quotes:
// it reads such a type when it checks the file, which may never be.
func quoted(run recipe.Question) recipe.Question {
	return func(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
		found, err := run(ctx, b, t)
		if err != nil || !typed(t.Symbol) {
			return found, err
		}
		known := map[string][]adapters.Hit{}
		for _, h := range found.Hits {
			if recipe.Inside(b.Root(), h.Place.Path) {
				known[h.Place.Path] = append(known[h.Place.Path], h)
			}
		}
		for path, hits := range known {
			tree, err := b.Tree(ctx, path)
			if err != nil {
				return found, err
			}
			file := hits[0].Place.File
			src := &source{&recipe.Source{Path: path, Content: file.Content(), Tree: tree, File: file}}
			if !slices.ContainsFunc(hits, func(h adapters.Hit) bool { return src.alone(h.Place.Span.Start) }) {
				continue
			}
			for _, m := range recipe.Mentions(tree, src.Content, t.Symbol.Name) {
				if m.Token.Kind == syntax.String && src.sees(t.Symbol, m.Span) && src.quotedType(m) &&
					!slices.ContainsFunc(hits, func(h adapters.Hit) bool { return h.Place.Span == m.Span }) {
					found.Hits = append(found.Hits, adapters.Hit{Place: adapters.Place{Path: path, Span: m.Span, File: file}, Usage: "type"})
				}
			}
		}
		return found, nil
	}
}

var (
	// typeText matches what may be a type within quotes.
	typeText = regexp.MustCompile(`^[\w\s.,|\[\]"']+$`)
	// typeHead matches what stands before a quoted type in brackets: the generic
	// type that takes it.
	typeHead = regexp.MustCompile(`(?:^|[^\w.])(?:\w+\.)*(?:[A-Z]\w*|list|dict|tuple|set|frozenset|type|deque|defaultdict)$`)
	// typeCall matches what stands before the brackets of a call that takes types.
	typeCall = regexp.MustCompile(`(?:^|[^\w])(?:cast|TypeVar|NewType|TypedDict|NamedTuple|ForwardRef|assert_type|TypeAliasType)$`)
)

// quotedType reports whether a word stands within a type in quotes.
func (s *source) quotedType(m recipe.Mention) bool {
	literal := s.Content[m.Token.Span.Start:m.Token.Span.End]
	inner := bytes.Trim(literal, `"'`)
	if len(inner) == len(literal) || !typeText.Match(inner) || m.Span.Start > 0 && s.Content[m.Span.Start-1] == '.' {
		return false
	}
	before := statement(s.Content[max(0, m.Token.Span.Start-around):m.Token.Span.Start])
	for i := len(before.brackets) - 1; i >= 0; i-- {
		head := strings.TrimRight(before.text[:max(0, before.openers[i]-before.start)], " \t")
		switch {
		case before.brackets[i] == '[' && typeHead.MatchString(head):
			return !strings.HasSuffix(head, "Literal") // whose strings are values
		case before.brackets[i] == '(' && typeCall.MatchString(head):
			args := strings.TrimSpace(before.text[before.openers[i]-before.start+1:])
			// The name that it makes and the names of fields are no types.
			return strings.HasSuffix(head, "cast") && args == "" || strings.HasSuffix(head, "TypeVar") && strings.HasSuffix(args, ",") || strings.HasSuffix(args, "bound=") || strings.HasSuffix(args, ":") ||
				i < len(before.brackets)-1 && before.brackets[len(before.brackets)-1] == '(' && strings.HasSuffix(args, ",")
		case before.brackets[i] == '(' && head != "" && isWordByte(head[len(head)-1]):
			return false // the argument of some call
		}
	}
	return false
}

// enumKey reports whether a string is the key by which a member of an
// enumeration is asked for: Color["RED"].
func (s *source) enumKey(m recipe.Mention, class string) bool {
	if string(bytes.Trim(s.Content[m.Token.Span.Start:m.Token.Span.End], `"'`)) != string(s.Content[m.Span.Start:m.Span.End]) {
		return false
	}
	before := bytes.TrimRight(s.Content[:m.Token.Span.Start], " \t\r\n")
	before, bracket := bytes.CutSuffix(before, []byte("["))
	before, is := bytes.CutSuffix(before, []byte(class))
	return bracket && is && (len(before) == 0 || !isWordByte(before[len(before)-1]))
}
