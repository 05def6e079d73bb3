//go:build cgo

package typescript

import (
	tree_sitter_javascript "github.com/tree-sitter/tree-sitter-javascript/bindings/go"
	tree_sitter_typescript "github.com/tree-sitter/tree-sitter-typescript/bindings/go"
)

// The grammars, nil in a build without cgo.
var (
	typescriptTables = tree_sitter_typescript.LanguageTypescript
	tsxTables        = tree_sitter_typescript.LanguageTSX
	javascriptTables = tree_sitter_javascript.Language
)
