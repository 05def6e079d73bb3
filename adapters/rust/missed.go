package rust

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/graph"
)

// maxAudited bounds how many occurrences of the old name are asked about.
const maxAudited = 400

// missed adds the uses that the server's rename left: those in the bodies of
// macros, and any other occurrence of the name of which the server itself says
// that it is the symbol.
func (r *renamer) missed(ctx context.Context) error {
	if r.Symbol.Local {
		return r.arguments(ctx)
	}
	asked := 0
	var certain, unsure, unbuilt, left []string
	for _, path := range r.Holders {
		src, err := r.Source(ctx, path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		for _, id := range src.Tree.Idents {
			if strings.TrimPrefix(id.Name, "r#") != strings.TrimPrefix(r.Symbol.Name, "r#") || r.Edits.Covers(path, id.Span) || !fits(r.Symbol, src.Content, id.Span) {
				continue
			}
			if s, ok := src.Tree.Declared(id.Span.Start); ok && s.NameSpan == id.Span && !s.Local {
				continue // another declaration of that name
			}
			if _, ok := macroAround(src.Tree, src.Content, id.Span.Start); ok {
				sure, err := r.sure(ctx)
				if err != nil {
					return err
				}
				if !sure {
					unsure = append(unsure, r.Where(src, id.Span.Start))
				} else if r.Edits.Add(path, id.Span, r.In.NewName) {
					certain = append(certain, r.Where(src, id.Span.Start))
				}
				continue
			}
			if asked++; asked > maxAudited {
				continue
			}
			meant, err := meaningOf(ctx, r.Bench, r.Symbol, path, id.Span)
			if err != nil {
				return err
			}
			if meant == foreign {
				continue
			}
			if meant == unresolved {
				if sure, err := r.sure(ctx); err != nil {
					return err
				} else if !sure || isMember(r.Symbol) {
					left = append(left, r.Where(src, id.Span.Start))
					continue
				}
				unbuilt = append(unbuilt, r.Where(src, id.Span.Start))
			}
			r.Edits.Add(path, id.Span, r.written(src.Content, id.Span))
		}
	}
	if len(certain) > 0 {
		r.Warn("%s is renamed in bodies of macro_rules! as well, where nothing else of the project can be meant: %s", r.Symbol.Name, some(certain, 3))
	}
	if len(unbuilt) > 0 {
		r.Warn("%s is renamed as well where rust-analyzer knows no meaning, as in code that #[cfg] leaves out; no build here looks at: %s", r.Symbol.Name, some(unbuilt, 3))
	}
	if len(left) > 0 {
		r.Warn("%s is left as it is where rust-analyzer knows no meaning, as in code that #[cfg] leaves out: %s", r.Symbol.Name, some(left, 3))
	}
	if len(unsure) > 0 {
		r.Warn("%s in bodies of macro_rules! may mean %s or another declaration of that name and is left as it is: %s", r.Symbol.Name, r.Symbol.Qualified, some(unsure, 3))
	}
	return nil
}

// sure reports whether an occurrence of the name can mean nothing but the symbol.
func (r *renamer) sure(ctx context.Context) (bool, error) {
	n, err := homonyms(ctx, r.Bench, r.Symbol)
	return n == 0, err
}

// meaning is what an occurrence of the name stands for.
type meaning uint8

const (
	foreign    meaning = iota // something else
	ours                      // the symbol
	unresolved                // the server does not know
)

// meaningOf asks the server what an occurrence of a symbol's name stands for.
func meaningOf(ctx context.Context, b adapters.Bench, sym graph.Symbol, path string, at graph.Span) (meaning, error) {
	defined, err := definitions(ctx, b, path, at)
	var server adapters.ServerRefusal
	if errors.As(err, &server) {
		return unresolved, nil // a file that belongs to no crate
	}
	if err != nil {
		return foreign, err
	}
	switch {
	case len(defined) == 0:
		return unresolved, nil
	case slices.ContainsFunc(defined, func(d adapters.Place) bool { return d.Path == sym.Path && d.Span == sym.NameSpan }):
		return ours, nil
	}
	return foreign, nil
}

// arguments adds the uses of a local in arguments of macros that the server left.
func (r *renamer) arguments(ctx context.Context) error {
	list, err := inArguments(ctx, r.Bench, r.Symbol, r.Edits.Covers)
	if err != nil {
		return err
	}
	for _, p := range list {
		r.Edits.Add(p.Path, p.Span, r.written(p.File.Content(), p.Span))
	}
	return nil
}

// written returns what stands for the symbol's name at a place after the
// rename: a field and its value in one word are written apart.
func (r *renamer) written(content []byte, at graph.Span) string {
	old := string(content[at.Start:at.End])
	switch {
	case !shorthand(content, at):
		return r.In.NewName
	case r.Symbol.Kind == graph.KindField:
		return r.In.NewName + ": " + old
	}
	return old + ": " + r.In.NewName
}

// isMember reports whether a symbol is named behind a value whose type decides
// what is meant, so that its name alone tells nothing.
func isMember(s graph.Symbol) bool { return s.Kind == graph.KindMethod || s.Kind == graph.KindField }

// shorthand reports whether a name stands for a field and its value at once: it
// is an element between the brackets behind the name of a type. Elements of
// arrays and of blocks look the same but for that.
func shorthand(content []byte, at graph.Span) bool {
	before, after := previous(content[:at.Start]), bytes.TrimLeft(content[at.End:], " \t\r\n")
	if before != '{' && before != ',' || len(after) == 0 || after[0] != ',' && after[0] != '}' {
		return false
	}
	depth := 0
	for i := at.Start - 1; i >= 0 && at.Start-i < near; i-- {
		switch content[i] {
		case ')', ']', '}':
			depth++
		case '(', '[', '{':
			if depth--; depth < 0 {
				return content[i] == '{' && endsInType(content[:i])
			}
		}
	}
	return false
}

// endsInType reports whether code ends in what is named as types are, with or
// without type arguments.
func endsInType(code []byte) bool {
	code = bytes.TrimRight(code, " \t\r\n")
	if arguments, ok := bytes.CutSuffix(code, []byte(">")); ok {
		depth := 1
		for depth > 0 && len(arguments) > 0 {
			switch arguments[len(arguments)-1] {
			case '>':
				depth++
			case '<':
				depth--
			}
			arguments = arguments[:len(arguments)-1]
		}
		code = bytes.TrimSuffix(arguments, []byte("::"))
	}
	name := code[len(code)-wordBefore(code):]
	return len(name) > 0 && name[0] >= 'A' && name[0] <= 'Z' && !bytes.Equal(name, bytes.ToUpper(name))
}

// some joins up to n words and says how many more there are.
func some(words []string, n int) string {
	if len(words) <= n {
		return strings.Join(words, ", ")
	}
	return strings.Join(words[:n], ", ") + " and " + count(len(words)-n, "other")
}
