package graph

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAttributeNames(t *testing.T) {
	for attribute, want := range map[string][]string{
		"":                                      nil,
		"[Obsolete]":                            {"Obsolete"},
		`[HttpGet("/a,b"), Authorize]`:          {"HttpGet", "Authorize"},
		"[return: NotNull]":                     {"NotNull"},
		"[assembly:InternalsVisibleTo(\"x\")]":  {"InternalsVisibleTo"},
		"[global::System.Obsolete]":             {"global::System.Obsolete"},
		"[Mapper<Order, Line>]":                 {"Mapper"},
		"@property":                             {"property"},
		"@pytest.fixture(scope=\"module\")":     {"pytest.fixture"},
		"@Component({ selector: 'a', x: [1] })": {"Component"},
		"@(make())":                             nil,
		"#[test]":                               {"test"},
		"#![allow(dead_code)]":                  {"allow"},
		"#[tokio::test(flavor = \"x\")]":        {"tokio::test"},
		"#[derive(Debug, serde::Serialize)]":    {"derive", "Debug", "serde::Serialize"},
		"#[cfg_attr(feature = \"serde\", derive(Serialize), serde(default))]": {"cfg_attr", "derive", "Serialize", "serde"},
		"#[unsafe(no_mangle)]":                   {"unsafe", "no_mangle"},
		"#[doc = \"a, b\"]":                      {"doc"},
		"`json:\"id,omitempty\" db:\"a:\\\"b\"`": {"json", "db"},
		"\"json:\\\"id\\\"\"":                    {"json"},
		"//go:embed static/*":                    {"go:embed"},
		"//go:noinline":                          {"go:noinline"},
		"HttpGet":                                {"HttpGet"},
		"go:embed":                               {"go:embed"},
		"json:\"id\"":                            {"json"},
		"derive(Debug)":                          {"derive", "Debug"},
		"[[nodiscard]]":                          {"nodiscard"},
	} {
		if diff := cmp.Diff(want, AttributeNames(attribute)); diff != "" {
			t.Errorf("%s: %s", attribute, diff)
		}
	}
}

func TestAttributeMatcherTakesWhatPeopleWrite(t *testing.T) {
	for _, c := range []struct {
		wanted, attribute string
		want              bool
	}{
		{"HttpGet", "[HttpGet(\"/\")]", true},
		{"[HttpGet]", "[Route(\"a\"), HttpGet]", true},
		{"HttpGetAttribute", "[HttpGet]", true},
		{"HttpGet", "[Microsoft.AspNetCore.Mvc.HttpGetAttribute]", true},
		{"Mvc.HttpGet", "[Microsoft.AspNetCore.Mvc.HttpGet]", true},
		{"HttpGet", "[HttpGetAll]", false},
		{"Get", "[HttpGet]", false},
		{"Attribute", "[Attribute]", true},
		{"fixture", "@pytest.fixture", true},
		{"@pytest.fixture", "@fixture", true},
		{"@pytest.fixture", "@nose.fixture", false},
		{"@pytest.fixture(scope='x')", "@pytest.fixture", true},
		{"Serialize", "#[derive(Debug, Serialize)]", true},
		{"#[derive(Serialize)]", "#[derive(Debug, serde::Serialize)]", true},
		{"#[derive(Serialize)]", "#[derive(Debug)]", false},
		{"derive", "#[derive(Debug)]", true},
		{"test", "#[tokio::test]", true},
		{"json", "`json:\"id\"`", true},
		{"id", "`json:\"id\"`", false},
		{"embed", "//go:embed x", true},
		{"//go:embed", "//go:embed x", true},
	} {
		if got := AttributeMatcher(c.wanted)(c.attribute); got != c.want {
			t.Errorf("%s for %s: %v", c.wanted, c.attribute, got)
		}
	}
	for _, nothing := range []string{"", "[]", "@", "``"} {
		if AttributeMatcher(nothing) != nil {
			t.Errorf("%q names an attribute", nothing)
		}
	}
}
