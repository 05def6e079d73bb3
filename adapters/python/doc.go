// Package python is all that Aura knows of Python: how its files are read,
// where its projects begin, and what a name may be.
//
// It must not know the daemon, processes or other languages, and starts no goroutines.
package python
