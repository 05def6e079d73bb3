// Package rust is all that Aura knows of Rust: how its files are read, where
// its crates and workspaces begin, and what a name may be.
//
// It must not know the daemon, processes or other languages, and starts no goroutines.
package rust
