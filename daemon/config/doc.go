// Package config owns the user's settings and the places of Aura's files: it
// reads TOML strictly, lays AURA_* variables and flags over it, and tells where
// each value came from. Every setting and its default stand once, in the tags of Config.
//
// It knows nothing of ours and starts no goroutines. It reads the configuration
// file and the environment that it is given; it writes nothing.
package config
