"""Prints what the ast module says of the Python files below a folder.

One fact a line, tabs between: its sort (type, attribute, base, result or
parameter), file, line and name of the declaration, and the bare name of the
attribute, base or type. recall_test.go compares Aura's answers with it.
"""

import ast
import os
import sys


def heads(node):
    """The bare names that an annotation, decorator or base stands for."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            yield name
        case ast.Constant(value=str() as text):
            try:
                yield from heads(ast.parse(text.strip(), mode="eval").body)
            except SyntaxError:
                pass
        case ast.Constant(value=None):
            yield "None"
        case ast.BinOp(op=ast.BitOr()):
            yield from heads(node.left)
            yield from heads(node.right)
        case ast.Subscript(value=value, slice=inner):
            items = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            name = next(heads(value), "")
            if name == "Union":
                yield from (n for item in items for n in heads(item))
            elif name == "Optional":
                yield from heads(inner)
            elif name == "Annotated":
                yield from heads(items[0])
            elif name:
                yield name


def facts(tree):
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            child.parent = node
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield "type", node, ""
            for base in node.bases:
                for name in heads(base):
                    yield "base", node, name
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            decorators = [d.id for d in node.decorator_list if isinstance(d, ast.Name)]
            accessor = any(
                isinstance(d, ast.Attribute) and d.attr in ("setter", "getter", "deleter") for d in node.decorator_list
            ) or any(d in ("property", "cached_property") for d in decorators)
            accessor = accessor or any(isinstance(d, ast.Attribute) and d.attr == "cached_property" for d in node.decorator_list)
            in_class = isinstance(node.parent, ast.ClassDef)
            if not (accessor and in_class):
                for name in set(heads(node.returns)):
                    yield "result", node, name
                args = node.args
                named = args.posonlyargs + args.args
                if in_class and "staticmethod" not in decorators:
                    named = named[1:]
                all_args = named + args.kwonlyargs + [a for a in (args.vararg, args.kwarg) if a]
                for name in {n for a in all_args for n in heads(a.annotation)}:
                    yield "parameter", node, name
        else:
            continue
        for decorator in node.decorator_list:
            target = decorator.func if isinstance(decorator, ast.Call) else decorator
            if isinstance(target, (ast.Name, ast.Attribute)):
                yield "attribute", node, next(heads(target))


def main(root):
    for folder, folders, files in os.walk(root):
        folders.sort()
        for file in sorted(files):
            if not file.endswith((".py", ".pyi")):
                continue
            path = os.path.join(folder, file)
            try:
                with open(path, "rb") as f:
                    tree = ast.parse(f.read())
            except (SyntaxError, ValueError) as e:
                print(f"{path}: {e}", file=sys.stderr)
                continue
            for sort, node, value in facts(tree):
                print(sort, os.path.relpath(path, root), node.lineno, node.name, value, sep="\t")


main(sys.argv[1])
