package rust

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/graph/syntax/syntaxtest"
	"github.com/auralsp/aura/lspclient/lsptest"
)

func TestChecks(t *testing.T) {
	for name, c := range map[string]struct {
		files syntaxtest.Files
		p     adapters.Project
		want  []string
	}{
		"a crate": {syntaxtest.Files{"Cargo.toml": "[package]\nname='a'\n[features]\ndefault=['x']\nx=['y']\ny=[]\n"}, adapters.Project{Marker: "/ws/Cargo.toml"}, []string{"cargo check"}},
		"a feature that is off": {syntaxtest.Files{"Cargo.toml": "[features]\nx=[]\n"}, adapters.Project{Marker: "/ws/Cargo.toml"},
			[]string{"cargo check", "cargo check with all features"}},
		"an optional dependency of a member": {syntaxtest.Files{"Cargo.toml": "[workspace]\n", "m/Cargo.toml": "[dependencies]\nserde = {version='1', optional=true}\n"},
			adapters.Project{Marker: "/ws/Cargo.toml", Members: []string{"/ws/m"}}, []string{"cargo check", "cargo check with all features"}},
		"a broken manifest":   {syntaxtest.Files{"Cargo.toml": "[pack"}, adapters.Project{Marker: "/ws/Cargo.toml"}, []string{"cargo check"}},
		"rust-project.json":   {nil, adapters.Project{Marker: "/ws/rust-project.json"}, nil},
		"files of no project": {nil, adapters.Project{}, nil},
	} {
		c.p.Root = "/ws"
		checks, err := New().Checks(t.Context(), c.files, c.p, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, ck := range checks {
			got = append(got, ck.Name)
			if ck.Dir != "/ws" || ck.Stale != adapters.ByMTime || !slices.Contains(ck.Kept, "CARGO_TARGET_DIR") || !slices.Contains(ck.Env, "RUSTC_WRAPPER=") {
				t.Errorf("%s: %+v", name, ck)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// checked runs the first check of a crate as Aura does and returns what it finds.
func checked(t *testing.T, files string, env ...string) ([]adapters.Problem, error) {
	t.Helper()
	cargo := lsptest.Tool(t, "cargo")
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	snap := syntaxtest.Files{}
	for _, f := range txtar.Parse([]byte(files)).Files {
		path := filepath.Join(root, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	checks, err := New().Checks(t.Context(), snap, adapters.Project{Root: root, Marker: filepath.Join(root, "Cargo.toml")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ck := checks[0]
	cmd := exec.Command(cargo, ck.Argv[1:]...)
	cmd.Dir = ck.Dir
	cmd.Env = append(append(os.Environ(), ck.Env...), env...)
	for _, name := range ck.Kept {
		cmd.Env = append(cmd.Env, name+"="+filepath.Join(root, "kept"))
	}
	output, err := cmd.CombinedOutput()
	exit := 0
	if ended := new(exec.ExitError); errors.As(err, &ended) {
		exit = ended.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	found, err := ck.Parse(output, exit)
	for i := range found {
		found[i].Path = strings.TrimPrefix(found[i].Path, root+"/")
	}
	return found, err
}

const crate = "-- Cargo.toml --\n[package]\nname = \"c\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"

func TestChecks_RealCargo(t *testing.T) {
	found, err := checked(t, crate+`
-- src/lib.rs --
pub fn first() -> u32 { "é"; wrong() }
macro_rules! bad { ($x:expr) => { $x + "text" } }
pub fn second() -> u32 {
    let unused = 1;
    bad!(1u32)
}
-- tests/t.rs --
#[test]
fn test() { c::missing(); }
-- examples/e.rs --
fn main() { c::first(1); }
`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range found {
		if !p.Warning {
			line, _, _ := strings.Cut(p.Message, "\n")
			got = append(got, fmt.Sprintf("%s:%d:%d %s %s", p.Path, p.Line, p.Column, p.Code, line))
		}
	}
	slices.Sort(got)
	// The library does not compile, so that nothing that uses it is looked at;
	// it is compiled twice and says everything once. Columns count bytes.
	want := []string{
		"src/lib.rs:1:31 E0425 cannot find function `wrong` in this scope",
		"src/lib.rs:2:38 E0277 cannot add `&str` to `u32`",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	found, err = checked(t, crate+`
-- src/lib.rs --
pub fn first() -> u32 { 1 }
pub fn second() { let unused = 1; }
-- tests/t.rs --
#[test]
fn test() { c::missing(); }
-- examples/e.rs --
fn main() { c::first(1); }
`)
	if err != nil {
		t.Fatal(err)
	}
	got = nil
	for _, p := range found {
		line, _, _ := strings.Cut(p.Message, "\n")
		got = append(got, fmt.Sprintf("%s:%d:%d %v %s %s", p.Path, p.Line, p.Column, p.Warning, p.Code, line))
	}
	slices.Sort(got)
	want = []string{
		"examples/e.rs:1:13 false E0061 this function takes 0 arguments but 1 argument was supplied",
		"src/lib.rs:2:23 true unused_variables unused variable: `unused`",
		"tests/t.rs:2:16 false E0425 cannot find function `missing` in crate `c`",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tests and examples (-want +got):\n%s", diff)
	}
}

func TestChecks_RealCargoCannotBegin(t *testing.T) {
	found, err := checked(t, "-- Cargo.toml --\n[package]\nname = \"c\"\nversion = \n-- src/lib.rs --\n")
	if err != nil || len(found) != 1 || found[0].Path != "Cargo.toml" || found[0].Line != 3 && found[0].Line != 4 || found[0].Warning {
		t.Errorf("a broken manifest: %+v, %v", found, err)
	}
	found, err = checked(t, crate+"\n[dependencies]\naura-nowhere = \"9.9.9\"\n-- src/lib.rs --\n", "CARGO_NET_OFFLINE=true")
	var unable *adapters.UnableError
	if !errors.As(err, &unable) || !strings.Contains(unable.Reason, "aura-nowhere") || !strings.Contains(unable.Reason, "cargo fetch") {
		t.Errorf("a crate that nobody has: %+v, %v", found, err)
	}
	// A crate without a file to compile.
	found, err = checked(t, crate)
	if err != nil || len(found) != 1 || !strings.Contains(found[0].Message, "no targets specified") {
		t.Errorf("a crate without code: %+v, %v", found, err)
	}
}

func TestProblems(t *testing.T) {
	const head = `{"reason":"compiler-message","message":{"message":"M","level":"error","code":{"code":"E1"},"spans":[`
	for name, c := range map[string]struct {
		output string
		exit   int
		want   []adapters.Problem
	}{
		"success":   {"   Compiling c\n" + `{"reason":"build-finished","success":true}` + "\n", 0, nil},
		"no output": {"", 101, []adapters.Problem{{Message: "cargo failed without a message (exit status 101)"}}},
		"an error in a macro of another crate stands where it is used": {
			head + `{"file_name":"/home/u/.cargo/x.rs","line_start":1,"column_start":1,"is_primary":true,"expansion":{"span":{"file_name":"src/lib.rs","line_start":3,"column_start":5,"is_primary":false,"text":[{"text":"ä = m!();"}]}}}]}}`,
			101, []adapters.Problem{{Path: "/w/src/lib.rs", Line: 3, Column: 6, Code: "E1", Message: "M"}},
		},
		"an error without a place": {
			`{"reason":"compiler-message","message":{"message":"linking failed","level":"error","code":null,"spans":[]}}` + "\n" +
				`{"reason":"compiler-message","message":{"message":"aborting due to 1 previous error","level":"error","code":null,"spans":[]}}`,
			101, []adapters.Problem{{Message: "linking failed"}},
		},
		"torn output": {head + "\nerror: could not compile `c`\n", 101, []adapters.Problem{{Message: "could not compile `c`"}}},
		"help":        {head + `],"children":[{"message":"try this","level":"help","spans":[]}]}}`, 101, []adapters.Problem{{Code: "E1", Message: "M\nhelp: try this"}}},
	} {
		got, err := problems("/w", []byte(c.output), c.exit)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}
