package python

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/lspclient/text"
)

// marked returns code without the marks « and » and the span between them.
func marked(t *testing.T, code string) (string, graph.Span) {
	t.Helper()
	start := strings.Index(code, "«")
	end := strings.Index(code, "»")
	if start < 0 || end < start {
		t.Fatalf("%q marks nothing", code)
	}
	return strings.NewReplacer("«", "", "»", "").Replace(code), graph.Span{Start: start, End: end - len("«")}
}

func TestUsage(t *testing.T) {
	class, function, field, variable := graph.KindClass, graph.KindFunction, graph.KindField, graph.KindVariable
	for _, c := range []struct {
		kind graph.Kind
		code string
		want string
	}{
		{class, "from a import «X»\n", "import"},
		{class, "from a import (\n    Y,\n    «X»,\n)\n", "import"},
		{class, "import «X».y\n", "import"},
		{class, "x = «X»(1)\n", "call"},
		{class, "x = «X» (1)\n", "call"},
		{class, "class Y(«X»):\n", "type"},
		{class, "class Y(Z, metaclass=«X»):\n", "type"},
		{class, "def f(a: «X») -> None:\n", "type"},
		{class, "def f(a: int, b: list[«X»] = []):\n", "type"},
		{class, "def f(a) -> «X»:\n", "type"},
		{class, "def f(a) -> \"«X»\":\n", "type"},
		{class, "x: «X» = None\n", "type"},
		{class, "x: dict[str, «X»] = {}\n", "type"},
		{class, "x: «X» | None = None\n", "type"},
		{class, "if isinstance(v, «X»):\n", "read"},
		{class, "m = [v for v in vs if isinstance(v, «X»)]\n", "read"},
		{class, "d = {1: «X»}\n", "read"},
		{class, "x = a[1:«X»]\n", "read"},
		{class, "except «X» as e:\n", "read"},
		{class, "«X».y = 1\n", "read"},
		{function, "@«f»\ndef g(): ...\n", "call"},
		{function, "@a.«f»\ndef g(): ...\n", "call"},
		{function, "x = «f»\n", "read"},
		{function, "map(«f», xs)\n", "read"},
		{function, "# ( [ {\nx = «f»(1)\n", "call"},
		{field, "self.«a» = 1\n", "write"},
		{field, "self.«a»: int = 1\n", "write"},
		{field, "self.«a» += 1\n", "write"},
		{field, "self.«a», b = 1, 2\n", "write"},
		{field, "x = self.«a»\n", "read"},
		{field, "if self.«a» == 1:\n", "read"},
		{field, "T(«a»=1)\n", "write"},
		{field, "T(\n    1,\n    «a»=1,\n)\n", "write"},
		{field, "f(b=self.«a»)\n", "read"},
		{field, "del self.«a»\n", "write"},
		{variable, "for «v» in xs:\n", "write"},
		{variable, "for a, «v» in xs:\n", "write"},
		{variable, "for a in «v»:\n", "read"},
		{variable, "with f() as «v»:\n", "write"},
		{variable, "return «v»\n", "read"},
		{variable, "x = '''\n(\n'''\n«v» = 1\n", "write"},
		{variable, "if («v» := f()):\n", "write"},
		{variable, "print(«v», end='')\n", "read"},
		{variable, "    global «v»\n", "write"},
	} {
		code, span := marked(t, c.code)
		p := adapters.Place{Path: "/ws/a.py", Span: span, File: text.NewFile([]byte(code))}
		if got := usage(graph.Symbol{Kind: c.kind}, p); got != c.want {
			t.Errorf("%s %q is a %q, want %q", c.kind, c.code, got, c.want)
		}
	}
}

// TestStatement cuts code in the middle, as what lies far before a place is not read.
func TestStatement(t *testing.T) {
	for code, want := range map[string]string{
		"x = 1\ny = ":                    "y = ",
		"f(\n    1,\n":                   "f(\n    1,\n",
		"f(1)\n":                         "",
		"it's cut here\ndef g():\n    x": "    x",
		"'''doc\nx = (\ndef g(":          "def g(",
		"x = '(' + \\\n    ":             "x = '(' + \\\n    ",
		"# a ( comment\nx = [":           "x = [",
	} {
		if diff := cmp.Diff(want, statement([]byte(code)).text); diff != "" {
			t.Errorf("%q: %s", code, diff)
		}
	}
}

func TestMentionsName(t *testing.T) {
	for _, c := range []struct {
		decorator, name string
		want            bool
	}{
		{`@click.option("--dry-run", is_flag=True)`, "dry_run", true},
		{`@click.argument("SRC", nargs=-1)`, "src", true},
		{`@app.route("/<int:post_id>/edit")`, "post_id", true},
		{`@pytest.mark.parametrize("a, b", [])`, "b", true},
		{`@pytest.mark.parametrize(["a", 'b'], [])`, "b", true},
		{`@click.option("--dry-run")`, "run", false},
		{`@lru_cache(maxsize=10)`, "maxsize", false},
		{`@property`, "property", false},
		{`@click.option("unterminated`, "unterminated", false},
	} {
		if got := mentionsName(c.decorator, c.name); got != c.want {
			t.Errorf("%s gives %s by its name: %v", c.decorator, c.name, got)
		}
	}
}
