package python

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/lspclient/text"
)

// Checks implements adapters.Builder: the changed files must compile, and the
// type checker that the project has configured must find nothing new.
func (a *Adapter) Checks(ctx context.Context, s adapters.Snapshot, p adapters.Project, changed []string) ([]adapters.Check, error) {
	tools, err := toolsOf(ctx, s, p)
	if err != nil {
		return nil, err
	}
	var files []string // relative, as they are shown
	for _, path := range changed {
		content, err := recipe.ReadOptional(ctx, s, path)
		if err != nil {
			return nil, err
		}
		if content != nil && slices.Contains(a.Language().Extensions, filepath.Ext(path)) {
			rel, err := filepath.Rel(p.Root, path)
			if err != nil {
				return nil, fmt.Errorf("compile %s: %w", path, err)
			}
			files = append(files, rel)
		}
	}
	var out []adapters.Check
	if len(files) > 0 {
		out = append(out, adapters.Check{
			Name: "python compile", Argv: append([]string{tools.python, "-I", "-W", "ignore", "-c", "import os; exec(os.environ['AURA_COMPILE'])"}, files...),
			Env: []string{"AURA_COMPILE=" + compiler}, Dir: p.Root, Stale: adapters.ByMTime,
			Install: "install Python (https://www.python.org/downloads) and put python3 into PATH",
			Parse:   func(output []byte, exit int) ([]adapters.Problem, error) { return compiled(p.Root, output, exit), nil },
		})
	}
	switch {
	case tools.mypy:
		argv := []string{tools.program("mypy"), "--no-pretty", "--show-column-numbers", "--show-absolute-path", "--hide-error-context",
			"--no-error-summary", "--no-color-output", "--show-error-codes"}
		if !tools.targets {
			argv = append(argv, ".")
		}
		out = append(out, adapters.Check{
			Name: "mypy", Argv: argv, Dir: p.Root, Stale: adapters.ByContent, Writes: []string{filepath.Join(p.Root, ".mypy_cache")},
			Install: "python -m pip install mypy",
			Parse: func(output []byte, exit int) ([]adapters.Problem, error) {
				return mypyProblems(p.Root, output, exit), nil
			},
		})
	case tools.pyright:
		argv := []string{tools.program("pyright"), "--outputjson", "--project", p.Root}
		if tools.venv != "" {
			argv = append(argv, "--pythonpath", tools.python)
		}
		out = append(out, adapters.Check{
			Name: "pyright", Argv: argv, Dir: p.Root, Stale: adapters.ByContent,
			Install: "npm install --global pyright@" + pyrightVersion,
			Parse: func(output []byte, exit int) ([]adapters.Problem, error) {
				return pyrightProblems(output, exit, func(path string) *text.File {
					content, err := recipe.ReadOptional(ctx, s, path)
					if err != nil || content == nil {
						return nil
					}
					return text.NewFile(content)
				})
			},
		})
	}
	return out, nil
}

// tools are the programs that judge a project.
type tools struct {
	venv    string // the project's own environment; empty when it has none
	python  string
	own     []string // programs of the environment
	mypy    bool     // configured
	targets bool     // mypy's configuration says what to check
	pyright bool     // configured
}

// program returns how to call a tool: that of the environment if it has it.
func (t tools) program(name string) string {
	if slices.Contains(t.own, name) {
		return filepath.Join(t.venv, "bin", name)
	}
	return name
}

// toolsOf finds out what a project has configured: mypy counts more, as a
// project that has both runs it in its own checks.
func toolsOf(ctx context.Context, s adapters.Snapshot, p adapters.Project) (tools, error) {
	t := tools{python: "python3"}
	read := func(name string) ([]byte, error) { return recipe.ReadOptional(ctx, s, filepath.Join(p.Root, name)) }
	for _, name := range folders {
		content, err := read(filepath.Join(name, "pyvenv.cfg"))
		if err != nil {
			return t, err
		}
		if content == nil {
			continue
		}
		t.venv = filepath.Join(p.Root, name)
		t.python = filepath.Join(t.venv, "bin", "python")
		for _, tool := range []string{"mypy", "pyright"} {
			script, err := read(filepath.Join(name, "bin", tool))
			if err != nil {
				return t, err
			}
			if script != nil {
				t.own = append(t.own, tool)
			}
		}
		break
	}
	var project struct {
		Tool map[string]any `toml:"tool"`
	}
	content, err := read("pyproject.toml")
	if err != nil {
		return t, err
	}
	if toml.Unmarshal(content, &project) != nil {
		project.Tool = nil // the tools will say what is wrong with it
	}
	var mypy any
	mypy, t.mypy = project.Tool["mypy"]
	_, t.pyright = project.Tool["pyright"]
	if settings, ok := mypy.(map[string]any); ok {
		for _, key := range []string{"files", "packages", "modules"} {
			t.targets = t.targets || settings[key] != nil
		}
	}
	for _, name := range []string{"mypy.ini", ".mypy.ini", "setup.cfg"} { // the first that is there counts for mypy
		content, err := read(name)
		if err != nil {
			return t, err
		}
		if section, ok := iniSection(content, "mypy"); ok {
			t.mypy, t.targets = true, targeted.Match(section)
			break
		}
	}
	content, err = read("pyrightconfig.json")
	t.pyright = t.pyright || content != nil
	return t, err
}

// targeted matches the settings by which mypy knows what to check.
var targeted = regexp.MustCompile(`(?m)^(?:files|packages|modules)\s*[=:]`)

// iniSection returns the text of a section of an INI file.
func iniSection(content []byte, name string) ([]byte, bool) {
	var out []byte
	in, found := false, false
	for line := range bytes.Lines(content) {
		if t := bytes.TrimSpace(line); bytes.HasPrefix(t, []byte("[")) {
			in = string(t) == "["+name+"]"
			found = found || in
			continue
		}
		if in {
			out = append(out, line...)
		}
	}
	return out, found
}

