package csharp

import (
	"context"
	"slices"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
)

// isMember reports whether a symbol can override or implement another.
func isMember(s graph.Symbol) bool {
	switch s.Kind {
	case graph.KindMethod, graph.KindProperty, graph.KindEvent:
		return !s.Local
	}
	return false
}

// relatives finds the declarations that keep one name with the symbol: a
// server lists a member together with what it overrides and implements.
func (r *renamer) relatives(ctx context.Context) error {
	r.Members = slices.Clone(r.decls)
	if !isMember(r.Symbol) {
		return nil
	}
	list, err := recipe.Locate(ctx, r.Bench, adapters.Navigate, "textDocument/references", r.Symbol,
		map[string]any{"context": map[string]any{"includeDeclaration": true}})
	if err != nil {
		return r.explain(r.Symbol, err)
	}
	for _, p := range list {
		s, ok := recipe.SymbolAt(ctx, r.Bench, p)
		if !ok || s.Name != r.Symbol.Name || !isMember(s) {
			continue
		}
		if !slices.ContainsFunc(r.Members, func(f graph.Symbol) bool { return f.Path == s.Path && f.NameSpan == s.NameSpan }) {
			r.Members = append(r.Members, s)
		}
	}
	ids := map[graph.ID]bool{}
	for _, f := range r.Members {
		ids[f.ID] = true
	}
	if len(ids) > 1 {
		r.Warn("%d members named %s override or implement one another and are renamed together", len(ids), r.Symbol.Name)
	}
	return nil
}

// contracts are the members of interfaces of .NET that types implement without
// saying so at the member.
var contracts = map[string][]string{
	"IDisposable": {"Dispose"}, "IAsyncDisposable": {"DisposeAsync"}, "ICloneable": {"Clone"},
	"IEquatable": {"Equals"}, "IComparable": {"CompareTo"}, "IComparer": {"Compare"}, "IEqualityComparer": {"Equals", "GetHashCode"},
	"IEnumerable": {"GetEnumerator"}, "IAsyncEnumerable": {"GetAsyncEnumerator"},
	"IEnumerator": {"Current", "MoveNext", "Reset", "Dispose"}, "IAsyncEnumerator": {"Current", "MoveNextAsync", "DisposeAsync"},
	"ICollection":         {"Add", "Clear", "Contains", "CopyTo", "Count", "GetEnumerator", "IsReadOnly", "IsSynchronized", "Remove", "SyncRoot"},
	"IReadOnlyCollection": {"Count", "GetEnumerator"}, "IReadOnlyList": {"Count", "GetEnumerator"},
	"IList":               {"Add", "Clear", "Contains", "CopyTo", "Count", "GetEnumerator", "IndexOf", "Insert", "IsFixedSize", "IsReadOnly", "Remove", "RemoveAt"},
	"IDictionary":         {"Add", "Clear", "Contains", "ContainsKey", "CopyTo", "Count", "GetEnumerator", "IsReadOnly", "Keys", "Remove", "TryGetValue", "Values"},
	"IReadOnlyDictionary": {"ContainsKey", "Count", "GetEnumerator", "Keys", "TryGetValue", "Values"},
	"ISet":                {"Add", "Clear", "Contains", "CopyTo", "Count", "ExceptWith", "GetEnumerator", "IntersectWith", "IsSubsetOf", "IsSupersetOf", "Overlaps", "Remove", "SetEquals", "SymmetricExceptWith", "UnionWith"},
	"IFormattable":        {"ToString"}, "ISpanFormattable": {"TryFormat", "ToString"}, "IConvertible": {"GetTypeCode"}, "IParsable": {"Parse", "TryParse"},
	"IServiceProvider": {"GetService"}, "IProgress": {"Report"}, "IObservable": {"Subscribe"}, "IObserver": {"OnCompleted", "OnError", "OnNext"},
	"INotifyPropertyChanged": {"PropertyChanged"}, "INotifyPropertyChanging": {"PropertyChanging"}, "INotifyCollectionChanged": {"CollectionChanged"},
	"ICommand": {"CanExecute", "Execute", "CanExecuteChanged"}, "IFormatProvider": {"GetFormat"}, "ICustomFormatter": {"Format"},
}

