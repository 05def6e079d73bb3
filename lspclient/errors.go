package lspclient

import (
	"errors"

	"github.com/auralsp/aura/lspclient/wire"
)

// Errors of calls; see package wire.
type (
	// EndedError is what every use of a dead connection returns, with the cause.
	EndedError = wire.EndedError
	// CallError is the server's refusal of a request.
	CallError = wire.CallError
	// DecodeError is an answer that is not of the expected type.
	DecodeError = wire.DecodeError
	// FrameError is the cause of an EndedError when what came were no frames.
	FrameError = wire.FrameError
)

// Causes of an EndedError; io.EOF is the server's own end.
var (
	// ErrClosed says that the connection was closed by us.
	ErrClosed = wire.ErrClosed
	// ErrWriteTimeout says that the server stopped reading.
	ErrWriteTimeout = wire.ErrWriteTimeout
)

// Refusals that callers act on, compared by errors.Is.
var (
	// ErrContentModified says that the text changed while the server worked: ask again.
	ErrContentModified = wire.ErrContentModified
	// ErrServerCancelled says that the server gave up by itself: ask again.
	ErrServerCancelled = wire.ErrServerCancelled
	// ErrRequestCancelled answers a request that was cancelled.
	ErrRequestCancelled = wire.ErrRequestCancelled
	// ErrMethodNotFound says that the server does not know the method.
	ErrMethodNotFound = wire.ErrMethodNotFound
)

// Errors of the mirror.
var (
	// ErrOpen says that a document is open already.
	ErrOpen = errors.New("document is open already")
	// ErrNotOpen says that a document is not open.
	ErrNotOpen = errors.New("document is not open")
	// ErrNotUTF8 says that a text or a path cannot be sent without changing it.
	ErrNotUTF8 = errors.New("not valid UTF-8")
)

// ErrCapability says that the server does not announce what was asked of it.
var ErrCapability = errors.New("server does not support it")

// Retryable reports whether the same request may be sent again at once.
func Retryable(err error) bool {
	return errors.Is(err, ErrContentModified) || errors.Is(err, ErrServerCancelled)
}
