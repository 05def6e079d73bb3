package csharp

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/lspclient/text"
)

// TestWholeWords: an edit of a rename is the new name in place of the old one,
// however little of it a server sends; anything else is refused.
func TestWholeWords(t *testing.T) {
	for _, c := range []struct {
		name, content, from, to string
		edits                   []string // "old>new" at the marks « » of the content, in order
		want                    string
		strange                 bool
	}{
		{name: "the whole name", content: "class «Circle» {}", from: "Circle", to: "Disc", edits: []string{"Disc"}, want: "class Disc {}"},
		{name: "its beginning", content: "void «Scal»e() {}", from: "Scale", to: "Resize", edits: []string{"Resiz"}, want: "void Resize() {}"},
		{name: "its end", content: "var c«ircle» = 1;", from: "circle", to: "c2", edits: []string{"2"}, want: "var c2 = 1;"},
		{name: "two pieces of it", content: "int «a»b«c»;", from: "abc", to: "xby", edits: []string{"x", "y"}, want: "int xby;"},
		{name: "more at its end", content: "int Add«»;", from: "Add", to: "AddAll", edits: []string{"All"}, want: "int AddAll;"},
		{name: "more at its beginning", content: "int «»Add;", from: "Add", to: "MyAdd", edits: []string{"My"}, want: "int MyAdd;"},
		{name: "this before it", content: "«»b«efor»e = 1;", from: "before", to: "bside", edits: []string{"this.", "sid"}, want: "this.bside = 1;"},
		{name: "this before another name", content: "x = «»side;", from: "before", to: "side", edits: []string{"this."}, want: "x = this.side;"},
		{name: "a namespace before it", content: "x = «Old»;", from: "Old", to: "New", edits: []string{"global::A.B.New"}, want: "x = global::A.B.New;"},
		{name: "a keyword in its form", content: "class «Line» {}", from: "Line", to: "@class", edits: []string{"@class"}, want: "class @class {}"},
		{name: "an attribute without its suffix", content: "[«Tag»] class A {}", from: "TagAttribute", to: "LabelAttribute", edits: []string{"Label"}, want: "[Label] class A {}"},
		{name: "an attribute that loses it", content: "[«Tag»] class A {}", from: "TagAttribute", to: "Label", edits: []string{"Label"}, want: "[Label] class A {}"},
		{name: "a member of an anonymous object", content: "new { o.«Name» }", from: "Name", to: "Title", edits: []string{"Title"}, want: "new { o.Title }"},
		{name: "the name that such a member had", content: "new { «»o.«Name» }", from: "Name", to: "Title", edits: []string{"Name = ", "Title"}, want: "new { Name = o.Title }"},
		{name: "non-ASCII", content: "int «Ü»nit; // 👋", from: "Ünit", to: "Änit", edits: []string{"Ä"}, want: "int Änit; // 👋"},
		{name: "no change", content: "int «a»;", from: "a", to: "b", edits: []string{"a"}, want: "int a;"},
		{name: "another name", content: "class «Square» {}", from: "Circle", to: "Disc", edits: []string{"Disc"}, strange: true},
		{name: "another new name", content: "class «Circle» {}", from: "Circle", to: "Disc", edits: []string{"Disk"}, strange: true},
		{name: "code", content: "f(«Circle»);", from: "Circle", to: "Disc", edits: []string{"Disc, 1"}, strange: true},
		{name: "code put in", content: "«»f(Circle);", from: "Circle", to: "Disc", edits: []string{"g(); "}, strange: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			content, edits := marked(c.content, c.edits)
			got, err := wholeWords([]byte(content), edits, c.from, c.to)
			if strange := new(strangeEdit); errors.As(err, &strange) != c.strange {
				t.Fatalf("%v, %v", got, err)
			}
			if c.strange {
				return
			}
			after, err := text.Apply([]byte(content), got)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(after)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// marked takes the marks out of a content and makes edits of what they hold.
func marked(content string, news []string) (string, []text.Edit) {
	var out strings.Builder
	var edits []text.Edit
	for _, part := range news {
		before, rest, _ := strings.Cut(content, "«")
		old, after, _ := strings.Cut(rest, "»")
		out.WriteString(before)
		edits = append(edits, text.Edit{Start: out.Len(), End: out.Len() + len(old), New: part})
		out.WriteString(old)
		content = after
	}
	out.WriteString(content)
	return out.String(), edits
}
