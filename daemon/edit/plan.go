package edit

import (
	"bytes"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/text"
)

// step is an op on its way into a transaction.
type step struct {
	op
	place   *place
	content []byte // after; nil for a remove and for what an undo puts back
	// like is the real path of the file whose mode, owner and attributes the
	// new content takes; empty for a new file.
	like string
	meta *metadata // of like, as it was read
	// replaced is set once the file system has the op; recovery does not need
	// it, and a rollback in the same process only uses it to save reading.
	applied bool
}

// sides collects what a plan does to one real path.
type sides struct {
	place         *place
	before, after bool
	base          []byte
	content       []byte
	like          string
	shown         string
}

// steps turns the files of a plan into one step for each real path.
func (t *Tx) steps(h *handles, p *Plan) ([]*step, error) {
	if len(p.Files) > MaxFiles {
		return nil, api.Errorf(api.FileTooLarge,
			"the plan changes %d files, the limit is %d: split it by folder or project", len(p.Files), MaxFiles)
	}
	byPath := make(map[string]*sides, len(p.Files))
	for i := range p.Files {
		f := &p.Files[i]
		if err := checkContent(f); err != nil {
			return nil, err
		}
		from, shown, err := t.locate(h, p, f.Path)
		if err != nil {
			return nil, err
		}
		rec := fileRecord{kind: f.Kind, path: shown}
		if f.Kind == change.Rename || f.Kind == change.Delete {
			if from.linked {
				return nil, api.Errorf(api.UnsupportedOperation,
					"%s is a symbolic link to %s: rename or delete that file instead", shown, from.path)
			}
		}
		if f.Kind != change.Create {
			if err := put(byPath, from, shown, f.Before, nil, true, ""); err != nil {
				return nil, err
			}
		}
		switch f.Kind {
		case change.Edit:
			err = put(byPath, from, shown, nil, f.After, false, from.path)
		case change.Create:
			err = put(byPath, from, shown, nil, f.After, false, "")
		case change.Rename:
			var to *place
			if to, rec.newPath, err = t.locate(h, p, f.NewPath); err == nil {
				err = put(byPath, to, rec.newPath, nil, f.After, false, from.path)
			}
		}
		if err != nil {
			return nil, err
		}
		t.in.files = append(t.in.files, rec)
	}
	return collect(byPath)
}

// put notes one side of a path: what is there before, or what shall be after.
func put(byPath map[string]*sides, at *place, shown string, base, content []byte, before bool, like string) error {
	s := byPath[at.path]
	if s == nil {
		s = &sides{place: at, shown: shown}
		byPath[at.path] = s
	}
	same := before && s.before && bytes.Equal(s.base, base) ||
		!before && s.after && bytes.Equal(s.content, content) && s.like == like
	if same {
		return nil // the same change by two names of the file
	}
	if before && s.before || !before && s.after {
		return api.Errorf(api.InvalidArgument,
			"%s and %s are one file, and the plan changes it in two ways", s.shown, shown)
	}
	if before {
		s.before, s.base = true, base
	} else {
		s.after, s.content, s.like = true, content, like
	}
	return nil
}

func collect(byPath map[string]*sides) ([]*step, error) {
	var list []*step
	for p, s := range byPath {
		st := &step{op: op{path: p}, place: s.place, content: s.content, like: s.like}
		if s.before {
			st.base, st.baseSize = text.Sum(s.base), int64(len(s.base))
		}
		if s.after {
			st.post, st.postSize = text.Sum(s.content), int64(len(s.content))
		}
		switch {
		case s.before && s.after && st.base == st.post:
			continue
		case s.before && s.after:
			st.kind = opModify
		case s.after:
			st.kind = opCreate
		default:
			st.kind = opRemove
		}
		list = append(list, st)
	}
	slices.SortFunc(list, func(a, b *step) int { return strings.Compare(a.path, b.path) })
	for i, st := range list {
		st.slot = uint32(i)
		if under := st.place.under; under != "" {
			if s := byPath[under]; s == nil || !s.before || s.after {
				return nil, api.Errorf(api.InvalidArgument, "%s cannot be made: %s is a file, not a folder", st.path, under)
			}
		}
	}
	return list, nil
}

// locate resolves a path of the plan and refuses control files.
func (t *Tx) locate(h *handles, p *Plan, abs string) (*place, string, error) {
	rel, ok := t.w.relative(abs, filepath.Clean(p.Root))
	if !ok {
		return nil, "", outside(abs)
	}
	for part := range strings.SplitSeq(rel, "/") {
		if len(part) > 255 {
			return nil, "", api.Errorf(api.InvalidArgument, "%s: a name is longer than 255 bytes", rel)
		}
	}
	at, err := t.w.resolve(h, filepath.Clean(p.Root), rel)
	if err != nil {
		return nil, "", refuse(err, "resolve %s", rel)
	}
	for _, name := range []string{rel, at.path} {
		why := control(name)
		if why == "" || p.AllowControl && !stagedPath(name) {
			continue
		}
		return nil, "", api.Errorf(api.PermissionDenied,
			"%s %s: Aura does not write it unless you allow control files for this operation; edit it yourself", name, why)
	}
	return at, rel, nil
}

