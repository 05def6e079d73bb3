//go:build cgo

package rust

import tree_sitter_rust "github.com/tree-sitter/tree-sitter-rust/bindings/go"

// tables is the grammar, nil in a build without cgo.
var tables = tree_sitter_rust.Language
