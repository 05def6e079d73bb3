//go:build !cgo

package typescript

import "unsafe"

// The grammars, nil in a build without cgo.
var (
	typescriptTables = (func() unsafe.Pointer)(nil)
	tsxTables        = (func() unsafe.Pointer)(nil)
	javascriptTables = (func() unsafe.Pointer)(nil)
)
