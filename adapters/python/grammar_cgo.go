//go:build cgo

package python

import tree_sitter_python "github.com/tree-sitter/tree-sitter-python/bindings/go"

// tables is the grammar, nil in a build without cgo.
var tables = tree_sitter_python.Language
