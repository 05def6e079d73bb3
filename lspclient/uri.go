package lspclient

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"go.lsp.dev/uri"
)

// ErrURI says that a URI names no file that may be touched.
var ErrURI = errors.New("not a plain file URI")

// URI returns the file URI of an absolute, clean path. Every byte but letters,
// digits and "-._~/" is percent-encoded, so that no reader can take it otherwise.
// A path that is not valid UTF-8 does not survive the way back: the protocol
// library escapes its escapes.
func URI(p string) uri.URI {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	b.Grow(len("file://") + len(p) + 8)
	b.WriteString("file://")
	for i := range len(p) {
		c := p[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~/", c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		}
	}
	return uri.URI(b.String())
}

// Path returns the absolute, clean path that a file URI names, decoded once.
// Other schemes, foreign hosts, queries and fragments, broken escapes, NUL and
// ".." are refused with ErrURI: no server needs them, and an edit that used
// them could leave the workspace.
func Path[S ~string](u S) (string, error) {
	s := string(u)
	bad := func(why string) (string, error) {
		return "", fmt.Errorf("%.200q: %s: %w", s, why, ErrURI)
	}
	scheme, rest, ok := strings.Cut(s, ":")
	if !ok || !strings.EqualFold(scheme, "file") {
		return bad("scheme is not file")
	}
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		host, p, _ := strings.Cut(after, "/")
		if host != "" && !strings.EqualFold(host, "localhost") {
			return bad("host " + host)
		}
		rest = "/" + p
	}
	if !strings.HasPrefix(rest, "/") {
		return bad("path is not absolute")
	}
	if strings.ContainsAny(rest, "?#") {
		return bad("query or fragment")
	}
	decoded, ok := unescape(rest)
	if !ok {
		return bad("broken escape")
	}
	if strings.IndexByte(decoded, 0) >= 0 {
		return bad("NUL")
	}
	for part := range strings.SplitSeq(decoded, "/") {
		if part == ".." {
			return bad("parent folder")
		}
	}
	return path.Clean(decoded), nil
}

func unescape(s string) (string, bool) {
	if strings.IndexByte(s, '%') < 0 {
		return strings.Clone(s), true
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			out = append(out, s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", false
		}
		hi, lo := unhex(s[i+1]), unhex(s[i+2])
		if hi < 0 || lo < 0 {
			return "", false
		}
		out = append(out, byte(hi<<4|lo))
		i += 2
	}
	return string(out), true
}

func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
