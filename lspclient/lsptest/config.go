package lsptest

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// Config says how a server behaves. The zero value is an honest one. It is
// plain JSON, so that a child process can be given one.
type Config struct {
	Name    string `json:"name,omitempty"`    // in serverInfo; "fake"
	Version string `json:"version,omitempty"` // in serverInfo; "1"
	// Encoding is the positionEncoding that is announced and used: "utf-8",
	// "utf-16" (the default) or "utf-32". Another word is announced as it is.
	Encoding string `json:"encoding,omitempty"`
	// Claim adds to, or with null takes from, the announced capabilities.
	Claim map[string]json.RawMessage `json:"claim,omitempty"`
	// Extensions of the files below the root that the server knows; nil is all.
	Extensions []string `json:"extensions,omitempty"`
	// Word is what diagnostics are published for; "ERROR".
	Word string `json:"word,omitempty"`
	// Pull announces and answers textDocument/diagnostic.
	Pull bool `json:"pull,omitempty"`
	// FullSync asks for whole texts instead of incremental changes.
	FullSync bool `json:"fullSync,omitempty"`
	// Section asks for this configuration section after initialized.
	Section string  `json:"section,omitempty"`
	Loading Loading `json:"loading,omitzero"`
	// Journal is a file to which each received message is appended as a JSON
	// line of type Received.
	Journal string  `json:"journal,omitempty"`
	Faults  []Fault `json:"faults,omitempty"`

	// What follows needs a child process.

	IgnoreTerm bool  `json:"ignoreTerm,omitempty"` // SIGTERM does nothing
	IgnoreEOF  bool  `json:"ignoreEOF,omitempty"`  // lives on when stdin ends, and after exit
	Grandchild bool  `json:"grandchild,omitempty"` // starts a child that lives until it is killed
	Setsid     bool  `json:"setsid,omitempty"`     // in a session of its own
	HoldStdout bool  `json:"holdStdout,omitempty"` // and with our stdout and stderr
	Eat        int64 `json:"eat,omitempty"`        // bytes of memory to hold from the start
}

// Loading is the work between initialized and the first whole answer, told by
// $/progress.
type Loading struct {
	Millis  int    `json:"millis,omitempty"`  // 0: ready at once, without progress
	Reports int    `json:"reports,omitempty"` // progress reports on the way
	Title   string `json:"title,omitempty"`   // "Loading"
	Message string `json:"message,omitempty"` // of the end; "done"
	// Empty answers requests during loading with null instead of waiting.
	Empty bool `json:"empty,omitempty"`
	// Never begins loading and does not end it.
	Never bool `json:"never,omitempty"`
}

// Fault is one thing that goes wrong when a message arrives.
type Fault struct {
	// On is the method of the message, or "start" for the start of the server,
	// or empty for any message.
	On string `json:"on,omitempty"`
	// Path fires only for messages about a document with this ending.
	Path string `json:"path,omitempty"`
	// After lets this many matching messages pass first.
	After int `json:"after,omitempty"`
	// Times is how often it fires; 0 is always.
	Times int `json:"times,omitempty"`
	// Once names a file: the fault fires only while it does not exist, and makes
	// it, so that the next process is sound.
	Once string `json:"once,omitempty"`
	// Do is what happens.
	Do Deed `json:"do"`

	Millis int             `json:"millis,omitempty"` // Late, Sleep: how long
	Bytes  int             `json:"bytes,omitempty"`  // Huge, Stderr, Garbage, Split: how much
	Count  int             `json:"count,omitempty"`  // Notify, Progress, Reorder: how many
	Code   int             `json:"code,omitempty"`   // Crash: exit status; Refuse: error code
	Text   string          `json:"text,omitempty"`   // Refuse, Raw, Garbage, Stderr; Notify, Ask: the method
	JSON   json.RawMessage `json:"json,omitempty"`   // Answer: the result; Notify, Ask: the params
}

// Deed is what a Fault does.
type Deed string

// The deeds. Those that concern an answer are about the message that fired them.
const (
	Crash       Deed = "crash"       // end at once with status Code; in process, close both pipes
	Kill        Deed = "kill"        // end by SIGKILL; child process only
	Silent      Deed = "silent"      // never answer
	Late        Deed = "late"        // answer after Millis, others meanwhile
	Sleep       Deed = "sleep"       // do nothing else for Millis first
	Hang        Deed = "hang"        // read on, but never do anything again
	StopReading Deed = "stopReading" // and answer nothing
	Refuse      Deed = "refuse"      // answer with the error Code and Text
	AnswerWith  Deed = "answer"      // answer with the result JSON
	Twice       Deed = "twice"       // answer twice
	WrongIDs    Deed = "wrongIDs"    // and with ids of all kinds that nobody used
	Reorder     Deed = "reorder"     // hold answers until Count are there, then send them last first
	Split       Deed = "split"       // write the answer in pieces of Bytes
	Huge        Deed = "huge"        // answer with a string of Bytes
	Raw         Deed = "raw"         // write Text in place of an answer
	Garbage     Deed = "garbage"     // print Text, or Bytes of lines, to stdout first
	Stderr      Deed = "stderr"      // print Text, or Bytes without a newline, to stderr first
	Notify      Deed = "notify"      // send the notification Text with JSON, Count times, first
	Ask         Deed = "ask"         // send the request Text with JSON, and wait for its answer, first
	Progress    Deed = "progress"    // send Count progress reports first
	Overwhelm   Deed = "overwhelm"   // publish diagnostics of Count files first
	CloseStdout Deed = "closeStdout" // and live on
	CloseStderr Deed = "closeStderr" // and live on
)

// Received is one line of the Journal.
type Received struct {
	PID    int             `json:"pid"`
	Method string          `json:"method"` // empty for an answer
	Params json.RawMessage `json:"params,omitempty"`
}

// ReadJournal returns what has been received by the servers that share a
// journal; a missing file is an empty one.
func ReadJournal(path string) ([]Received, error) {
	data, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []Received
	for line := range strings.SplitSeq(strings.TrimSuffix(string(data), "\n"), "\n") {
		var r Received
		if line == "" {
			continue
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			return nil, fmt.Errorf("journal %s: %w", path, err)
		}
		list = append(list, r)
	}
	return list, nil
}

func (c *Config) defaults() {
	if c.Name == "" {
		c.Name = "fake"
	}
	if c.Version == "" {
		c.Version = "1"
	}
	if c.Word == "" {
		c.Word = "ERROR"
	}
	if c.Loading.Title == "" {
		c.Loading.Title = "Loading"
	}
	if c.Loading.Message == "" {
		c.Loading.Message = "done"
	}
}
