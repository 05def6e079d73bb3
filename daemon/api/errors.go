package api

import (
	"errors"
	"fmt"
)

// Code is a stable error code; clients switch on it.
type Code string

// The codes of a refusal (spec: protocol.md, "Errors").
const (
	SymbolNotFound       Code = "SYMBOL_NOT_FOUND"
	AmbiguousSymbol      Code = "AMBIGUOUS_SYMBOL"
	InvalidArgument      Code = "INVALID_ARGUMENT"
	InvalidName          Code = "INVALID_NAME"
	NameConflict         Code = "NAME_CONFLICT"
	FileNotFound         Code = "FILE_NOT_FOUND"
	FileTooLarge         Code = "FILE_TOO_LARGE"
	BinaryFile           Code = "BINARY_FILE"
	OutsideWorkspace     Code = "OUTSIDE_WORKSPACE"
	PermissionDenied     Code = "PERMISSION_DENIED"
	UnsupportedOperation Code = "UNSUPPORTED_OPERATION"
	ServerUnavailable    Code = "SERVER_UNAVAILABLE"
	ServerCrashed        Code = "SERVER_CRASHED"
	ServerTimeout        Code = "SERVER_TIMEOUT"
	StaleContent         Code = "STALE_CONTENT"
	ValidationFailed     Code = "VALIDATION_FAILED"
	BlockedByUsages      Code = "BLOCKED_BY_USAGES"
	UndoNotFound         Code = "UNDO_NOT_FOUND"
	UndoConflict         Code = "UNDO_CONFLICT"
	UnsavedBuffer        Code = "UNSAVED_BUFFER"
	TierDenied           Code = "TIER_DENIED"
	WorkspaceUntrusted   Code = "WORKSPACE_UNTRUSTED"
	Cancelled            Code = "CANCELLED"
	Timeout              Code = "TIMEOUT"
	Overloaded           Code = "OVERLOADED"
	Internal             Code = "INTERNAL"
)

// Error is a refusal as every door shows it. The message says what to do next.
type Error struct {
	Code        Code        `json:"code"`
	Message     string      `json:"message"`
	Suggestions []string    `json:"suggestions,omitempty"`
	Candidates  []Candidate `json:"candidates,omitempty"`
	Details     any         `json:"details,omitempty"`
}

// Candidate is one of several symbols that an address matches.
type Candidate struct {
	SymbolID  string `json:"symbolId"`
	Name      string `json:"name"`
	Kind      string `json:"kind"`
	Container string `json:"container,omitempty"`
	File      string `json:"file"`
	Line      int    `json:"line"`
}

// Error returns the code and the message.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Is makes errors.Is(err, &Error{Code: c}) compare codes.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code && t.Message == ""
}

// Errorf makes an Error of a code with a formatted message.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Unserved returns the refusal that err carries when it only says that no server
// can be asked: there is none, it does not run, is not ready or not trusted.
func Unserved(err error) (*Error, bool) {
	var e *Error
	if !errors.As(err, &e) {
		return nil, false
	}
	switch e.Code {
	case ServerUnavailable, ServerCrashed, ServerTimeout, WorkspaceUntrusted:
		return e, true
	}
	return nil, false
}

// CodeOf returns the code that err carries, Internal when it carries none and
// the empty string for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return Internal
}
