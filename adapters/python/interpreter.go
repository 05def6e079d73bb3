package python

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/auralsp/aura/adapters"
)

// declared are the variables of the client by which an interpreter is chosen
// or finds its modules. Two clients that differ in one of them get two servers.
var declared = []string{
	"VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "UV_PROJECT_ENVIRONMENT", "PYENV_VERSION", "PYENV_ROOT",
	"PYTHONPATH", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONNOUSERSITE",
}

// interpreter is the Python whose modules a project sees.
type interpreter struct {
	path     string   // absolute; empty when there is none
	packages []string // folders of modules that are read without running it
	why      string   // how it was chosen, for people
	missing  bool     // it is no environment of the project
}

// folders are the names that tools give to a project's own environment.
var folders = []string{".venv", "venv", ".env", "env"}

// findInterpreter chooses the Python of a project: the one that the user has
// configured or activated, the project's own, the one in PATH. None of a
// workspace that is not trusted is run.
func findInterpreter(site adapters.Site) interpreter {
	if site.Setting != nil {
		if v, ok := site.Setting("pythonPath"); ok {
			if path, ok := v.(string); ok && filepath.IsAbs(path) {
				return interpreter{path: path, why: "the user's configuration"}
			}
		}
	}
	for _, name := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		dir := site.Env[name]
		if !filepath.IsAbs(dir) {
			continue
		}
		if in, ok := inEnvironment(site, dir); ok {
			in.why = name
			return in
		}
	}
	own := folders
	if name := site.Env["UV_PROJECT_ENVIRONMENT"]; name != "" {
		own = append([]string{name}, own...)
	}
	for _, dir := range homes(site) {
		for _, name := range own {
			at := name
			if !filepath.IsAbs(at) {
				at = filepath.Join(dir, name)
			}
			if in, ok := inEnvironment(site, at); ok {
				in.why = at
				return in
			}
		}
	}
	avoid := ""
	if !site.Trusted {
		avoid = site.Root
	}
	for _, name := range []string{"python3", "python"} {
		if path, err := program(site.Env["PATH"], avoid, name); err == nil {
			return interpreter{path: path, why: "PATH; the project has no environment of its own", missing: true}
		}
	}
	return interpreter{why: "none: there is no environment, and no python3 in PATH", missing: true}
}

// notes say what was chosen, and what to do where it is not the project's.
func (in interpreter) notes() []string {
	switch {
	case in.path == "" && in.missing:
		return []string{"Python environment: none, and no python3 in PATH: imports of installed packages are unknown; make one with python3 -m venv .venv, or activate yours and ask again"}
	case in.missing:
		return []string{"Python environment: none of this project; modules are looked up for " + in.path +
			"; make one with python3 -m venv .venv, or activate yours and ask again"}
	case len(in.packages) > 0:
		return []string{"Python environment: " + in.why + ", read without running it as the workspace is not trusted"}
	}
	return []string{"Python environment: " + in.path + ", by " + in.why}
}

// homes are the folders in which a project's environment may lie: its own, and
// those above it up to the one that holds its repository.
func homes(site adapters.Site) []string {
	var out []string
	for d := site.Root; d != site.Env["HOME"] && d != filepath.Dir(d); d = filepath.Dir(d) {
		out = append(out, d)
		if _, err := os.Stat(filepath.Join(d, ".git")); err == nil {
			return out
		}
	}
	return []string{site.Root}
}

// beside are the places at which an environment of the project may be made, and
// where packages are installed into the one that it has. None is told of, as
// environments are ignored, and pyright looks at neither again.
func beside(site adapters.Site, in interpreter) []string {
	var out []string
	for _, dir := range homes(site) {
		for _, name := range folders {
			out = append(out, filepath.Join(dir, name, "bin", "python"))
		}
	}
	if !in.missing && in.path != "" {
		// The interpreter of an environment is a link out of it.
		packages, err := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(in.path)), "lib", "python3*", "site-packages"))
		if err == nil {
			out = append(out, packages...)
		}
	}
	return append(out, in.packages...)
}

// inEnvironment returns the interpreter of an environment's folder. Of one that
// belongs to a workspace that is not trusted only the modules are given: the
// start of its interpreter runs what its .pth files say.
func inEnvironment(site adapters.Site, dir string) (interpreter, bool) {
	for _, below := range []string{"bin/python", "bin/python3"} {
		path := filepath.Join(dir, below)
		if !executable(path) {
			continue
		}
		if site.Trusted || !within(site.Root, dir) {
			return interpreter{path: path}, true
		}
		packages, err := filepath.Glob(filepath.Join(dir, "lib", "python3*", "site-packages"))
		if err != nil || len(packages) == 0 {
			return interpreter{}, false
		}
		in := interpreter{packages: packages}
		for _, name := range []string{"python3", "python"} {
			if path, err := program(site.Env["PATH"], site.Root, name); err == nil {
				in.path = path
				break
			}
		}
		return in, true
	}
	return interpreter{}, false
}

// environment returns the child's complete environment, and the part of it by
// which instances differ.
func environment(site adapters.Site, in interpreter) (env []string, named map[string]string) {
	vars := map[string]string{}
	for _, name := range declared {
		if v, ok := site.Env[name]; ok {
			vars[name] = v
		}
	}
	if !site.Trusted {
		// Modules found through them are run by the interpreter's start.
		for _, name := range []string{"PYTHONPATH", "PYTHONHOME"} {
			delete(vars, name)
		}
	}
	named = maps.Clone(vars)
	named["python"] = in.path + " (" + in.why + ")"
	for _, name := range []string{"HOME", "PATH"} {
		if v, ok := site.Env[name]; ok {
			vars[name] = v
		}
	}
	for name, v := range vars {
		env = append(env, name+"="+v)
	}
	slices.Sort(env)
	return env, named
}

// program returns the absolute path of a program in a PATH, but none below a
// folder to avoid.
func program(path, avoid, name string) (string, error) {
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) || avoid != "" && within(avoid, dir) {
			continue // a folder of the project must not decide what runs
		}
		if file := filepath.Join(dir, name); executable(file) {
			return file, nil
		}
	}
	return "", fmt.Errorf("no program %q in PATH", name)
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// within reports whether path is dir or lies below it.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
