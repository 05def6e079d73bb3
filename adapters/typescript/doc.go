// Package typescript is all that Aura knows of TypeScript and JavaScript: how
// their files are read, where their projects begin, and what a name may be.
//
// It must not know the daemon, processes or other languages, and starts no goroutines.
package typescript
