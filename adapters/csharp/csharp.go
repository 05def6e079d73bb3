package csharp

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
)

// Adapter is the C# language.
type Adapter struct{ spec *syntax.Spec }

// New returns the C# language.
func New() *Adapter { return &Adapter{spec: spec()} }

var (
	_ adapters.Adapter = (*Adapter)(nil)
	_ adapters.Namer   = (*Adapter)(nil)
)

// Language implements adapters.Adapter. Projects and solutions have names of
// their own, so that markers are patterns here.
func (*Adapter) Language() adapters.Language {
	return adapters.Language{
		ID:         "csharp",
		Name:       "C#",
		Extensions: []string{".cs"},
		LanguageID: map[string]string{".cs": "csharp"},
		Markers:    markers,
		TestFile:   isTest,
		Generated:  isGenerated,
		Separator:  ".",
		Overloads:  true,
		Extends:    extends,
		// Loading a project evaluates its properties and runs its targets.
		Trust: []string{
			"*.csproj", "*.props", "*.targets", "*.sln", "*.slnx", "Directory.Build.props", "Directory.Build.targets",
			"Directory.Packages.props", "global.json", "NuGet.config", "nuget.config", "omnisharp.json",
		},
	}
}

// Syntax implements adapters.Adapter.
func (a *Adapter) Syntax() *syntax.Spec { return a.spec }

// isTest follows the names that dotnet's templates and guides give tests.
func isTest(path string) bool {
	stem := strings.TrimSuffix(filepath.Base(path), ".cs")
	if strings.HasSuffix(stem, "Tests") || strings.HasSuffix(stem, "Test") {
		return true
	}
	dirs := strings.Split(filepath.ToSlash(filepath.Dir(path)), "/")
	return slices.ContainsFunc(dirs, func(d string) bool {
		d = strings.ToLower(d)
		return d == "test" || d == "tests" || strings.HasSuffix(d, ".tests") || strings.HasSuffix(d, ".test")
	})
}

// isGenerated reports whether a comment at the head of a file says that a tool
// writes it, as the compiler itself looks for it.
func isGenerated(content []byte) bool { return recipe.Generated(content, "//", "/*", "*") }

// keywords of the C# language reference; the contextual ones may be names.
var keywords = []string{
	"abstract", "as", "base", "bool", "break", "byte", "case", "catch", "char", "checked", "class", "const", "continue",
	"decimal", "default", "delegate", "do", "double", "else", "enum", "event", "explicit", "extern", "false", "finally",
	"fixed", "float", "for", "foreach", "goto", "if", "implicit", "in", "int", "interface", "internal", "is", "lock", "long",
	"namespace", "new", "null", "object", "operator", "out", "override", "params", "private", "protected", "public",
	"readonly", "ref", "return", "sbyte", "sealed", "short", "sizeof", "stackalloc", "static", "string", "struct", "switch",
	"this", "throw", "true", "try", "typeof", "uint", "ulong", "unchecked", "unsafe", "ushort", "using", "virtual", "void",
	"volatile", "while",
}

// typeWords may not be the name of a type, although they may be other names.
var typeWords = []string{"var", "record", "file", "required", "scoped", "nint", "nuint", "dynamic", "notnull", "unmanaged", "where", "partial", "extension", "field"}

// CheckName implements adapters.Namer: what the C# specification calls an
// identifier, verbatim ones included, without keywords.
func (*Adapter) CheckName(sym graph.Symbol, name string) error {
	bare, verbatim := strings.CutPrefix(name, "@")
	switch {
	case name == "":
		return &adapters.Refusal{Reason: adapters.InvalidName, Message: "the new name is empty; give a C# identifier"}
	case !utf8.ValidString(name):
		return recipe.InvalidName(name, "is not valid UTF-8")
	case !verbatim && slices.Contains(keywords, name):
		return recipe.InvalidName(name, "is a keyword of C#; choose another name or write @"+name)
	case !verbatim && slices.Contains(typeWords, name) && isType(sym.Kind):
		return recipe.InvalidName(name, "may not be the name of a type in C#; choose another name")
	case name == "_":
		return recipe.InvalidName(name, "is what C# throws values away in; choose another name")
	case !isIdentifier(bare):
		return recipe.InvalidName(name, "is not a C# identifier: letters, digits and underscores, not beginning with a digit")
	case sym.Kind == graph.KindOperator || sym.Name == "this":
		return recipe.InvalidName(name, "cannot be given to an operator or an indexer: those have no name to change")
	}
	return nil
}

func isType(k graph.Kind) bool {
	switch k {
	case graph.KindClass, graph.KindStruct, graph.KindRecord, graph.KindInterface, graph.KindEnum, graph.KindTypeParam, graph.KindTypeAlias:
		return true
	}
	return false
}

// isIdentifier follows the classes of characters in the specification, section 6.4.3.
func isIdentifier(name string) bool {
	for i, r := range name {
		if r == '_' || unicode.IsLetter(r) || unicode.Is(unicode.Nl, r) {
			continue
		}
		if i > 0 && unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Cf) {
			continue
		}
		return false
	}
	return name != ""
}

// receiver is the head of a parameter list whose first parameter is called upon.
var receiver = regexp.MustCompile(`\(\s*(?:\[[^\]]*\]\s*)*(?:(?:ref|in|readonly|scoped)\s+)*this\s`)

// extends tells the type of an extension method's first parameter.
func extends(s graph.Symbol) (string, adapters.Extension) {
	if s.Kind != graph.KindMethod || len(s.Params) == 0 || !receiver.MatchString(s.Signature) {
		return "", ""
	}
	return s.Params[0], adapters.ByExtension
}
