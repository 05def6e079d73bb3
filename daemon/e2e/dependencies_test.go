package e2e

import (
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/lspclient/lsptest"
)

// dependency is a program whose use of a library is not resolved until a file
// of its project says where the library is.
type dependency struct {
	tools    []string
	files    string
	use      string // file that uses Answer, or answer
	symbol   string
	lib      string // file that declares it
	manifest string
	with     string // content of the manifest that names the library
	prepare  func(t *testing.T, dir string)
}

func dependencies() map[string]dependency {
	return map[string]dependency{
		"go": {
			tools: []string{"gopls"}, use: "app/main.go", symbol: "Answer", lib: "lib/lib.go", manifest: "app/go.mod",
			files: `
-- app/go.mod --
module example.com/app

go 1.24
-- app/main.go --
package main

import "example.com/lib"

func main() { println(lib.Answer()) }
-- lib/go.mod --
module example.com/lib

go 1.24
-- lib/lib.go --
package lib

// Answer is known.
func Answer() int { return 42 }
`,
			with: "module example.com/app\n\ngo 1.24\n\nrequire example.com/lib v0.0.0\n\nreplace example.com/lib => ../lib\n",
		},
		"rust": {
			tools: []string{"rust-analyzer"}, use: "app/src/main.rs", symbol: "answer", lib: "lib/src/lib.rs", manifest: "app/Cargo.toml",
			files: `
-- app/Cargo.toml --
[package]
name = "app"
version = "0.1.0"
edition = "2021"
-- app/src/main.rs --
fn main() {
    println!("{}", 1);
    let _ = lib::answer();
}
-- lib/Cargo.toml --
[package]
name = "lib"
version = "0.1.0"
edition = "2021"
-- lib/src/lib.rs --
/// It is known.
pub fn answer() -> i32 { 42 }
`,
			with: "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\nlib = { path = \"../lib\" }\n",
		},
		"python": {
			tools: []string{"pyright-langserver"}, use: "main.py", symbol: "answer", lib: "libs/known/__init__.py", manifest: "pyproject.toml",
			files: `
-- pyproject.toml --
[project]
name = "app"
version = "0.1.0"
-- main.py --
from known import answer

print(answer())
-- libs/known/__init__.py --
def answer() -> int:
    """It is known."""
    return 42
`,
			with: "[project]\nname = \"app\"\nversion = \"0.1.0\"\n\n[tool.pyright]\nextraPaths = [\"libs\"]\n",
		},
		"typescript": {
			tools: []string{"typescript-language-server"}, use: "src/main.ts", symbol: "answer", lib: "libs/known/index.ts", manifest: "tsconfig.json",
			files: `
-- package.json --
{"name": "app", "version": "0.1.0", "private": true}
-- tsconfig.json --
{"compilerOptions": {"strict": true, "noEmit": true, "module": "esnext", "moduleResolution": "bundler", "types": []}, "include": ["src", "libs"]}
-- src/main.ts --
import { answer } from "known";

export const n: number = answer();
-- libs/known/index.ts --
/** It is known. */
export function answer(): number { return 42; }
`,
			with: `{"compilerOptions": {"strict": true, "noEmit": true, "module": "esnext", "moduleResolution": "bundler", "types": [], "paths": {"known": ["./libs/known/index.ts"]}}, "include": ["src", "libs"]}`,
		},
		"csharp": {
			tools: []string{"roslyn-lsp", "dotnet"}, use: "App/Program.cs", symbol: "Answer", lib: "Lib/Known.cs", manifest: "App/App.csproj",
			files: `
-- App/App.csproj --
<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup><OutputType>Exe</OutputType><TargetFramework>net10.0</TargetFramework></PropertyGroup>
</Project>
-- App/Program.cs --
using Lib;

class Program
{
    static void Main() => System.Console.WriteLine(Known.Answer());
}
-- Lib/Lib.csproj --
<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup><TargetFramework>net10.0</TargetFramework></PropertyGroup>
</Project>
-- Lib/Known.cs --
namespace Lib;

public static class Known
{
    public static int Answer() => 42;
}
`,
			with: "<Project Sdk=\"Microsoft.NET.Sdk\">\n  <PropertyGroup><OutputType>Exe</OutputType><TargetFramework>net10.0</TargetFramework></PropertyGroup>\n" +
				"  <ItemGroup><ProjectReference Include=\"../Lib/Lib.csproj\" /></ItemGroup>\n</Project>\n",
			prepare: func(t *testing.T, dir string) {
				for _, project := range []string{"Lib", "App"} {
					cmd := exec.Command(lsptest.Tool(t, "dotnet"), "restore", "-v", "quiet")
					cmd.Dir = filepath.Join(dir, project)
					if out, err := cmd.CombinedOutput(); err != nil {
						t.Fatalf("restore: %v\n%s", err, out)
					}
				}
			},
		},
	}
}

// TestDependenciesChange lets a project depend on another one, then no more,
// each followed by a question at once: the answer is that of the project as it
// is now.
func TestDependenciesChange(t *testing.T) {
	for _, lang := range slices.Sorted(maps.Keys(dependencies())) {
		t.Run(lang, func(t *testing.T) { dependenciesChange(t, dependencies()[lang]) })
	}
}

func dependenciesChange(t *testing.T, d dependency) {
	for _, tool := range d.tools {
		lsptest.Tool(t, tool)
	}
	dir := files(t, d.files)
	if d.prepare != nil {
		d.prepare(t, dir)
	}
	w := newWorld(t, dir)
	at := map[string]any{"filePath": d.use}
	for n, line := range strings.Split(read(t, filepath.Join(dir, d.use)), "\n") {
		if before, _, used := strings.Cut(line, d.symbol+"()"); used {
			at["line"], at["column"] = n+1, len(before)+1
		}
	}
	defined := func() (files []string) {
		t.Helper()
		var got api.Places
		if w.call(t, "aura_definition", at, &got) == nil {
			for _, l := range got.Locations {
				files = append(files, l.File)
			}
		}
		return files
	}
	manifest := filepath.Join(dir, d.manifest)
	without := read(t, manifest)
	for round := range 2 {
		if got := defined(); slices.Contains(got, d.lib) {
			t.Errorf("round %d: it is defined in %v although nothing names the library", round, got)
		}
		write(t, manifest, d.with)
		if got := defined(); !slices.Equal(got, []string{d.lib}) {
			t.Errorf("round %d: once the library is named, it is defined in %v, want %s", round, got, d.lib)
		}
		write(t, manifest, without)
	}
	if got := defined(); slices.Contains(got, d.lib) {
		t.Errorf("at the end it is defined in %v although nothing names the library", got)
	}
}
