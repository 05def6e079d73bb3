package lsptest

import (
	"errors"
	"io"
	"os"
	"testing"
)

// Conn is the client's end of an in-process server: two pipes of the kernel,
// with the buffers that a child's have.
type Conn struct {
	io.Reader
	io.Writer
	in, out *os.File
}

// Close closes both ends.
func (c *Conn) Close() error { return errors.Join(c.in.Close(), c.out.Close()) }

// Start runs a server in process and returns it with the client's end, which
// the test must close or give to something that does. The server ends with the test.
func Start(t testing.TB, config Config) (*Server, *Conn) {
	t.Helper()
	serverIn, clientOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	clientIn, serverOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(config, serverIn, serverOut, io.Discard)
	s.run()
	t.Cleanup(s.Close)
	return s, &Conn{Reader: clientIn, Writer: clientOut, in: clientIn, out: clientOut}
}
