// Package lspclient is the client of one language server over one byte stream:
// the handshake, calls, answers to everything the server asks, the progress and
// diagnostics it reports, and the mirror of the documents it was told to open.
//
// It owns what the server was told and has said. It must not know which server
// it talks to, how processes start and end, nor what the true text of a file is:
// it mirrors what it is given.
//
// Its goroutines are those of its wire.Conn, started by Start and awaited by
// Close. Hooks run on the connection's consumer and must neither block nor call
// the Client's blocking methods.
package lspclient
