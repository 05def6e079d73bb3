//go:build cgo

package php

import tree_sitter_php "github.com/tree-sitter/tree-sitter-php/bindings/go"

// tables is the grammar, nil in a build without cgo.
var tables = tree_sitter_php.LanguagePHP
