// Prints what the TypeScript compiler's parser says of the files below a folder;
// python.py says how. Arguments: the compiler's module, the folder.
const ts = require(process.argv[2]);
const fs = require("fs");
const path = require("path");

const root = process.argv[3];

/** The bare names that a type stands for. */
function heads(type) {
  if (!type) return [];
  if (ts.isTypeReferenceNode(type)) return [last(type.typeName)];
  if (ts.isUnionTypeNode(type) || ts.isIntersectionTypeNode(type)) return type.types.flatMap(heads);
  if (ts.isParenthesizedTypeNode(type) || ts.isOptionalTypeNode(type) || ts.isRestTypeNode(type)) return heads(type.type);
  if (ts.isTypeOperatorNode(type)) return type.operator === ts.SyntaxKind.ReadonlyKeyword ? heads(type.type) : [];
  if (ts.isTupleTypeNode(type)) return type.elements.length > 1 ? type.elements.flatMap((e) => heads(ts.isNamedTupleMember(e) ? e.type : e)) : [];
  if (ts.isLiteralTypeNode(type)) return type.literal.kind === ts.SyntaxKind.NullKeyword ? ["null"] : [];
  return /^[A-Za-z]+$/.test(type.getText()) ? [type.getText()] : [];
}

function last(name) {
  if (ts.isQualifiedName(name)) return name.right.text;
  if (ts.isPropertyAccessExpression(name)) return name.name.text;
  return ts.isIdentifier(name) ? name.text : "";
}

function put(sort, file, name, value) {
  const source = name.getSourceFile();
  const line = source.getLineAndCharacterOfPosition(name.getStart()).line + 1;
  console.log([sort, path.relative(root, file), line, name.text, value].join("\t"));
}

function signature(file, name, fn) {
  for (const n of new Set(heads(fn.type))) put("result", file, name, n);
  const types = fn.parameters.filter((p) => p.name.getText() !== "this").flatMap((p) => heads(p.type));
  for (const n of new Set(types)) put("parameter", file, name, n);
}

function visit(file, node) {
  const parent = node.parent;
  const plain = node.name && (ts.isIdentifier(node.name) || ts.isPrivateIdentifier(node.name)) && node.name.text !== "";
  const isFunction = (x) => x && (ts.isArrowFunction(x) || ts.isFunctionExpression(x));
  if (plain && (ts.isClassLike(node) || ts.isInterfaceDeclaration(node) || ts.isEnumDeclaration(node) || ts.isTypeAliasDeclaration(node))) {
    put("type", file, node.name, "");
    for (const clause of node.heritageClauses ?? []) for (const t of clause.types) if (last(t.expression)) put("base", file, node.name, last(t.expression));
  }
  if (ts.isVariableDeclaration(node) && plain && node.initializer && ts.isClassExpression(node.initializer)) put("type", file, node.name, "");
  if (plain && (ts.isFunctionDeclaration(node) || ts.isFunctionExpression(node) || ts.isMethodDeclaration(node) || ts.isMethodSignature(node))) signature(file, node.name, node);
  if (ts.isConstructorDeclaration(node)) {
    const keyword = node.getChildren().find((c) => c.kind === ts.SyntaxKind.ConstructorKeyword);
    if (keyword) {
      const line = node.getSourceFile().getLineAndCharacterOfPosition(keyword.getStart()).line + 1;
      for (const n of new Set(node.parameters.flatMap((p) => heads(p.type)))) console.log(["parameter", path.relative(root, file), line, "constructor", n].join("\t"));
    }
  }
  if (ts.isVariableDeclaration(node) && plain && isFunction(node.initializer)) signature(file, node.name, node.initializer);
  if (ts.isPropertyAssignment(node) && plain && isFunction(node.initializer) && ts.isVariableDeclaration(parent.parent)) signature(file, node.name, node.initializer);
  if (ts.canHaveDecorators(node) && plain) {
    for (const d of ts.getDecorators(node) ?? []) {
      const target = ts.isCallExpression(d.expression) ? d.expression.expression : d.expression;
      if (last(target)) put("attribute", file, node.name, last(target));
    }
  }
  ts.forEachChild(node, (child) => visit(file, child));
}

function walk(folder) {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) walk(file);
    else if (/\.([mc]?ts|tsx|[mc]?js|jsx)$/.test(entry.name)) visit(file, ts.createSourceFile(file, fs.readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true));
  }
}

walk(root);
