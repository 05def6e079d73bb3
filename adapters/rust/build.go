package rust

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
)

var _ adapters.Builder = (*Adapter)(nil)

// Checks implements adapters.Builder: "cargo check" of everything that the
// project builds, its tests, examples and benches too, and once more with all
// features where there are some that are off by default: what they hold is part
// of the project as well.
func (*Adapter) Checks(ctx context.Context, s adapters.Snapshot, p adapters.Project, _ []string) ([]adapters.Check, error) {
	if filepath.Base(p.Marker) != "Cargo.toml" {
		return nil, nil
	}
	more, err := optional(ctx, s, p)
	if err != nil {
		return nil, err
	}
	argv := []string{"cargo", "check", "--workspace", "--all-targets", "--keep-going", "--message-format=json"}
	out := []adapters.Check{cargo("cargo check", p.Root, argv)}
	if more {
		out = append(out, cargo("cargo check with all features", p.Root, append(slices.Clone(argv), "--all-features")))
	}
	return out, nil
}

func cargo(name, dir string, argv []string) adapters.Check {
	return adapters.Check{
		Name: name, Argv: argv, Dir: dir, Stale: adapters.ByMTime,
		// A compiler cache is a server that does not see the planned text. A short
		// patience with the network: what is missing is said instead.
		Env: []string{
			"CARGO_TERM_COLOR=never", "CARGO_TERM_PROGRESS_WHEN=never", "CARGO_NET_RETRY=1", "CARGO_HTTP_TIMEOUT=20",
			"RUSTC_WRAPPER=", "CARGO_BUILD_RUSTC_WRAPPER=", "RUST_BACKTRACE=0",
		},
		Kept:    []string{"CARGO_TARGET_DIR", "CARGO_BUILD_BUILD_DIR"},
		Install: "install Rust from https://rustup.rs and put its bin folder into PATH",
		Parse:   func(output []byte, exit int) ([]adapters.Problem, error) { return problems(dir, output, exit) },
	}
}

// optional reports whether a crate of the project has features that are not on
// by default, or optional dependencies, which are features too.
func optional(ctx context.Context, s adapters.Snapshot, p adapters.Project) (bool, error) {
	for _, dir := range slices.Compact(append([]string{p.Root}, p.Members...)) {
		content, err := recipe.ReadOptional(ctx, s, filepath.Join(dir, "Cargo.toml"))
		if err != nil {
			return false, err
		}
		var m struct {
			Features     map[string][]string `toml:"features"`
			Dependencies map[string]any      `toml:"dependencies"`
		}
		if toml.Unmarshal(content, &m) != nil {
			continue
		}
		on := map[string]bool{"default": true}
		for queue := []string{"default"}; len(queue) > 0; queue = queue[1:] {
			for _, f := range m.Features[queue[0]] {
				if !on[f] {
					on[f] = true
					queue = append(queue, f)
				}
			}
		}
		for f := range m.Features {
			if !on[f] {
				return true, nil
			}
		}
		for name, d := range m.Dependencies {
			if entry, ok := d.(map[string]any); ok && entry["optional"] == true && !on[name] && !on["dep:"+name] {
				return true, nil
			}
		}
	}
	return false, nil
}

// message is one line of "cargo check --message-format=json" (The Cargo Book,
// "External tools"; the rustc book, "JSON Output").
type message struct {
	Reason  string `json:"reason"`
	Message struct {
		Text  string `json:"message"`
		Level string `json:"level"`
		Code  *struct {
			Code string `json:"code"`
		} `json:"code"`
		Spans    []span `json:"spans"`
		Children []struct {
			Text  string `json:"message"`
			Level string `json:"level"`
			Spans []span `json:"spans"`
		} `json:"children"`
	} `json:"message"`
}

type span struct {
	File    string `json:"file_name"`
	Line    int    `json:"line_start"`
	Column  int    `json:"column_start"` // 1-based, characters
	Primary bool   `json:"is_primary"`
	Text    []struct {
		Text string `json:"text"`
	} `json:"text"`
	Expansion *struct {
		Span span `json:"span"`
	} `json:"expansion"`
}

// unable matches what cargo says when it could not even begin for want of
// something that is not the project's fault.
var unable = regexp.MustCompile(`(?i)failed to (?:download|fetch)|unable to (?:update|get)|network|offline|could not resolve host|no matching package named|` +
	`toolchain .* is not installed|no override and no default toolchain|failed to load source for dependency|spurious`)

