// Package recipe holds what several languages do in the same way: asking a
// server where a symbol is and what hangs on it; types above and below a type,
// and the members that override one another, by syntax joined with a server's
// definitions; clashes of names; the plan of a rename; words in comments and
// strings.
//
// It owns algorithms only. It knows no language and no server, touches nothing
// but its Bench, and starts no goroutines.
package recipe
