package view

import (
	"errors"
	"io/fs"
	"slices"
	"syscall"

	"github.com/auralsp/aura/graph/watch"
)

// readRegular reads a regular file and nothing else: a pipe or device that
// took its place since it was looked at is neither waited for nor read. The
// bytes are put into buf if they fit. They are those of one moment if before
// and after are equal.
//
// Package os would ask the kernel twice as much for each file.
func readRegular(path string, buf []byte, limit int64) (data []byte, before, after watch.Stamp, err error) {
	fd, err := openFile(path)
	if err != nil {
		return nil, before, after, err
	}
	defer func() {
		if e := syscall.Close(fd); e != nil && err == nil {
			err = &fs.PathError{Op: "close", Path: path, Err: e}
		}
	}()
	if before, err = watch.Fstat(fd, path); err != nil {
		return nil, before, after, err
	}
	if !before.Mode.IsRegular() {
		return nil, before, after, notRegular(path, before.Mode)
	}
	if before.Size > limit {
		return nil, before, after, &TooLargeError{path, before.Size, limit}
	}
	data = slices.Grow(buf[:0], int(before.Size))[:before.Size]
	read := 0
	for read < len(data) {
		n, err := syscall.Read(fd, data[read:])
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return nil, before, after, &fs.PathError{Op: "read", Path: path, Err: err}
		}
		if n == 0 {
			break // it was cut off meanwhile; after shows that
		}
		read += n
	}
	after, err = watch.Fstat(fd, path)
	return data[:read], before, after, err
}

func openFile(path string) (int, error) {
	for {
		fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY|syscall.O_CLOEXEC, 0)
		switch {
		case err == nil:
			return fd, nil
		case !errors.Is(err, syscall.EINTR):
			return -1, &fs.PathError{Op: "open", Path: path, Err: err}
		}
	}
}
