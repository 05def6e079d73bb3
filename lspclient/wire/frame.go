package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// Limits of the framing.
const (
	// MaxFrame is the largest body that is read or written, in bytes.
	MaxFrame = 64 << 20
	// MaxStray is how many bytes that belong to no frame may stand between two
	// frames before the peer is held not to be a language server.
	MaxStray = 64 << 10

	maxHeader  = 8 << 10
	firstChunk = 256 << 10
	headerRoom = 32
)

// FrameError says that the peer's bytes are not frames. There is no resuming
// after it: where the next message starts would be a guess.
type FrameError struct {
	Reason string
	// Near holds up to 80 bytes of what was read where the error was found.
	Near string
}

// Error implements error.
func (e *FrameError) Error() string {
	if e.Near == "" {
		return "framing: " + e.Reason
	}
	return fmt.Sprintf("framing: %s near %q", e.Reason, e.Near)
}

func frameError(reason string, near []byte) *FrameError {
	return &FrameError{Reason: reason, Near: string(near[:min(len(near), 80)])}
}

// Reader splits a byte stream into the bodies of LSP frames. It is not safe for
// concurrent use.
type Reader struct {
	in    *bufio.Reader
	skip  func(stray []byte)
	stray int // bytes since the last frame
}

// NewReader reads frames from r. Lines between frames that cannot be a header,
// such as log output, are passed to skip, which may be nil and must not keep them.
func NewReader(r io.Reader, skip func(stray []byte)) *Reader {
	if skip == nil {
		skip = func([]byte) {}
	}
	return &Reader{in: bufio.NewReaderSize(r, MaxStray+maxHeader), skip: skip}
}

// Next returns the body of the next frame, which the caller owns. The error is
// io.EOF at the end of the stream between frames, io.ErrUnexpectedEOF inside
// one, a *FrameError, or what the stream returned.
func (r *Reader) Next() ([]byte, error) {
	length, err := r.header()
	if err != nil {
		return nil, err
	}
	r.stray = 0
	// Memory follows the bytes that arrive, not the number that was announced.
	body := make([]byte, min(length, firstChunk))
	for read := 0; ; {
		n, err := io.ReadFull(r.in, body[read:])
		read += n
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, fmt.Errorf("body of %d bytes ended after %d: %w", length, read, err)
		}
		if read == length {
			return body, nil
		}
		grown := make([]byte, min(length, 2*len(body)))
		copy(grown, body)
		body = grown
	}
}

// header reads up to and including the blank line and returns the body's length.
func (r *Reader) header() (int, error) {
	length, size := -1, 0
	for {
		line, err := r.line(size > 0)
		if err != nil {
			return 0, err
		}
		if size == 0 {
			at := headerAt(line)
			if at != 0 {
				stray := line
				if at > 0 {
					stray = line[:at]
				}
				if err := r.pass(stray); err != nil {
					return 0, err
				}
				if at < 0 {
					continue
				}
				line = line[at:]
			}
		}
		size += len(line)
		if size > maxHeader {
			return 0, frameError("header is too long", line)
		}
		text := bytes.TrimRight(line, "\r\n")
		if len(text) == 0 {
			break
		}
		if text[0] == ' ' || text[0] == '\t' {
			return 0, frameError("folded header", text)
		}
		name, value, ok := bytes.Cut(text, []byte(":"))
		if !ok {
			return 0, frameError("header without a colon", text)
		}
		if !bytes.EqualFold(name, []byte("content-length")) {
			continue
		}
		if length >= 0 {
			return 0, frameError("two Content-Length headers", text)
		}
		if length, err = parseLength(bytes.Trim(value, " \t")); err != nil {
			return 0, err
		}
	}
	if length < 0 {
		return 0, frameError("header without Content-Length", nil)
	}
	return length, nil
}

// line returns the next line with its ending, valid until the next read.
func (r *Reader) line(inHeader bool) ([]byte, error) {
	line, err := r.in.ReadSlice('\n')
	switch {
	case err == nil:
		return line, nil
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, frameError("a line without an end", line)
	case errors.Is(err, io.EOF) && inHeader:
		return nil, fmt.Errorf("header: %w", io.ErrUnexpectedEOF)
	case errors.Is(err, io.EOF) && len(line) > 0:
		if headerAt(line) >= 0 {
			return nil, fmt.Errorf("header: %w", io.ErrUnexpectedEOF)
		}
		if err := r.pass(line); err != nil {
			return nil, err
		}
	}
	return nil, err
}

// pass counts bytes that belong to no frame.
func (r *Reader) pass(stray []byte) error {
	// A stray message means that lengths and bodies no longer agree. Looking for
	// the next header would lose a reply and leave its caller waiting.
	if bytes.Contains(stray, []byte(`"jsonrpc"`)) {
		return frameError("message outside a frame", stray)
	}
	r.stray += len(stray)
	if r.stray > MaxStray {
		return frameError(fmt.Sprintf("more than %d bytes that are no frame", MaxStray), stray)
	}
	r.skip(stray)
	return nil
}

// headerAt returns where in line a header block starts: 0, or after output that
// a server printed without a newline, or -1.
func headerAt(line []byte) int {
	const name = "content-length:"
	if hasFoldPrefix(line, name) || hasFoldPrefix(line, "content-type:") {
		return 0
	}
	// Only the exact form that servers write counts here, so that a log line
	// which speaks of the header is not taken for one.
	text, ok := bytes.CutSuffix(line, []byte("\r\n"))
	if !ok {
		return -1
	}
	at := bytes.LastIndex(text, []byte("Content-Length: "))
	if at < 0 {
		return -1
	}
	if _, err := parseLength(text[at+len("Content-Length: "):]); err != nil {
		return -1
	}
	return at
}

func hasFoldPrefix(line []byte, prefix string) bool {
	return len(line) >= len(prefix) && bytes.EqualFold(line[:len(prefix)], []byte(prefix))
}

func parseLength(value []byte) (int, error) {
	if len(value) == 0 || len(value) > 19 {
		return 0, frameError("bad Content-Length", value)
	}
	for _, c := range value {
		if c < '0' || c > '9' {
			return 0, frameError("bad Content-Length", value)
		}
	}
	n, err := strconv.ParseInt(string(value), 10, 64)
	switch {
	case err != nil || n == 0:
		return 0, frameError("bad Content-Length", value)
	case n > MaxFrame:
		return 0, frameError(fmt.Sprintf("Content-Length above %d", MaxFrame), value)
	}
	return int(n), nil
}

// AppendFrame appends body with its header to dst.
func AppendFrame(dst, body []byte) []byte { return append(appendHeader(dst, len(body)), body...) }

func appendHeader(dst []byte, length int) []byte {
	dst = append(dst, "Content-Length: "...)
	dst = strconv.AppendInt(dst, int64(length), 10)
	return append(dst, "\r\n\r\n"...)
}

// frameRoom begins a frame: room for the header, to which the body of a message
// with these parts is appended.
func frameRoom(method string, payload []byte) []byte {
	return make([]byte, headerRoom, headerRoom+len(payload)+len(method)+96)
}

// withHeader puts the header into the room before the body.
func withHeader(frame []byte) []byte {
	header := appendHeader(make([]byte, 0, headerRoom), len(frame)-headerRoom)
	start := headerRoom - len(header)
	copy(frame[start:], header)
	return frame[start:]
}
