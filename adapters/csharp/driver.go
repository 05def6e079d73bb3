package csharp

import (
	"encoding/json"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/auralsp/aura/adapters/recipe"
)

// pathOf returns the path of an event, for its name only.
func pathOf(e recipe.FileEvent) string {
	u, err := url.Parse(e.URI)
	if err != nil {
		return e.URI
	}
	return u.Path
}

// builds reports whether a path lies in what builds write: servers would take
// what is generated there for sources a second time.
func builds(path string) bool {
	dirs := strings.Split(filepath.ToSlash(filepath.Dir(path)), "/")
	return slices.Contains(dirs, "obj") || slices.Contains(dirs, "bin") || slices.Contains(dirs, ".git")
}

// projectInput reports whether a file decides what belongs to a project and how
// it is compiled.
func projectInput(path string) bool {
	switch base := filepath.Base(path); strings.ToLower(filepath.Ext(base)) {
	case ".csproj", ".sln", ".slnx", ".slnf", ".props", ".targets", ".editorconfig", ".globalconfig":
		return true
	default:
		return base == "global.json" || base == "Directory.Build.rsp" || strings.EqualFold(base, "nuget.config")
	}
}

// progress is what a $/progress says.
type progress struct {
	Token json.RawMessage `json:"token"`
	Value struct {
		Kind    string `json:"kind"`
		Title   string `json:"title"`
		Message string `json:"message"`
	} `json:"value"`
}

// logged is a window/logMessage.
type logged struct {
	Type    int    `json:"type"`
	Message string `json:"message"`
}

// probe asks for symbols of a name that nobody gives, which is answered by an
// empty list at once.
func probe() (method string, params any) {
	return "workspace/symbol", struct {
		Query string `json:"query"`
	}{"\u2063"}
}

// firstLine is the first line of a message, bounded.
func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	const limit = 200
	if len(line) > limit {
		line = strings.ToValidUTF8(line[:limit], "") + "…"
	}
	return line
}

func ext(path string) string { return filepath.Ext(path) }
