package python

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/graph/syntax/syntaxtest"
	"github.com/auralsp/aura/lspclient/lsptest"
	"github.com/auralsp/aura/lspclient/text"
)

func TestChecks(t *testing.T) {
	for _, c := range []struct {
		name  string
		files syntaxtest.Files
		want  []string // name and program with its arguments, the compiler's code left out
	}{
		{"nothing configured", syntaxtest.Files{"a.py": ""}, []string{"python compile: python3 a.py"}},
		{"an environment of its own", syntaxtest.Files{"a.py": "", ".venv/pyvenv.cfg": "home = /usr/bin"}, []string{"python compile: /ws/.venv/bin/python a.py"}},
		{"mypy", syntaxtest.Files{"a.py": "", "pyproject.toml": "[tool.mypy]\nstrict = true"}, []string{"python compile: python3 a.py", "mypy: mypy ."}},
		{"mypy that knows what to check", syntaxtest.Files{"a.py": "", "mypy.ini": "[mypy]\nfiles = src\n"}, []string{"python compile: python3 a.py", "mypy: mypy"}},
		{"mypy counts more", syntaxtest.Files{"a.py": "", "setup.cfg": "[metadata]\nname = x\n[mypy]\n", "pyrightconfig.json": "{}"}, []string{"python compile: python3 a.py", "mypy: mypy ."}},
		{"a setup.cfg without it", syntaxtest.Files{"a.py": "", "setup.cfg": "[metadata]\nfiles = x\n"}, []string{"python compile: python3 a.py"}},
		{"pyright", syntaxtest.Files{"a.py": "", "pyproject.toml": "[tool.pyright]\n"}, []string{"python compile: python3 a.py", "pyright: pyright --outputjson --project /ws"}},
		{"tools of the environment", syntaxtest.Files{"a.py": "", "pyrightconfig.json": "", "venv/pyvenv.cfg": "", "venv/bin/pyright": "#!"},
			[]string{"python compile: /ws/venv/bin/python a.py", "pyright: /ws/venv/bin/pyright --outputjson --project /ws --pythonpath /ws/venv/bin/python"}},
		{"a broken pyproject.toml", syntaxtest.Files{"a.py": "", "pyproject.toml": "[tool"}, []string{"python compile: python3 a.py"}},
		{"what is deleted is not compiled", syntaxtest.Files{"pyproject.toml": "[tool.mypy]"}, []string{"mypy: mypy ."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := adapters.Project{Language: "python", Root: syntaxtest.Root}
			checks, err := New().Checks(t.Context(), c.files, p, []string{"/ws/a.py", "/ws/pyproject.toml"})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, ck := range checks {
				if ck.Dir != syntaxtest.Root || ck.Install == "" {
					t.Errorf("%s runs in %q, hint %q", ck.Name, ck.Dir, ck.Install)
				}
				line := strings.Join(ck.Argv, " ")
				if ck.Name == "python compile" {
					line = ck.Argv[0] + " " + strings.Join(ck.Argv[6:], " ")
				}
				if ck.Name == "mypy" {
					line = ck.Argv[0]
					if ck.Argv[len(ck.Argv)-1] == "." {
						line += " ."
					}
				}
				got = append(got, ck.Name+": "+line)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// run runs a check in a folder as validation does.
func run(t *testing.T, dir string, ck adapters.Check) []adapters.Problem {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), ck.Argv[0], ck.Argv[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), ck.Env...)
	output, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	found, err := ck.Parse(output, cmd.ProcessState.ExitCode())
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestCompile runs the real compiler on real mistakes, and looks that it writes nothing.
func TestCompile(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"good.py":   "x = 1\n",
		"syntax.py": "def f(:\n    pass\n",
		"wide.py":   "ü = '😀'; x = = 1\n",
		"indent.py": "if True:\nx = 1\n",
		"scope.py":  "def f(x):\n    global x\n",
		"bytes.py":  "x = '\xff'\n",
		"bom.py":    "\ufeffx = 1\r\ny = 2\r\n",
	}
	var paths []string
	for name, content := range files {
		paths = append(paths, filepath.Join(dir, name))
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	snapshot := syntaxtest.Files{}
	for name := range files {
		snapshot[name] = ""
	}
	var changed []string
	for _, p := range paths {
		changed = append(changed, "/ws/"+filepath.Base(p))
	}
	checks, err := New().Checks(t.Context(), snapshot, adapters.Project{Root: syntaxtest.Root}, changed)
	if err != nil || len(checks) != 1 {
		t.Fatalf("%v, %v", checks, err)
	}
	type where struct{ Line, Column int }
	got := map[string]where{}
	for _, p := range run(t, dir, checks[0]) {
		if p.Message == "" || p.Code == "" || p.Warning {
			t.Errorf("%+v", p)
		}
		got[filepath.Base(p.Path)] = where{p.Line, p.Column}
	}
	want := map[string]where{"syntax.py": {1, 7}, "wide.py": {1, 18}, "indent.py": {2, 1}, "scope.py": {2, 5}, "bytes.py": got["bytes.py"]}
	if _, ok := got["bytes.py"]; !ok {
		t.Error("bytes that are no text were compiled")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != len(files) {
		t.Errorf("the compiler left %v, %v", left, err)
	}
	if found := compiled("/ws", []byte("Fatal Python error: init_fs_encoding\n"), 1); len(found) != 1 || !strings.Contains(found[0].Message, "init_fs_encoding") {
		t.Errorf("a Python that does not start: %+v", found)
	}
	if found := compiled("/ws", []byte("some warning\n"), 0); found != nil {
		t.Errorf("success: %+v", found)
	}
}

func TestMypyProblems(t *testing.T) {
	const output = `pyproject.toml: [mypy]: python_version: Python 3.9 is not supported (must be 3.10 or higher)
/ws/src/flask/json/provider.py:138: error: Unused "type: ignore" comment  [unused-ignore]
/ws/src/flask/app.py:1001:9: error: Returning Any from function declared to return "Callable[..., Any]"  [no-any-return]
/ws/src/flask/app.py:1001:9: note: See the documentation
src/b.py:3: error: invalid syntax  [syntax]
src/b.py:4:1: warning: unused section
`
	want := []adapters.Problem{
		{Path: "/ws/src/flask/json/provider.py", Line: 138, Code: "unused-ignore", Message: `Unused "type: ignore" comment`},
		{Path: "/ws/src/flask/app.py", Line: 1001, Column: 9, Code: "no-any-return", Message: `Returning Any from function declared to return "Callable[..., Any]"`},
		{Path: "/ws/src/b.py", Line: 3, Code: "syntax", Message: "invalid syntax"},
		{Path: "/ws/src/b.py", Line: 4, Column: 1, Message: "unused section", Warning: true},
	}
	if diff := cmp.Diff(want, mypyProblems("/ws", []byte(output), 1)); diff != "" {
		t.Error(diff)
	}
	if got := mypyProblems("/ws", []byte("Success: no issues found\n"), 0); got != nil {
		t.Errorf("success: %+v", got)
	}
	got := mypyProblems("/ws", []byte("mypy: can't read file 'x': No such file or directory\n"), 2)
	if len(got) != 1 || got[0].Path != "" || !strings.Contains(got[0].Message, "can't read file") {
		t.Errorf("a failure without a place: %+v", got)
	}
}

// TestPyrightProblems runs the real checker on a line that UTF-16 and bytes count differently.
func TestPyrightProblems(t *testing.T) {
	checker := lsptest.Tool(t, "pyright")
	dir := t.TempDir()
	files := syntaxtest.Files{"pyrightconfig.json": `{}`, "a.py": "s = '😀ü'; n: int = s\n\ndef f() -> int:\n    return 1\n"}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	read := func(path string) *text.File { return text.NewFile([]byte(files[filepath.Base(path)])) }
	cmd := exec.CommandContext(t.Context(), checker, "--outputjson", "--project", dir)
	output, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	got, err := pyrightProblems(output, cmd.ProcessState.ExitCode(), read)
	if err != nil || len(got) != 1 {
		t.Fatalf("%+v, %v:\n%s", got, err, output)
	}
	if p := got[0]; p.Path != filepath.Join(dir, "a.py") || p.Line != 1 || p.Column != 24 || p.Code != "reportAssignmentType" || p.Warning {
		t.Errorf("%+v", p)
	}
	if got, err := pyrightProblems([]byte("No configuration file found.\n"), 3, read); err != nil || len(got) != 1 || got[0].Path != "" {
		t.Errorf("a configuration that cannot be read: %+v, %v", got, err)
	}
	if _, err := pyrightProblems([]byte("{\n cut"), 1, read); err == nil {
		t.Error("half a report was taken for a whole one")
	}
}