// stagedPath reports whether a path lies where transactions keep their slots.
func stagedPath(rel string) bool {
	low := strings.ToLower(rel)
	return low == stagingFallback || strings.HasPrefix(low, stagingFallback+"/") || strings.Contains(low, "/"+stagingFallback+"/") ||
		low == stagingGit || strings.HasPrefix(low, stagingGit+"/")
}

const lfsPointer = "version https://git-lfs.github.com/spec/"

// checkContent refuses text that Aura must not edit. Moving or deleting a file
// needs no understanding of it.
func checkContent(f *change.File) error {
	for _, b := range [][]byte{f.Before, f.After} {
		if len(b) > MaxFileSize {
			return api.Errorf(api.FileTooLarge, "%s has %d bytes, the limit is %d", f.Target(), len(b), MaxFileSize)
		}
	}
	if f.Kind == change.Delete || f.Kind == change.Rename && bytes.Equal(f.Before, f.After) {
		return nil
	}
	if why := notText(f.Before); why != "" {
		return api.Errorf(api.BinaryFile, "%s %s: Aura edits UTF-8 text only; convert it first", f.Path, why)
	}
	if why := notText(f.After); why != "" {
		return api.Errorf(api.BinaryFile, "%s after the edit %s: Aura writes UTF-8 text only", f.Target(), why)
	}
	if bytes.HasPrefix(f.Before, []byte(lfsPointer)) {
		return api.Errorf(api.BinaryFile, "%s is a Git LFS pointer: run `git lfs pull` first", f.Path)
	}
	return nil
}

func notText(b []byte) string {
	switch {
	case bytes.HasPrefix(b, []byte("\xff\xfe")), bytes.HasPrefix(b, []byte("\xfe\xff")):
		return "is UTF-16"
	case bytes.IndexByte(b, 0) >= 0:
		return "contains NUL bytes"
	case !utf8.Valid(b):
		return "is not valid UTF-8"
	}
	return ""
}

// generated looks for the marks by which generators tell people not to edit.
func generated(content []byte) bool {
	head := content[:min(len(content), 1024)]
	for _, mark := range []string{"DO NOT EDIT", "Do not edit", "@generated", "<auto-generated"} {
		if bytes.Contains(head, []byte(mark)) {
			return true
		}
	}
	return false
}

// warn collects what a careful user would like to know about the plan.
func (t *Tx) warn(h *handles, p *Plan) {
	for i := range p.Files {
		f := &p.Files[i]
		if f.Kind == change.Edit && generated(f.Before) {
			rel, _ := t.w.relative(f.Path, filepath.Clean(p.Root))
			t.Warnings = append(t.Warnings, rel+" says that it is generated: its generator will undo this edit")
		}
	}
	git, err := h.open(".git")
	if err != nil {
		return
	}
	for _, state := range [][2]string{
		{"index.lock", "git is at work in this repository, or died there (.git/index.lock)"},
		{"rebase-merge", "a git rebase is in progress"},
		{"rebase-apply", "a git rebase is in progress"},
		{"MERGE_HEAD", "a git merge is in progress"},
		{"CHERRY_PICK_HEAD", "a git cherry-pick is in progress"},
	} {
		if _, err := git.Lstat(state[0]); err == nil {
			t.Warnings = append(t.Warnings, state[1])
		}
	}
}

// missingDirs returns the folders that the creates need, outermost first.
func missingDirs(list []*step) []string {
	seen := map[string]bool{}
	var dirs []string
	for _, st := range list {
		if st.kind != opCreate {
			continue
		}
		for _, d := range st.place.missing {
			if !seen[d] {
				seen[d] = true
				dirs = append(dirs, d)
			}
		}
	}
	slices.Sort(dirs)
	return dirs
}

// standing returns the nearest folder above a path that exists.
func (p *place) standing() string {
	if len(p.missing) > 0 {
		return path.Dir(p.missing[0])
	}
	return p.dir
}

// staleError refuses because files are no longer as the plan saw them.
func staleError(paths []string) *api.Error {
	slices.Sort(paths)
	paths = slices.Compact(paths)
	err := api.Errorf(api.StaleContent, "%s changed since the edit was planned, nothing was written: run the operation again",
		enumerate(paths))
	err.Details = Paths{Files: paths}
	return err
}

// Paths is the details of a refusal that names files, relative to the root.
type Paths struct {
	Files []string `json:"files"`
}

// enumerate names a few of many paths.
func enumerate(paths []string) string {
	const few = 3
	if len(paths) <= few {
		return strings.Join(paths, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(paths[:few], ", "), len(paths)-few)
}
