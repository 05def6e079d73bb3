// Package php is all that Aura knows of PHP: how its files are read by their
// grammar. It has no server.
//
// It must not know the daemon, processes or other languages, and starts no goroutines.
package php
