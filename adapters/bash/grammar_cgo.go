//go:build cgo

package bash

import tree_sitter_bash "github.com/tree-sitter/tree-sitter-bash/bindings/go"

// tables is the grammar, nil in a build without cgo.
var tables = tree_sitter_bash.Language
