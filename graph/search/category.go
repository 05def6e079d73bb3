package search

import (
	"path"
	"strings"
)

// CategoryOf returns what a file is by its name. The extensions of languages
// that are parsed are their callers'.
func CategoryOf(name string) Category {
	lower := strings.ToLower(path.Base(name))
	return byExtension[path.Ext(lower)]
}

var byExtension = categories(map[Category]string{
	Docs:   "md mdx markdown txt rst adoc asciidoc org tex textile",
	Config: "json jsonc json5 yaml yml xml toml ini cfg conf properties env editorconfig plist csproj fsproj vbproj props targets sln gradle tf tfvars hcl mod",
	Code: "fs fsx fsi vb ps1 psm1 sh bash zsh fish bat cmd java kt kts scala groovy c h cc cpp cxx hh hpp hxx m mm swift rb php phtml pl pm lua r jl hs ml mli ex exs erl hrl " +
		"clj cljs cljc dart zig nim d pas sql proto thrift graphql gql html htm css scss sass less vue svelte astro razor cshtml xaml asm s cu cl glsl wgsl hlsl sol vim el lisp scm tcl awk",
})

func categories(lists map[Category]string) map[string]Category {
	out := map[string]Category{}
	for c, list := range lists {
		for ext := range strings.FieldsSeq(list) {
			out["."+ext] = c
		}
	}
	return out
}

// machineMade are the ends of names of files that a package manager keeps.
var machineMade = strings.Fields(".lock -lock.json -lock.yaml .lockb .sum .map .snap .svg .min.css")

// MachineMade reports whether a file's name says that no person wrote it.
func MachineMade(name string) bool {
	base := strings.ToLower(path.Base(name))
	for _, end := range machineMade {
		if strings.HasSuffix(base, end) {
			return true
		}
	}
	return strings.Contains(base, ".min.")
}

// Minor orders files: 1 for one that is beside the program itself, else 0.
func Minor(file string) int {
	if isMinor(file) {
		return 1
	}
	return 0
}
