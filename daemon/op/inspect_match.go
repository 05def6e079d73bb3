package op

import (
	"context"
	"slices"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/resolve"
	"github.com/auralsp/aura/daemon/workbench"
	"github.com/auralsp/aura/graph"
)

// symbolTypes are the kinds that the words of symbolType stand for.
var symbolTypes = map[string][]graph.Kind{
	"class":    typeKinds,
	"method":   {graph.KindMethod, graph.KindConstruct, graph.KindOperator},
	"function": {graph.KindFunction},
	"property": {graph.KindProperty},
	"field":    {graph.KindField, graph.KindEnumMem, graph.KindEvent},
}

// byAttribute lists the symbols that carry an attribute.
func byAttribute(ctx context.Context, s *workbench.Session, input any) (any, error) {
	in := input.(api.ByAttribute)
	carries := graph.AttributeMatcher(in.AttributeName)
	if carries == nil {
		return nil, api.Errorf(api.InvalidArgument, "attributeName %q names no attribute; write the name alone, or as it stands in code", in.AttributeName)
	}
	paths, err := within(ctx, s, in.Request, in.FilePath, in.FilePattern)
	if err != nil {
		return nil, err
	}
	keep := graph.Keep{Kinds: symbolTypes[in.SymbolType], Path: paths, Attributed: true, Locals: true}
	var all listing
	err = s.Reader().Each(ctx, keep, func(x graph.Symbol) bool {
		if slices.ContainsFunc(x.Attributes, carries) && resolve.InContainer(x, in.ContainingType) {
			all.add(listed{Symbol: x})
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	return all.answer(ctx, s, "by_attribute", in.Limit)
}

// bySignature lists methods and functions by the types of their results and parameters.
func bySignature(ctx context.Context, s *workbench.Session, input any) (any, error) {
	in := input.(api.BySignature)
	if in.ReturnType == "" && in.ParameterType == "" && in.ContainingType == "" {
		return nil, api.Errorf(api.InvalidArgument, "by_signature needs returnType, parameterType or containingType")
	}
	if err := kindOf(in.SymbolKind, callableKinds, "function"); err != nil {
		return nil, err
	}
	result, err := typeNamed("returnType", in.ReturnType)
	if err != nil {
		return nil, err
	}
	parameter, err := typeNamed("parameterType", in.ParameterType)
	if err != nil {
		return nil, err
	}
	paths, err := within(ctx, s, in.Request, in.FilePath, in.FilePattern)
	if err != nil {
		return nil, err
	}
	var all listing
	err = s.Reader().Each(ctx, graph.Keep{Kinds: callableKinds, Path: paths, Locals: true}, func(x graph.Symbol) bool {
		if resolve.Kind(x, in.SymbolKind) && resolve.InContainer(x, in.ContainingType) && answers(result, x) && takes(parameter, x) {
			all.add(listed{Symbol: x})
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	return all.answer(ctx, s, "by_signature", in.Limit)
}

// typeNamed reads a type of a request; nil stands for any.
func typeNamed(field, text string) (func(string) bool, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	m := graph.TypeMatcher(text)
	if m == nil {
		return nil, api.Errorf(api.InvalidArgument, "%s %q names no type", field, text)
	}
	return m, nil
}

// answers reports whether a result is of a type. Several results are asked for
// one by one, or together as they are written.
func answers(typ func(string) bool, s graph.Symbol) bool {
	if typ == nil || slices.ContainsFunc(s.Results, typ) {
		return true
	}
	return len(s.Results) > 1 && typ("("+strings.Join(s.Results, ", ")+")")
}

func takes(typ func(string) bool, s graph.Symbol) bool {
	return typ == nil || slices.ContainsFunc(s.Params, typ)
}

// extensionMethods lists what extends a type from outside of it.
func extensionMethods(ctx context.Context, s *workbench.Session, input any) (any, error) {
	in := input.(api.ExtensionMethods)
	target, err := typeNamed("targetType", in.TargetType)
	if err != nil {
		return nil, err
	}
	if target == nil {
		return nil, api.Errorf(api.InvalidArgument, "targetType is empty; name the type that is extended")
	}
	paths, err := within(ctx, s, in.Request, in.FilePath, in.FilePattern)
	if err != nil {
		return nil, err
	}
	extends := map[string]func(graph.Symbol) (string, adapters.Extension){}
	for _, l := range s.Workspace().Languages() {
		if lang := l.Language(); lang.Extends != nil {
			extends[lang.ID] = lang.Extends
		}
	}
	var all listing
	err = s.Reader().Each(ctx, graph.Keep{Kinds: callableKinds, Path: paths}, func(x graph.Symbol) bool {
		of := extends[x.Language]
		if of == nil {
			return true
		}
		if typ, via := of(x); typ != "" && target(typ) {
			all.add(listed{Symbol: x, via: string(via)})
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	return all.answer(ctx, s, "extension_methods", in.Limit)
}
