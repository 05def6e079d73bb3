package transact

import (
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/lspclient/change"
)

// Bounds of the details of an answer; a preview is never cut.
const (
	maxDetails = 2000
	maxLine    = 200 // bytes of one side of a detail
)

// result describes files as an answer does, without the details of its lines.
func result(operation, root string, files []change.File) *api.EditResult {
	r := &api.EditResult{
		Success: true, Operation: operation, Complete: true,
		FilesModified: []string{}, FilesCreated: []string{}, FilesDeleted: []string{}, FilesRenamed: []api.FileMove{},
		Details: []api.ChangeDetail{}, Warnings: []string{},
	}
	for _, f := range files {
		path := relative(root, f.Path)
		switch f.Kind {
		case change.Edit:
			r.FilesModified = append(r.FilesModified, path)
		case change.Create:
			r.FilesCreated = append(r.FilesCreated, path)
		case change.Delete:
			r.FilesDeleted = append(r.FilesDeleted, path)
		case change.Rename:
			r.FilesRenamed = append(r.FilesRenamed, api.FileMove{From: path, To: relative(root, f.NewPath)})
		}
		r.ChangesApplied += max(1, len(f.Edits), len(hunks(f)))
	}
	return r
}

// preview lists the changes whole: applied to the old content they give, byte
// for byte, what would be written.
func preview(root string, files []change.File) []api.FileChange {
	out := make([]api.FileChange, 0, len(files))
	for _, f := range files {
		c := api.FileChange{File: relative(root, f.Path), Kind: f.Kind.String(), Hunks: []api.Hunk{}}
		if f.Kind == change.Rename {
			c.NewFile = relative(root, f.NewPath)
		}
		for _, h := range hunks(f) {
			c.Hunks = append(c.Hunks, api.Hunk{StartLine: h.StartLine, OldLines: list(h.Old), NewLines: list(h.New)})
		}
		out = append(out, c)
	}
	return out
}

// details lists the changed lines of files that stay, at the lines where they
// are after the change. cut is how many did not fit.
func details(root string, files []change.File) (out []api.ChangeDetail, cut int) {
	out = []api.ChangeDetail{}
	for _, f := range files {
		if f.Kind == change.Create || f.Kind == change.Delete {
			continue
		}
		path := relative(root, f.Target())
		shift := 0 // of lines, by the hunks before
		for _, h := range hunks(f) {
			for i := range max(len(h.Old), len(h.New)) {
				var from, to string
				if i < len(h.Old) {
					from = brief(h.Old[i])
				}
				if i < len(h.New) {
					to = brief(h.New[i])
				}
				switch {
				case from == "" && to == "": // a blank line more or less
					continue
				case len(out) == maxDetails:
					cut++
					continue
				}
				out = append(out, api.ChangeDetail{File: path, Line: h.StartLine + shift + min(i, max(0, len(h.New)-1)), Change: from + " → " + to})
			}
			shift += len(h.New) - len(h.Old)
		}
	}
	return out, cut
}

// hunks returns what changes in a file. Those of an undo carry contents and no edits.
func hunks(f change.File) []change.Hunk {
	if len(f.Edits) == 0 && (f.Kind == change.Edit || f.Kind == change.Rename) {
		return change.Hunks(f.Before, f.After)
	}
	return f.Hunks()
}

// brief is a line as a detail shows it.
func brief(line string) string {
	line = strings.ToValidUTF8(strings.TrimSpace(line), "\uFFFD")
	if len(line) <= maxLine {
		return line
	}
	cut := maxLine
	for cut > 0 && !utf8.RuneStart(line[cut]) {
		cut--
	}
	return line[:cut] + "…"
}

func list(lines []string) []string {
	if lines == nil {
		return []string{}
	}
	return lines
}

// relative returns a path as answers print it: relative to root with "/",
// absolute outside it.
func relative(root, path string) string {
	rel, err := filepath.Rel(root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return path
	}
	return filepath.ToSlash(rel)
}
