// Package serve owns the daemon's Unix socket: the private folder, the lock that
// makes the daemon single, the check of the peer, framing, limits, the queue of
// each connection and the shape of answers. What a method does comes from the
// Dispatch func that it is given; it knows the contract (package api) and no
// operation, workspace or server.
//
// Goroutines: Serve accepts and waits for everything below it. Each connection
// has a reader, a writer, a scheduler and one goroutine for every request that
// runs; they end with the connection, and Serve returns after the last.
package serve
