package wire

import (
	"errors"
	"fmt"
)

// Causes of an EndedError, besides what reading returned.
var (
	// ErrClosed says that Close was called.
	ErrClosed = errors.New("connection was closed")
	// ErrWriteTimeout says that the peer stopped reading.
	ErrWriteTimeout = errors.New("peer stopped reading")
	// ErrFlood says that the peer asks without reading the answers.
	ErrFlood = errors.New("peer asks faster than it reads answers")
)

// EndedError is what every use of a dead connection returns.
type EndedError struct {
	// Cause is why it ended: io.EOF when the peer closed it between frames, a
	// *FrameError, ErrClosed, ErrWriteTimeout, ErrFlood, or a read or write error.
	Cause error
	// Stray is the end of the output that belonged to no frame, at most 1 KiB:
	// what a program printed that is no language server.
	Stray string
}

// Error implements error.
func (e *EndedError) Error() string {
	if e.Stray == "" {
		return fmt.Sprintf("connection ended: %v", e.Cause)
	}
	return fmt.Sprintf("connection ended: %v; last stray output: %q", e.Cause, e.Stray)
}

// Unwrap returns the cause.
func (e *EndedError) Unwrap() error { return e.Cause }

// CallError is the error object with which the peer answered a call.
type CallError struct {
	Method  string // of the call
	Code    Code
	Message string
	Data    []byte // JSON, nil when absent
}

// Error implements error.
func (e *CallError) Error() string {
	return fmt.Sprintf("%s: %s (code %d)", e.Method, e.Message, e.Code)
}

// Is reports whether target is a CallError without a method that has the same
// code, as the sentinels of this package are.
func (e *CallError) Is(target error) bool {
	t, ok := target.(*CallError)
	return ok && t.Method == "" && t.Code == e.Code
}

// Answers that callers act on; errors.Is compares the code.
var (
	ErrContentModified  error = &CallError{Code: ContentModified, Message: "content modified"}
	ErrServerCancelled  error = &CallError{Code: ServerCancelled, Message: "cancelled by the server"}
	ErrRequestCancelled error = &CallError{Code: RequestCancelled, Message: "request cancelled"}
	ErrMethodNotFound   error = &CallError{Code: MethodNotFound, Message: "method not found"}
)

// DecodeError says that an answer arrived that is not of the expected type.
type DecodeError struct {
	Method string
	Err    error
}

// Error implements error.
func (e *DecodeError) Error() string {
	return fmt.Sprintf("%s: undecodable answer: %v", e.Method, e.Err)
}

// Unwrap returns the decoder's error.
func (e *DecodeError) Unwrap() error { return e.Err }