// compiler compiles files in memory as py_compile would, and writes nothing
// beside them. Each finding is a line of JSON.
const compiler = `import json, sys, tokenize
failed = 0
for p in sys.argv[1:]:
    try:
        with tokenize.open(p) as f:
            compile(f.read(), p, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, OSError, RecursionError, MemoryError) as e:
        failed = 1
        print(json.dumps([p, getattr(e, "lineno", 0) or 0, getattr(e, "offset", 0) or 0, type(e).__name__, getattr(e, "msg", None) or str(e), getattr(e, "text", None) or ""]))
sys.exit(failed)`

// compiled reads what compiler prints.
func compiled(dir string, output []byte, exit int) []adapters.Problem {
	var out []adapters.Problem
	var loose []string
	for line := range bytes.Lines(output) {
		line = bytes.TrimSpace(line)
		var f []any
		if json.Unmarshal(line, &f) != nil || len(f) != 6 {
			if len(line) > 0 {
				loose = append(loose, string(line))
			}
			continue
		}
		path, _ := f[0].(string) // compiler writes the types that it writes
		row, _ := f[1].(float64)
		column, _ := f[2].(float64)
		code, _ := f[3].(string)
		message, _ := f[4].(string)
		source, _ := f[5].(string)
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		out = append(out, adapters.Problem{Path: path, Line: int(row), Column: bytesOf(source, int(column)), Code: code, Message: message})
	}
	if exit != 0 && len(out) == 0 {
		out = append(out, adapters.Problem{Message: "python failed (exit status " + strconv.Itoa(exit) + "): " + strings.Join(loose, "\n")})
	}
	return out
}

// bytesOf turns a column that counts characters into one that counts bytes.
func bytesOf(line string, column int) int {
	runes := []rune(line)
	if column < 1 || column-1 > len(runes) {
		return max(column, 0)
	}
	return len(string(runes[:column-1])) + 1
}

// mypyLine matches one finding of mypy; notes belong to the one before them.
var mypyLine = regexp.MustCompile(`^(.+?\.(?:pyi?|ipynb|toml|ini|cfg)):(?:(\d+):)?(?:(\d+):)? (error|warning|note): (.*?)(?:\s+\[([a-z][\w-]*)\])?$`)

// mypyProblems reads what mypy prints: 0 says that it found nothing, 1 that it
// did, 2 that it could not go on.
func mypyProblems(dir string, output []byte, exit int) []adapters.Problem {
	var out []adapters.Problem
	var loose []string
	for line := range strings.Lines(string(output)) {
		line = strings.TrimRight(line, "\r\n")
		m := mypyLine.FindStringSubmatch(line)
		if m == nil {
			if line != "" {
				loose = append(loose, line)
			}
			continue
		}
		if m[4] == "note" {
			continue
		}
		path := m[1]
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		out = append(out, adapters.Problem{Path: path, Line: number(m[2]), Column: number(m[3]), Code: m[6], Message: m[5], Warning: m[4] == "warning"})
	}
	switch {
	case exit == 0:
		return nil
	case exit > 1 && len(out) == 0, !slices.ContainsFunc(out, func(p adapters.Problem) bool { return !p.Warning }):
		out = append(out, adapters.Problem{Message: "mypy failed (exit status " + strconv.Itoa(exit) + "): " + strings.Join(loose, "\n")})
	}
	return out
}

// pyrightProblems reads what pyright prints as JSON. It exits with 0 or 1 when
// it has looked at everything; its columns count UTF-16.
func pyrightProblems(output []byte, exit int, file func(path string) *text.File) ([]adapters.Problem, error) {
	failed := func() []adapters.Problem {
		tail := strings.TrimSpace(string(output[max(0, len(output)-2048):]))
		return []adapters.Problem{{Message: "pyright failed (exit status " + strconv.Itoa(exit) + "): " + tail}}
	}
	at := bytes.Index(output, []byte("{\n"))
	if at < 0 || exit > 1 {
		return failed(), nil
	}
	var report struct {
		Found []struct {
			File     string `json:"file"`
			Severity string `json:"severity"`
			Message  string `json:"message"`
			Rule     string `json:"rule"`
			Range    struct {
				Start struct {
					Line      uint32 `json:"line"`
					Character uint32 `json:"character"`
				} `json:"start"`
			} `json:"range"`
		} `json:"generalDiagnostics"`
		Summary *struct {
			Errors int `json:"errorCount"`
		} `json:"summary"`
	}
	if err := json.NewDecoder(bytes.NewReader(output[at:])).Decode(&report); err != nil {
		return nil, fmt.Errorf("pyright's report: %w", err)
	}
	if report.Summary == nil {
		return failed(), nil
	}
	var out []adapters.Problem
	files := map[string]*text.File{}
	for _, d := range report.Found {
		if d.Severity != "error" && d.Severity != "warning" {
			continue
		}
		path := filepath.FromSlash(d.File)
		f, ok := files[path]
		if !ok {
			f = file(path)
			files[path] = f
		}
		start := d.Range.Start
		p := adapters.Problem{Path: path, Line: int(start.Line) + 1, Code: d.Rule, Message: d.Message, Warning: d.Severity == "warning"}
		if f != nil {
			if offset, err := f.OffsetClamped(text.Position{Line: start.Line, Character: start.Character}, text.UTF16); err == nil {
				p.Column = f.PointOf(offset).Column
			}
		}
		out = append(out, p)
	}
	slices.SortStableFunc(out, func(a, b adapters.Problem) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return out, nil
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}
