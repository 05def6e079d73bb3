package main

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/auralsp/aura/daemon/api"
)

func FuzzS10_Escape(f *testing.F) {
	f.Add("plain\ttext")
	f.Add("\x1b]0;title\x07\u202e\u200b\xff\u009b\ufeff\U000e0041\n")
	f.Fuzz(func(t *testing.T, s string) {
		got := escape(s)
		if strings.ContainsFunc(got, unsafe) || !utf8.ValidString(got) {
			t.Fatalf("%q gives %q", s, got)
		}
		if again := escape(got); again != got {
			t.Fatalf("not stable: %q, %q", got, again)
		}
		raw, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		safe := escapeJSON(raw)
		if strings.ContainsFunc(string(safe), unsafe) {
			t.Fatalf("%q gives %q", raw, safe)
		}
		var before, after string
		if json.Unmarshal(raw, &before) != nil || json.Unmarshal(safe, &after) != nil || before != after {
			t.Fatalf("%q means %q, %q means %q", raw, before, safe, after)
		}
	})
}

func TestSplitPosition(t *testing.T) {
	tests := []struct {
		in         string
		file       string
		line, col  int
		isPosition bool
	}{
		{"a.go:12:6", "a.go", 12, 6, true},
		{"a.go:12", "a.go", 12, 0, true},
		{"a.go:12:6:", "a.go", 12, 6, true},
		{"/x y/a:b.go:1:2", "/x y/a:b.go", 1, 2, true},
		{"a:1:2:3", "a:1", 2, 3, true},
		{"Order.Save", "", 0, 0, false},
		{"crate::module::Type", "", 0, 0, false},
		{"a.go:", "", 0, 0, false},
		{":12", "", 0, 0, false},
		{"a.go:-1", "", 0, 0, false},
		{"a.go:+1", "", 0, 0, false},
		{"a.go:99999999999", "", 0, 0, false},
		{"", "", 0, 0, false},
	}
	for _, tt := range tests {
		file, line, col, ok := splitPosition(tt.in)
		if ok != tt.isPosition || ok && (file != tt.file || line != tt.line || col != tt.col) {
			t.Errorf("%q: %q %d %d %v", tt.in, file, line, col, ok)
		}
	}
}

// What quote prints must reach a program as it was, through a real shell.
func TestQuote(t *testing.T) {
	for _, s := range []string{"plain", "a b", "it's", "$HOME `x` \"y\"", "*", "", "a\tb", "--x=1", "é"} {
		out, err := exec.Command("sh", "-c", "printf %s "+quote(s)).Output()
		if err != nil || string(out) != s {
			t.Errorf("%q became %q as %s: %v", s, out, quote(s), err)
		}
	}
}

func TestCutWord(t *testing.T) {
	tests := []struct{ s, word, before, after string }{
		{"func Run() Runner", "Run", "func ", "() Runner"},
		{"Reorder Order", "Order", "Reorder ", ""},
		{"_Run Run_ xRun", "Run", "", ""},
		{"größe Größe", "Größe", "größe ", ""},
	}
	for _, tt := range tests {
		before, after, found := cutWord(tt.s, tt.word)
		if found != (tt.before != "" || tt.after != "") || before != tt.before && found || after != tt.after && found {
			t.Errorf("%q in %q: %q %q %v", tt.word, tt.s, before, after, found)
		}
	}
}

// A command whose heading help does not know would not be listed at all.
func TestHelpListsEveryGroup(t *testing.T) {
	for _, s := range api.Specs() {
		if !s.Hidden && !slices.Contains(groups, s.Group) {
			t.Errorf("%s is of the group %q, which help does not list", s.Name, s.Group)
		}
	}
}
