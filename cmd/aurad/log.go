package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
)

// maxLog is the size at which the log is moved aside to FILE.1, in bytes.
const maxLog = 10 << 20

// openLog returns the logger: lines of JSON in a private file, or text on
// standard error when name is "-".
func openLog(name, usual string, level slog.Leveler, stderr io.Writer) (*slog.Logger, func(), error) {
	if name == "-" {
		return slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level})), func() {}, nil
	}
	if name == "" {
		name = usual
	}
	w := &logFile{name: name}
	if err := w.open(); err != nil {
		return nil, nil, fmt.Errorf("log: %w", err)
	}
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level})), w.close, nil
}

// logFile is a file that is moved aside when it grows too large. slog writes
// one record at a time.
type logFile struct {
	name string

	mu   sync.Mutex // guards what follows
	file *os.File
	size int64
}

func (l *logFile) open() error {
	if err := os.MkdirAll(filepath.Dir(l.name), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(l.name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return err
	}
	l.file, l.size = f, info.Size()
	return nil
}

// Write appends one record.
func (l *logFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size+int64(len(p)) > maxLog {
		old := l.file
		if err := os.Rename(l.name, l.name+".1"); err == nil && l.open() == nil {
			_ = old.Close()
		}
	}
	n, err := l.file.Write(p)
	l.size += int64(n)
	return n, err
}

func (l *logFile) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.file.Close()
}
