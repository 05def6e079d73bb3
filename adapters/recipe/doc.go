// Package recipe holds what several languages do in the same way: asking a
// server where a symbol is and what hangs on it, joining the renames of a
// family of methods, and finding words in comments and strings.
//
// It owns algorithms only. It knows no language and no server, touches nothing
// but its Bench, and starts no goroutines.
package recipe
