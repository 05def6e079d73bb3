package client

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxAnswer bounds one message of the daemon in bytes.
const maxAnswer = 256 << 20

func frame(body []byte) []byte {
	b := make([]byte, 0, len(body)+32)
	b = append(b, "Content-Length: "...)
	b = strconv.AppendInt(b, int64(len(body)), 10)
	b = append(b, "\r\n\r\n"...)
	return append(b, body...)
}

// reader takes messages apart as the daemon frames them.
type reader struct{ in *bufio.Reader }

func newReader(r io.Reader) reader { return reader{bufio.NewReaderSize(r, 16<<10)} }

func (r reader) next() ([]byte, error) {
	length := -1
	for {
		line, err := r.in.ReadSlice('\n')
		if errors.Is(err, io.EOF) && len(line) > 0 {
			return nil, io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
		text := strings.TrimRight(string(line), "\r\n")
		if text == "" {
			break
		}
		if name, value, ok := strings.Cut(text, ":"); ok && strings.EqualFold(name, "Content-Length") {
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil {
				return nil, fmt.Errorf("it sent a header that cannot be read: %q", text)
			}
		}
	}
	if length < 0 || length > maxAnswer {
		return nil, fmt.Errorf("it sent a message of %d bytes", length)
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(r.in, body); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	return body, nil
}
