//go:build !cgo

package bash

import "unsafe"

// tables is the grammar, nil in a build without cgo.
var tables = (func() unsafe.Pointer)(nil)
