package daemon

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/auralsp/aura/daemon/api"
)

// transcripts are files of what Aura and language servers said to each other,
// one for each process, written where the user's configuration asks for it.
// They hold text of the user and lie in a private folder.
type transcripts struct {
	dir    string
	wanted func(engine string) bool
	log    *slog.Logger
}

// Bounds of the transcripts: how many are kept, and how large one becomes.
const (
	maxTranscripts    = 16
	maxTranscriptSize = 256 << 20
)

// errTranscript ends a transcript that has become too large.
var errTranscript = errors.New("the transcript is full")

// transcript is the file of one process.
type transcript struct {
	*os.File
	left int64
}

// Write appends one message while there is room.
func (t *transcript) Write(b []byte) (int, error) {
	if t.left -= int64(len(b)); t.left < 0 {
		return 0, errTranscript
	}
	return t.File.Write(b)
}

// open begins the transcript of a process; nil when none is wanted. One that
// cannot be written is told in the log and keeps no server from its work.
func (t *transcripts) open(engine string, pid int) io.WriteCloser {
	if !t.wanted(engine) {
		return nil
	}
	f, err := t.create(engine, pid)
	if err != nil {
		t.log.Warn("no transcript is written", "server", engine, "error", err)
		return nil
	}
	t.log.Info("a transcript is written", "server", engine, "file", f.Name())
	return &transcript{File: f, left: maxTranscriptSize}
}

func (t *transcripts) create(engine string, pid int) (*os.File, error) {
	if err := os.MkdirAll(t.dir, 0o700); err != nil {
		return nil, err
	}
	files, err := t.files("")
	if err != nil {
		return nil, err
	}
	for _, old := range files[:max(0, len(files)-maxTranscripts+1)] {
		if err := os.Remove(old); err != nil {
			return nil, err
		}
	}
	name := fmt.Sprintf("%s.%d%s", filepath.Base(engine), pid, transcriptSuffix)
	return os.OpenFile(filepath.Join(t.dir, name), os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
}

const transcriptSuffix = ".jsonl"

// files lists the transcripts of an engine, or of all, the latest written last.
func (t *transcripts) files(engine string) ([]string, error) {
	entries, err := os.ReadDir(t.dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	type file struct {
		path string
		at   int64
	}
	var found []file
	for _, e := range entries {
		// An engine's name may hold dots, a process id does not.
		of, isOne := strings.CutSuffix(e.Name(), transcriptSuffix)
		of = strings.TrimSuffix(of, filepath.Ext(of))
		info, err := e.Info()
		if !isOne || err != nil || engine != "" && !strings.EqualFold(of, engine) {
			continue
		}
		found = append(found, file{filepath.Join(t.dir, e.Name()), info.ModTime().UnixNano()})
	}
	slices.SortFunc(found, func(a, b file) int { return cmp.Compare(a.at, b.at) })
	var out []string
	for _, f := range found {
		out = append(out, f.path)
	}
	return out, nil
}

// last returns the end of an engine's latest transcript.
func (t *transcripts) last(engine string, lines int) (api.Logs, error) {
	files, err := t.files(engine)
	if err != nil {
		return api.Logs{}, err
	}
	if len(files) == 0 {
		return api.Logs{}, api.Errorf(api.FileNotFound,
			"there is no transcript of %s: set trace = true below [servers.%s] in the configuration, then run auractl reload and auractl restart %s", engine, engine, engine)
	}
	return lastLines(files[len(files)-1], lines, nil)
}
