// Package c is all that Aura knows of C and C++: how their files are read by
// their grammars. A header may be of either, so both are one language. It has no
// server.
//
// It must not know the daemon, processes or other languages, and starts no goroutines.
package c
