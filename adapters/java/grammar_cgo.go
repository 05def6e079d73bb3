//go:build cgo

package java

import tree_sitter_java "github.com/tree-sitter/tree-sitter-java/bindings/go"

// tables is the grammar, nil in a build without cgo.
var tables = tree_sitter_java.Language
