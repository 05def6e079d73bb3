// Package bash is all that Aura knows of shell scripts: how they are read by the
// grammar of Bash. It has no server.
//
// It must not know the daemon, processes or other languages, and starts no goroutines.
package bash
