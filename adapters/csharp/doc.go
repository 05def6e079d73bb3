// Package csharp is all that Aura knows of C#: how its files are read, where
// its solutions and projects begin, and what a name may be.
//
// It must not know the daemon, processes or other languages, and starts no goroutines.
package csharp