// compiled are the members that the compiler looks for by name, without any interface.
var compiled = []string{
	"GetEnumerator", "MoveNext", "Current", "GetAsyncEnumerator", "MoveNextAsync", "GetAwaiter", "IsCompleted", "GetResult", "OnCompleted",
	"Deconstruct", "GetPinnableReference", "Select", "SelectMany", "Where", "AppendLiteral", "AppendFormatted", "PrintMembers", "EqualityContract",
}

// outsiders refuses a member by which a type overrides or implements something
// outside the workspace, which would not follow.
func (r *renamer) outsiders(ctx context.Context) error {
	if !isMember(r.Symbol) {
		return nil
	}
	rooted := slices.ContainsFunc(r.Members, func(f graph.Symbol) bool { return !slices.Contains(f.Modifiers, "override") })
	if !rooted {
		return recipe.Refuse(adapters.OutsideWorkspace, "%s overrides a member that is declared outside this workspace; under another name it would not any more", r.Symbol.Qualified)
	}
	for _, f := range r.Members {
		if explicit, ok := explicitly(f); ok && len(r.Members) == len(r.decls) {
			return recipe.Refuse(adapters.OutsideWorkspace, "%s implements a member of %s, which is declared outside this workspace", f.Qualified, explicit)
		}
		owners, err := r.owners(ctx, f)
		if err != nil {
			return err
		}
		for _, owner := range owners {
			for _, base := range owner.Bases {
				name := simple(base)
				if !slices.Contains(contracts[name], f.Name) {
					continue
				}
				own, err := r.Bench.Graph().ByName(ctx, name)
				if err != nil {
					return err
				}
				if !slices.ContainsFunc(own, func(s graph.Symbol) bool { return s.Kind == graph.KindInterface }) {
					return recipe.Refuse(adapters.OutsideWorkspace, "%s implements %s by its member %s, and that interface is part of .NET; under another name it would not any more",
						owner.Qualified, base, f.Name)
				}
			}
		}
	}
	if slices.Contains(compiled, r.Symbol.Name) {
		r.Warn("the compiler itself looks for members named %s; the build shows whether one was meant", r.Symbol.Name)
	}
	return nil
}

// explicitly returns the interface that an explicit implementation names.
func explicitly(s graph.Symbol) (string, bool) {
	between, ok := strings.CutPrefix(s.Qualified, s.Container+".")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(between, "."+s.Name)
}

// owners returns the declarations of the type that declares a member.
func (r *renamer) owners(ctx context.Context, member graph.Symbol) ([]graph.Symbol, error) {
	all, err := r.Bench.Graph().ByName(ctx, simple(member.Container))
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(all), func(s graph.Symbol) bool {
		return s.Qualified != member.Container || s.Project != member.Project || !isType(s.Kind)
	}), nil
}

// simple returns the last name of a type as written, without type arguments.
func simple(written string) string {
	if i := strings.IndexByte(written, '<'); i >= 0 {
		written = written[:i]
	}
	return strings.TrimSpace(written[strings.LastIndexAny(written, ".:")+1:])
}

// positional warns where records above or below have a member of the same
// name: the parameter of a derived record stands for the inherited property as
// long as both have one name, and declares a second one from then on.
func (r *renamer) positional(ctx context.Context) error {
	if r.Symbol.Kind != graph.KindProperty {
		return nil
	}
	owners, err := r.owners(ctx, r.Symbol)
	if err != nil {
		return err
	}
	same, err := r.Bench.Graph().ByName(ctx, r.Symbol.Name)
	if err != nil {
		return err
	}
	for _, owner := range owners {
		if owner.Kind != graph.KindRecord {
			continue
		}
		for _, direction := range []recipe.Question{recipe.SupertypesBySyntax, recipe.DerivedBySyntax} {
			found, err := direction(ctx, r.Bench, adapters.Target{Symbol: owner, Depth: 1, Transitive: true})
			if err != nil {
				return r.explain(r.Symbol, err)
			}
			for _, h := range found.Hits {
				if h.Symbol == nil {
					continue
				}
				for _, o := range same {
					if o.Kind == graph.KindProperty && o.Container == h.Symbol.Qualified && !r.Edits.Covers(o.Path, o.NameSpan) {
						r.Warn("the record %s has %s as well and keeps it: it is a property of its own from now on; rename both to keep one", h.Symbol.Name, r.Symbol.Name)
					}
				}
			}
		}
	}
	return nil
}
