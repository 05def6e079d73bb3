//go:build !cgo

package syntax

import "time"

// missing says what this build lacks to parse a grammar.
func missing(Grammar) string { return "it was built without cgo (CGO_ENABLED=0)" }

// compiled is never made in a build without cgo.
type compiled struct{ plan plan }

func compile(Grammar) (*compiled, error) { return nil, ErrNotBuilt }

func (*compiled) scan([]byte, time.Duration) ([]capture, error) { return nil, ErrNotBuilt }

func (*compiled) symbol(uint16) string { return "" }
