package typescript

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/auralsp/aura/adapters"
)

// choice is the TypeScript whose tsserver reads a project.
type choice struct {
	tsserver string // absolute path of tsserver.js
	why      string // for people
}

// chooseCompiler picks the TypeScript that reads the project: the one that the
// user's configuration names, else the project's own where the workspace is
// trusted and that one has a tsserver, else the one beside the server.
func chooseCompiler(site adapters.Site, bin string) (choice, error) {
	if site.Setting != nil {
		if v, ok := site.Setting("tsserver"); ok {
			path, _ := v.(string)
			if !regular(path) {
				return choice{}, fmt.Errorf("the setting tsserver of %s names no file: %v; it is the absolute path of a tsserver.js", program, v)
			}
			return choice{path, "TypeScript is read by " + path + ", which the configuration names"}, nil
		}
	}
	folder, version := ownCompiler(site.Root)
	reason := "the project has no TypeScript of its own"
	switch {
	case folder == "":
	case !older(version, compilerNative):
		reason = fmt.Sprintf("the project's own TypeScript %s has no tsserver", version)
	case older(version, compilerOldest):
		reason = fmt.Sprintf("the project's own TypeScript %s is older than %s", version, compilerOldest)
	case !regular(tsserverIn(folder)):
		reason = fmt.Sprintf("the project's own TypeScript %s is not complete", version)
	case !site.Trusted:
		reason = fmt.Sprintf("the project's own TypeScript %s is not run in a workspace that is not trusted", version)
	default:
		return choice{tsserverIn(folder), fmt.Sprintf("TypeScript is read by the project's own %s (%s)", version, folder)}, nil
	}
	pinned := besideServer(bin)
	if pinned == "" {
		return choice{}, fmt.Errorf("there is no TypeScript beside %s, and %s; run `auractl install %s`, or set tsserver to the path of a tsserver.js", bin, reason, program)
	}
	v := versionOf(pinned)
	if !older(v, compilerNative) || !regular(tsserverIn(pinned)) {
		return choice{}, fmt.Errorf("TypeScript %s beside %s has no tsserver, and %s; run `auractl install %s`, which installs %s", v, bin, reason, program, compiler)
	}
	return choice{tsserverIn(pinned), fmt.Sprintf("TypeScript is read by the server's %s (%s), as %s", v, pinned, reason)}, nil
}

func tsserverIn(folder string) string { return filepath.Join(folder, "lib", "tsserver.js") }

// ownCompiler returns the folder of the TypeScript that node finds from a
// project's folder, and its version.
func ownCompiler(root string) (folder, version string) {
	for dir := root; ; dir = filepath.Dir(dir) {
		folder := filepath.Join(dir, "node_modules", "typescript")
		if v := versionOf(folder); v != "" {
			return folder, v
		}
		if dir == filepath.Dir(dir) {
			return "", ""
		}
	}
}

// besideServer returns the folder of the TypeScript that was installed with
// the server, as its packages stand beside each other; empty when it cannot be told.
func besideServer(bin string) string {
	for _, path := range []string{bin, target(bin)} {
		real, err := filepath.EvalSymlinks(path)
		if err != nil || path == "" {
			continue
		}
		for dir := filepath.Dir(real); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			for _, folder := range []string{filepath.Join(dir, "typescript"), filepath.Join(dir, "node_modules", "typescript")} {
				if regular(filepath.Join(folder, "package.json")) {
					return folder
				}
			}
		}
	}
	return ""
}

// quoted finds what a script runs, by the name of the server in it.
var quoted = regexp.MustCompile(`["' =]((?:\$basedir|\$\{basedir\})?/[^"'\n]*` + program + `[^"'\n ]*)`)

// target returns the program that a script of a few lines runs, as package
// managers put them into bin folders; empty when bin is none.
func target(bin string) string {
	const script = 16 << 10 // bytes
	info, err := os.Stat(bin)
	if err != nil || info.Size() > script {
		return ""
	}
	content, err := os.ReadFile(bin)
	if err != nil || !strings.HasPrefix(string(content), "#!") {
		return ""
	}
	for _, m := range quoted.FindAllStringSubmatch(string(content), -1) {
		path := m[1]
		for _, base := range []string{"$basedir", "${basedir}"} {
			if rest, ok := strings.CutPrefix(path, base); ok {
				path = filepath.Join(filepath.Dir(bin), rest)
			}
		}
		if path = filepath.Clean(path); path != bin && regular(path) {
			return path
		}
	}
	return ""
}

// versionOf returns the version of an installed package, empty when there is none.
func versionOf(folder string) string {
	content, err := os.ReadFile(filepath.Join(folder, "package.json"))
	if err != nil {
		return ""
	}
	var file struct {
		Version string `json:"version"`
	}
	if json.Unmarshal(content, &file) != nil {
		return ""
	}
	return file.Version
}

// older reports whether a version comes before another: major, minor and
// patch are compared, and one that cannot be read is not older.
func older(version, than string) bool {
	a, err := numbers(version)
	if err != nil {
		return false
	}
	b, err := numbers(than)
	if err != nil {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

func numbers(version string) (out [3]int, err error) {
	version, _, _ = strings.Cut(strings.TrimPrefix(version, "v"), "-")
	parts := strings.Split(version, ".")
	if len(parts) != 3 {
		return out, errors.New("no version")
	}
	for i, p := range parts {
		if out[i], err = strconv.Atoi(p); err != nil {
			return out, err
		}
	}
	return out, nil
}

func regular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
