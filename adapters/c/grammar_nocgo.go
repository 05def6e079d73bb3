//go:build !cgo

package c

import "unsafe"

// The grammars, nil in a build without cgo.
var (
	cTables   = (func() unsafe.Pointer)(nil)
	cppTables = (func() unsafe.Pointer)(nil)
)
