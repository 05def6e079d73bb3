package csharp

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/auralsp/aura/lspclient/text"
)

// strangeEdit is an edit of a server's rename that does more than rename.
type strangeEdit struct{ edit text.Edit }

func (e *strangeEdit) Error() string {
	return fmt.Sprintf("an edit puts %q, which is no renaming", e.edit.New)
}

// wholeWords turns the edits of a rename, of which OmniSharp sends only the
// characters that differ, into edits of whole names, and refuses all that is
// not the name put in another's place, or a qualifier before it.
func wholeWords(content []byte, edits []text.Edit, from, to string) ([]text.Edit, error) {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b text.Edit) int { return a.Start - b.Start })
	var out []text.Edit
	for i := 0; i < len(edits); {
		e := edits[i]
		if e.Start == e.End && qualifies(e.New, from) {
			out = append(out, e)
			i++
			continue
		}
		start, end := wordStart(content, e.Start), wordEnd(content, e.End)
		var b strings.Builder
		at := start
		for i < len(edits) && edits[i].End <= end && !(edits[i].Start == edits[i].End && qualifies(edits[i].New, from)) {
			b.Write(content[at:edits[i].Start])
			b.WriteString(edits[i].New)
			at = edits[i].End
			i++
		}
		b.Write(content[at:end])
		word, now := string(content[start:end]), b.String()
		if rest, ok := cutQualifier(now, word, from); ok {
			out = append(out, text.Edit{Start: start, End: start, New: now[:len(now)-len(rest)]})
			now = rest
		}
		if word == now {
			continue
		}
		if !renames(word, now, from, to) {
			return nil, &strangeEdit{e}
		}
		out = append(out, text.Edit{Start: start, End: end, New: now})
	}
	return joinQualifiers(out), nil
}

// joinQualifiers puts a qualifier and the name behind it into one edit, as two
// edits may not begin at the same place.
func joinQualifiers(edits []text.Edit) []text.Edit {
	var out []text.Edit
	for _, e := range edits {
		if n := len(out); n > 0 && out[n-1].Start == out[n-1].End && out[n-1].End == e.Start && e.End > e.Start {
			out[n-1] = text.Edit{Start: e.Start, End: e.End, New: out[n-1].New + e.New}
			continue
		}
		out = append(out, e)
	}
	return out
}

// qualifier is what may come before a name so that it keeps its meaning.
var qualifier = regexp.MustCompile(`^(?:global::)?(?:@?[\pL\pN_]+\s*(?:\.|::)\s*)+$`)

// qualifies reports whether an inserted text makes a name's meaning explicit:
// "this.", a namespace, or the name that a member of an anonymous object or of a
// tuple took from it until now.
func qualifies(s, from string) bool {
	if t := strings.TrimSpace(s); t == from+" =" || t == from+"=" || t == from+":" {
		return true
	}
	return qualifier.MatchString(s)
}

// cutQualifier takes a qualifier from a name that was changed together with it.
func cutQualifier(now, word, from string) (rest string, ok bool) {
	i := strings.LastIndexByte(now, '.')
	if i < 0 || strings.Contains(word, ".") || !qualifies(now[:i+1], from) {
		return now, false
	}
	return now[i+1:], true
}

// suffix is what the name of an attribute may leave out where it is used.
const suffix = "Attribute"

// renames reports whether a word that became another is the old name that
// became the new one, in one of the forms in which a name may be written.
func renames(word, now, from, to string) bool {
	now, from, to = bare(now), bare(from), bare(to)
	switch word {
	case from:
		return now == to || strings.HasSuffix(to, suffix) && now == strings.TrimSuffix(to, suffix)
	case strings.TrimSuffix(from, suffix), from + suffix:
		return now == to || now == strings.TrimSuffix(to, suffix) || now == to+suffix
	}
	return false
}

func bare(name string) string { return strings.TrimPrefix(name, "@") }