// problems reads what cargo prints: a line of JSON for each finding of the
// compiler, and words of its own, which count when the compiler found nothing.
func problems(dir string, output []byte, exit int) ([]adapters.Problem, error) {
	var out []adapters.Problem
	var loose [][]byte
	seen := map[string]bool{}
	for line := range bytes.Lines(output) {
		line = bytes.TrimRight(line, "\r\n")
		if !bytes.HasPrefix(line, []byte("{")) {
			loose = append(loose, line)
			continue
		}
		var m message
		if json.Unmarshal(line, &m) != nil {
			loose = append(loose, line)
			continue
		}
		p, ok := m.problem(dir)
		if !ok {
			continue
		}
		// A library is compiled for itself and for its tests, and says all twice.
		key := p.Path + "\x00" + strconv.Itoa(p.Line) + "\x00" + strconv.Itoa(p.Column) + "\x00" + p.Code + "\x00" + p.Message
		if !seen[key] {
			seen[key] = true
			out = append(out, p)
		}
	}
	if exit == 0 || slices.ContainsFunc(out, func(p adapters.Problem) bool { return !p.Warning }) {
		return out, nil
	}
	said := spoken(loose)
	if unable.MatchString(said) {
		return nil, &adapters.UnableError{Reason: "cargo check could not run: " + said + "; fetch what is missing with: cargo fetch"}
	}
	p := adapters.Problem{Message: cmp.Or(said, "cargo failed without a message (exit status "+strconv.Itoa(exit)+")")}
	if m := arrow.FindStringSubmatch(said); m != nil {
		p.Path = absolute(dir, m[1])
		p.Line, p.Column = number(m[2]), number(m[3])
	}
	return append(out, p), nil
}

// arrow is where cargo says that a manifest is wrong.
var arrow = regexp.MustCompile(`--> (\S+\.toml):(\d+):(\d+)`)

// spoken returns cargo's own error, on one line: from "error:" on, with its causes.
func spoken(lines [][]byte) string {
	const enough = 1200
	var words []string
	in := false
	for _, l := range lines {
		in = in || bytes.HasPrefix(l, []byte("error"))
		if t := strings.TrimSpace(string(l)); in && t != "" && t != "|" {
			words = append(words, t)
		}
	}
	all := strings.TrimPrefix(strings.Join(words, " "), "error: ")
	if len(all) > enough {
		all = strings.ToValidUTF8(all[:enough], "") + "…"
	}
	return all
}

// problem makes one finding of a message; false when it is not one of the compiler's.
func (m *message) problem(dir string) (adapters.Problem, bool) {
	level := m.Message.Level
	if m.Reason != "compiler-message" || level != "error" && level != "warning" && !strings.HasPrefix(level, "error") {
		return adapters.Problem{}, false
	}
	if len(m.Message.Spans) == 0 && (strings.HasPrefix(m.Message.Text, "aborting due to") || strings.Contains(m.Message.Text, "warnings emitted") ||
		strings.Contains(m.Message.Text, "warning emitted")) {
		return adapters.Problem{}, false
	}
	p := adapters.Problem{Message: m.Message.Text, Warning: level == "warning"}
	if m.Message.Code != nil {
		p.Code = m.Message.Code.Code
	}
	if i := slices.IndexFunc(m.Message.Spans, func(s span) bool { return s.Primary }); i >= 0 {
		s := m.Message.Spans[i].written(dir)
		p.Path, p.Line, p.Column = absolute(dir, s.File), s.Line, s.column()
	}
	for _, c := range m.Message.Children {
		if c.Level == "help" && len(c.Spans) == 0 && !p.Warning {
			p.Message += "\nhelp: " + c.Text
		}
	}
	return p, true
}

// written returns the place that a person wrote: of what a macro of another
// crate expands to, where it is used.
func (s span) written(dir string) span {
	const enough = 32
	for range enough {
		if s.Expansion == nil || !strings.HasPrefix(s.File, "<") && recipe.Inside(dir, absolute(dir, s.File)) {
			break
		}
		s = s.Expansion.Span
	}
	return s
}

// column counts bytes of the line, which the message quotes, as places of answers do.
func (s span) column() int {
	if len(s.Text) == 0 || s.Column < 1 {
		return s.Column
	}
	runes := []rune(s.Text[0].Text)
	return len(string(runes[:min(s.Column-1, len(runes))])) + 1
}

func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, filepath.FromSlash(path))
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}
