//go:build cgo

package c

import (
	tree_sitter_c "github.com/tree-sitter/tree-sitter-c/bindings/go"
	tree_sitter_cpp "github.com/tree-sitter/tree-sitter-cpp/bindings/go"
)

// The grammars, nil in a build without cgo.
var (
	cTables   = tree_sitter_c.Language
	cppTables = tree_sitter_cpp.Language
)
