//go:build cgo

package csharp

import tree_sitter_csharp "github.com/tree-sitter/tree-sitter-c-sharp/bindings/go"

// tables is the grammar, nil in a build without cgo.
var tables = tree_sitter_csharp.Language
