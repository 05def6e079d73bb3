package rust

import (
	"strings"
	"testing"

	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
)

func TestInAttribute(t *testing.T) {
	for code, want := range map[string]bool{
		`#[serde(default = "«port»")]`:              true,
		`#[serde(with="a::b::«port»")]`:             true,
		`#[serde(rename = "the «port»")]`:           false,
		`#[serde(default = "«port»::new")]`:         false,
		`#[doc = "x"] const X: &str = "«port»";`:    false,
		`#[cfg(unix)] fn f() { let x = "«port»"; }`: false,
		`let x = "«port»";`:                         false,
	} {
		content, at := marked(t, code)
		open := strings.LastIndexByte(string(content[:at.Start]), '"')
		end := at.End + strings.IndexByte(string(content[at.End:]), '"') + 1
		m := recipe.Mention{Span: at, Token: syntax.Token{Kind: syntax.String, Span: graph.Span{Start: open, End: end}}}
		if got := inAttribute(content, m); got != want {
			t.Errorf("%s: %v", code, got)
		}
	}
}
