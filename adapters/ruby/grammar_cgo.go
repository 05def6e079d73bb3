//go:build cgo

package ruby

import tree_sitter_ruby "github.com/tree-sitter/tree-sitter-ruby/bindings/go"

// tables is the grammar, nil in a build without cgo.
var tables = tree_sitter_ruby.Language
