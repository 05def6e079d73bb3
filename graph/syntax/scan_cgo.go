//go:build cgo

package syntax

/*
#cgo CFLAGS: -std=c11 -D_POSIX_C_SOURCE=200112L
#include "shim.h"
#include <stdlib.h>
*/
import "C"

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"
	"unsafe"

	tree_sitter "github.com/tree-sitter/go-tree-sitter" // compiles the library that shim.h declares
)

// useC lets the library allocate by itself: the binding's own allocator calls
// back into Go for every node, which costs a fifth of a parse.
var useC = sync.OnceFunc(func() { C.ts_set_allocator(nil, nil, nil, nil) })

// missing says what this build lacks to parse a grammar, empty when nothing.
func missing(g Grammar) string {
	if g.Language == nil {
		return "the grammar is not part of this build"
	}
	return ""
}

// compiled is a query bound to its grammar. It is safe for concurrent use and
// frees what it holds in C when nothing refers to it any more.
type compiled struct {
	language *C.TSLanguage
	query    *C.TSQuery
	faults   *C.TSQuery
	plan     plan
}

// compile reads the query. Its errors are mistakes in a language's folder.
func compile(g Grammar) (*compiled, error) {
	useC()
	language := (*C.TSLanguage)(g.Language())
	oldest, newest := uint32(tree_sitter.MIN_COMPATIBLE_LANGUAGE_VERSION), uint32(tree_sitter.LANGUAGE_VERSION)
	if v := uint32(C.ts_language_abi_version(language)); v < oldest || v > newest {
		return nil, fmt.Errorf("the grammar has version %d, the library reads %d to %d", v, oldest, newest)
	}
	query, err := newQuery(language, g.Query)
	if err != nil {
		return nil, err
	}
	faults, err := newQuery(language, faultQuery)
	if err != nil {
		C.ts_query_delete(query)
		return nil, err
	}
	c := &compiled{language: language, query: query, faults: faults}
	for _, q := range []*C.TSQuery{query, faults} {
		runtime.AddCleanup(c, func(q *C.TSQuery) { C.ts_query_delete(q) }, q)
	}
	names := make([]string, C.ts_query_capture_count(query))
	var n C.uint32_t
	for i := range names {
		s := C.ts_query_capture_name_for_id(query, C.uint32_t(i), &n)
		names[i] = C.GoStringN(s, C.int(n))
	}
	conditions := make([][]string, C.ts_query_pattern_count(query))
	for i := range conditions {
		conditions[i] = c.condition(uint32(i), names)
	}
	c.plan, err = newPlan(names, conditions)
	return c, err
}

// newQuery compiles a query. Who gets it deletes it.
func newQuery(language *C.TSLanguage, source string) (*C.TSQuery, error) {
	text := C.CString(source)
	defer C.free(unsafe.Pointer(text))
	var at C.uint32_t
	var kind C.int
	query := C.ts_query_new(language, text, C.uint32_t(len(source)), &at, &kind)
	if query == nil {
		names := [...]string{"nothing", "the syntax", "a node's name", "a field's name", "a capture's name", "a pattern that nothing can match", "the grammar"}
		before := source[:min(int(at), len(source))]
		rest, _, _ := strings.Cut(source[len(before):], "\n")
		return nil, fmt.Errorf("query, line %d: wrong is %s: %s", strings.Count(before, "\n")+1, names[int(kind)%len(names)], rest)
	}
	return query, nil
}

// condition returns the predicates of a pattern as words; "" ends each of them
// and a capture has "@" before its name.
func (c *compiled) condition(pattern uint32, names []string) []string {
	var n C.uint32_t
	first := C.ts_query_predicates_for_pattern(c.query, C.uint32_t(pattern), &n)
	var words []string
	for _, step := range unsafe.Slice(first, int(n)) {
		switch step._type {
		case 1:
			words = append(words, "@"+names[step.value_id])
		case 2:
			var length C.uint32_t
			s := C.ts_query_string_value_for_id(c.query, step.value_id, &length)
			words = append(words, C.GoStringN(s, C.int(length)))
		default:
			words = append(words, "")
		}
	}
	return words
}

// scan parses content and returns what the query captures, in the order of the
// matches, within budget.
func (c *compiled) scan(content []byte, budget time.Duration) ([]capture, error) {
	var out C.aura_result
	defer func() { C.free(unsafe.Pointer(out.items)) }()
	text := unsafe.SliceData(content)
	status := C.aura_scan(c.language, c.query, c.faults, (*C.char)(unsafe.Pointer(text)), C.uint32_t(len(content)), C.int64_t(budget), &out)
	runtime.KeepAlive(c)
	switch status {
	case C.AURA_OK:
	case C.AURA_TIMEOUT:
		return nil, fmt.Errorf("not parsed after %v: %w", budget, ErrTooSlow)
	default:
		return nil, fmt.Errorf("no memory to parse %d bytes", len(content))
	}
	items := unsafe.Slice(out.items, int(out.count))
	captures := make([]capture, len(items))
	for i, it := range items {
		captures[i] = capture{
			node: uint64(it.node), start: uint32(it.start), end: uint32(it.end), match: uint32(it.match),
			pattern: uint16(it.pattern), name: uint16(it.capture), symbol: uint16(it.symbol),
		}
	}
	return captures, nil
}

// symbol returns the name of a kind of node.
func (c *compiled) symbol(id uint16) string {
	return C.GoString(C.ts_language_symbol_name(c.language, C.uint16_t(id)))
}
