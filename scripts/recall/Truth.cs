// Prints what Roslyn's parser says of the C# files below a folder; python.py says how.
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

var root = args[0];
foreach (var path in Directory.EnumerateFiles(root, "*.cs", SearchOption.AllDirectories).Order(StringComparer.Ordinal))
{
    var file = Path.GetRelativePath(root, path);
    if (file.Split('/').Any(part => part is "bin" or "obj"))
    {
        continue;
    }

    var tree = CSharpSyntaxTree.ParseText(File.ReadAllText(path));
    void Put(string sort, SyntaxToken name, string value) =>
        Console.WriteLine(string.Join('\t', sort, file, tree.GetLineSpan(name.Span).StartLinePosition.Line + 1, name.Text, value));

    void Signature(SyntaxToken name, TypeSyntax? result, BaseParameterListSyntax parameters)
    {
        foreach (var head in Heads(result).Distinct())
        {
            Put("result", name, head);
        }

        foreach (var head in parameters.Parameters.SelectMany(p => Heads(p.Type)).Distinct())
        {
            Put("parameter", name, head);
        }
    }

    foreach (var node in tree.GetRoot().DescendantNodes())
    {
        switch (node)
        {
            case BaseTypeDeclarationSyntax type:
                Put("type", type.Identifier, "");
                foreach (var of in type.BaseList?.Types.SelectMany(t => Heads(t.Type)) ?? [])
                {
                    Put("base", type.Identifier, of);
                }

                break;
            case DelegateDeclarationSyntax type:
                Put("type", type.Identifier, "");
                break;
            case MethodDeclarationSyntax method:
                Signature(method.Identifier, method.ReturnType, method.ParameterList);
                break;
            case LocalFunctionStatementSyntax method:
                Signature(method.Identifier, method.ReturnType, method.ParameterList);
                break;
            case ConstructorDeclarationSyntax method:
                Signature(method.Identifier, null, method.ParameterList);
                break;
            case OperatorDeclarationSyntax method:
                Signature(method.OperatorToken, method.ReturnType, method.ParameterList);
                break;
            case AttributeSyntax attribute:
                var value = Heads(attribute.Name).First();
                value = value.Length > 9 && value.EndsWith("Attribute", StringComparison.Ordinal) ? value[..^9] : value;
                foreach (var name in Named(attribute.Parent?.Parent))
                {
                    Put("attribute", name, value);
                }

                break;
        }
    }
}

static IEnumerable<SyntaxToken> Named(SyntaxNode? node) => node switch
{
    BaseTypeDeclarationSyntax x => [x.Identifier],
    DelegateDeclarationSyntax x => [x.Identifier],
    EnumMemberDeclarationSyntax x => [x.Identifier],
    MethodDeclarationSyntax x => [x.Identifier],
    LocalFunctionStatementSyntax x => [x.Identifier],
    ConstructorDeclarationSyntax x => [x.Identifier],
    OperatorDeclarationSyntax x => [x.OperatorToken],
    PropertyDeclarationSyntax x => [x.Identifier],
    IndexerDeclarationSyntax x => [x.ThisKeyword],
    EventDeclarationSyntax x => [x.Identifier],
    BaseFieldDeclarationSyntax x => x.Declaration.Variables.Select(v => v.Identifier),
    ParameterSyntax x => [x.Identifier],
    _ => [],
};

static IEnumerable<string> Heads(TypeSyntax? type) => type switch
{
    PredefinedTypeSyntax x => [x.Keyword.Text],
    SimpleNameSyntax x => [x.Identifier.Text],
    QualifiedNameSyntax x => Heads(x.Right),
    AliasQualifiedNameSyntax x => Heads(x.Name),
    NullableTypeSyntax x => Heads(x.ElementType),
    RefTypeSyntax x => Heads(x.Type),
    PointerTypeSyntax x => Heads(x.ElementType),
    TupleTypeSyntax x => x.Elements.SelectMany(e => Heads(e.Type)),
    _ => [],
};
