package rust

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
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
		return nil
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
			meant, err := r.means(ctx, path, id.Span)
			if err != nil {
				return err
			}
			if meant == foreign || shorthand(src.Content, id.Span) {
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
			r.Edits.Add(path, id.Span, r.In.NewName)
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

// means asks the server what an occurrence of the name stands for.
func (r *renamer) means(ctx context.Context, path string, at graph.Span) (meaning, error) {
	defined, err := definitions(ctx, r.Bench, path, at)
	var server adapters.ServerRefusal
	if errors.As(err, &server) {
		return unresolved, nil // a file that belongs to no crate
	}
	if err != nil {
		return foreign, err
	}
	for _, d := range defined {
		if d.Path == r.Symbol.Path && d.Span == r.Symbol.NameSpan {
			return ours, nil
		}
	}
	if len(defined) == 0 {
		return unresolved, nil
	}
	return foreign, nil
}

// isMember reports whether a symbol is named behind a value whose type decides
// what is meant, so that its name alone tells nothing.
func isMember(s graph.Symbol) bool { return s.Kind == graph.KindMethod || s.Kind == graph.KindField }

// shorthand reports whether a name stands for a field and its value at once.
func shorthand(content []byte, at graph.Span) bool {
	before, after := previous(content[:at.Start]), bytes.TrimLeft(content[at.End:], " \t\r\n")
	return (before == '{' || before == ',') && len(after) > 0 && (after[0] == ',' || after[0] == '}')
}

// some joins up to n words and says how many more there are.
func some(words []string, n int) string {
	if len(words) <= n {
		return strings.Join(words, ", ")
	}
	return strings.Join(words[:n], ", ") + " and " + count(len(words)-n, "other")
}
