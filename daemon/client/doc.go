// Package client owns the way to the daemon: it dials the socket, starts aurad
// when none runs, names itself, calls methods, cancels them and hands out
// progress. It knows the contract (package api) and the places of Aura's files
// (package config), no operation and no server.
//
// It starts no goroutines: of those who wait for answers one reads for all, so
// that a command that makes one call costs no switch between threads. The daemon
// that Dial starts is a process of its own and outlives its client.
package client
