// Package wire owns one JSON-RPC connection to a language server: frames in and
// out, replies matched to calls, notifications in order, a trace of all of it.
//
// It is built on the message layer of go.lsp.dev/jsonrpc2 (scanner, encoder,
// ids, errors) and has its own connection above it, because that library's Conn
// ends the connection on one malformed notification, on a result beside
// "error": null and on one log line in stdout, allocates a frame before its
// bytes arrive, blocks its reader on writes, writes without a deadline, and its
// Close waits for a server that hangs.
//
// It must not know LSP beyond the names of a few notifications that may be
// coalesced, nor which server it talks to, nor processes.
//
// Goroutines, all started by Start and awaited by Close: the reader, which never
// waits on the writer; the writer, which gives up on a peer that stops reading;
// the consumer, which hands events to the Handler one at a time in wire order;
// the closer, which closes the byte stream once the connection is dead; and two
// workers for requests of the server whose answer needs a callback.
package wire
