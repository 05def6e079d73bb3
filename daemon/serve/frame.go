package serve

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxHeader bounds the header block of a frame in bytes.
const maxHeader = 8 << 10

// frameError is a frame that cannot be read; the connection ends after it.
type frameError struct{ message string }

func (e *frameError) Error() string { return e.message }

// frames reads messages: in Content-Length framing as LSP has it, or one JSON
// value a line when the first byte of the connection is { or [.
type frames struct {
	in      *bufio.Reader
	max     int // largest message in bytes
	lines   bool
	decided bool
	started func() // a frame's first byte is here
	ended   func() // a frame is whole
}

func newFrames(r io.Reader, limit int, started, ended func()) *frames {
	return &frames{in: bufio.NewReaderSize(r, 32<<10), max: limit, started: started, ended: ended}
}

// next returns the next message, which is not reused. The error is io.EOF
// between messages, a *frameError, or what the connection gave.
func (f *frames) next() ([]byte, error) {
	first, err := f.skipSpace()
	if err != nil {
		return nil, err
	}
	f.started()
	defer f.ended()
	if !f.decided {
		f.decided, f.lines = true, first == '{' || first == '['
	}
	if f.lines {
		return f.line()
	}
	n, err := f.header()
	if err != nil {
		return nil, err
	}
	return f.body(n)
}

func (f *frames) skipSpace() (byte, error) {
	for {
		b, err := f.in.ReadByte()
		if err != nil {
			return 0, err
		}
		if b != ' ' && b != '\t' && b != '\r' && b != '\n' {
			return b, f.in.UnreadByte()
		}
	}
}

func (f *frames) line() ([]byte, error) {
	var out []byte
	for {
		part, err := f.in.ReadSlice('\n')
		if len(out)+len(part) > f.max+1 {
			return nil, &frameError{fmt.Sprintf("a message is longer than %d bytes", f.max)}
		}
		out = append(out, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(bytes.TrimSpace(out)) > 0:
			return out, nil // the last line may lack its end
		case err != nil:
			return nil, err
		default:
			return out, nil
		}
	}
}

func (f *frames) header() (length int, err error) {
	length = -1
	for read := 0; ; {
		line, err := f.in.ReadSlice('\n')
		if read += len(line); read > maxHeader || errors.Is(err, bufio.ErrBufferFull) {
			return 0, &frameError{fmt.Sprintf("the header of a message is longer than %d bytes", maxHeader)}
		}
		if errors.Is(err, io.EOF) {
			return 0, io.ErrUnexpectedEOF
		}
		if err != nil {
			return 0, err
		}
		text := strings.TrimRight(string(line), "\r\n")
		if text == "" {
			break
		}
		name, value, ok := strings.Cut(text, ":")
		if !ok {
			return 0, &frameError{"a message must begin with Content-Length, or be one line of JSON"}
		}
		if !strings.EqualFold(name, "Content-Length") {
			continue
		}
		n, err := contentLength(strings.Trim(value, " \t"))
		if err != nil {
			return 0, err
		}
		if length >= 0 && length != n {
			return 0, &frameError{"Content-Length is given twice"}
		}
		length = n
	}
	switch {
	case length < 0:
		return 0, &frameError{"a message must begin with Content-Length, or be one line of JSON"}
	case length > f.max:
		return 0, &frameError{fmt.Sprintf("a message of %d bytes is longer than %d", length, f.max)}
	}
	return length, nil
}

func contentLength(s string) (int, error) {
	for _, c := range s {
		if c < '0' || c > '9' {
			return 0, &frameError{fmt.Sprintf("Content-Length must be a number, not %q", s)}
		}
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, &frameError{fmt.Sprintf("Content-Length must be a number, not %q", s)}
	}
	return n, nil
}

// body takes memory as the bytes arrive, not as the header promises.
func (f *frames) body(n int) ([]byte, error) {
	const step = 64 << 10
	out := make([]byte, 0, min(n, step))
	for len(out) < n {
		if len(out) == cap(out) {
			grown := make([]byte, len(out), min(n, 2*cap(out)))
			copy(grown, out)
			out = grown
		}
		got, err := io.ReadFull(f.in, out[len(out):min(n, cap(out))])
		out = out[:len(out)+got]
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// appendFrame adds one message in the connection's framing. message is compact
// JSON, which holds no line end.
func appendFrame(dst, message []byte, lines bool) []byte {
	if lines {
		return append(append(dst, message...), '\n')
	}
	dst = append(dst, "Content-Length: "...)
	dst = strconv.AppendInt(dst, int64(len(message)), 10)
	dst = append(dst, "\r\n\r\n"...)
	return append(dst, message...)
}
