package typescript

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed" // the script
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
)

var _ adapters.Builder = (*Adapter)(nil)

// checkScript runs the compiler by its own API.
//
//go:embed check.cjs
var checkScript []byte

const installHint = "npm install --save-dev typescript, or `auractl install " + program + "`; both need Node.js (https://nodejs.org)"

// Checks implements adapters.Builder: the compiler's judgement of each
// configuration that names a changed file, and of those that reference one of
// them. What belongs to no configuration is checked for its syntax.
func (a *Adapter) Checks(ctx context.Context, s adapters.Snapshot, p adapters.Project, changed []string) ([]adapters.Check, error) {
	top := recipe.Top(s, p.Root)
	all := newConfigs(s, top)
	list, loose, err := judged(ctx, all, p, changed)
	if err != nil || len(list) == 0 && len(loose) == 0 {
		return nil, err
	}
	script, err := unpacked(checkScript)
	if err != nil {
		return nil, err
	}
	groups := map[string][]string{}
	var order []string
	for _, config := range list {
		folder, version, err := compilerOf(ctx, s, top, filepath.Dir(config))
		if err != nil {
			return nil, err
		}
		if folder != "" && !older(version, compilerNative) {
			// It has no API to be asked by, and judges by what was built of the
			// projects that are referenced: those are judged by the server's compiler.
			at, err := all.at(ctx, config)
			if err != nil {
				return nil, err
			}
			if folder = "\x00" + folder; at != nil && len(at.refers) > 0 {
				folder = ""
			}
		}
		if groups[folder] == nil {
			order = append(order, folder)
		}
		groups[folder] = append(groups[folder], config)
	}
	if len(loose) > 0 && len(order) == 0 {
		order = append(order, "")
	}
	var out []adapters.Check
	for i, folder := range order {
		if native, ok := strings.CutPrefix(folder, "\x00"); ok {
			for _, config := range groups[folder] {
				out = append(out, nativeCheck(p, native, config))
			}
			continue
		}
		argv := append([]string{"node", script, folder, adapters.KeptFolder}, groups[folder]...)
		if i == 0 && len(loose) > 0 {
			argv = append(append(argv, "--"), loose...)
		}
		name := "tsc"
		if i > 0 {
			name += " of " + folder
		}
		out = append(out, adapters.Check{Name: name, Argv: argv, Dir: p.Root, Stale: adapters.ByContent, Install: installHint, Parse: parseChecked})
	}
	return out, nil
}

// nativeCheck runs a TypeScript that has no API to be asked by.
func nativeCheck(p adapters.Project, folder, config string) adapters.Check {
	dir := filepath.Dir(config)
	return adapters.Check{
		Name: "tsc " + config,
		Argv: []string{"node", filepath.Join(folder, "bin", "tsc"), "--noEmit", "--pretty", "false", "-p", config},
		Dir:  dir, Stale: adapters.ByContent, Install: installHint,
		Parse: func(output []byte, exit int) ([]adapters.Problem, error) { return parsePrinted(dir, output, exit) },
	}
}

// judged returns the configurations that a change of the files may break, and
// the files that belong to none.
func judged(ctx context.Context, all *configs, p adapters.Project, changed []string) (list, loose []string, err error) {
	hit := map[string]bool{}
	for _, path := range changed {
		content, err := recipe.ReadOptional(ctx, all.s, path)
		if err != nil {
			return nil, nil, err
		}
		if content == nil || installed(path) {
			continue // deleted: its owner has other files that change
		}
		if configName(path) {
			hit[path] = true
			continue
		}
		if !source(path) {
			continue
		}
		own, err := all.owner(ctx, path)
		switch {
		case err != nil:
			return nil, nil, err
		case own != nil:
			hit[own.path] = true
		case !isDeclaration(path):
			loose = append(loose, path)
		}
	}
	if err := all.dependents(ctx, p, hit); err != nil {
		return nil, nil, err
	}
	for path := range hit {
		list = append(list, path)
	}
	slices.Sort(list)
	slices.Sort(loose)
	return list, slices.Compact(loose), nil
}

func configName(path string) bool {
	base := filepath.Base(path)
	return base == "tsconfig.json" || base == "jsconfig.json"
}

// dependents adds the configurations that reference one of the hit ones.
func (c *configs) dependents(ctx context.Context, p adapters.Project, hit map[string]bool) error {
	found, err := c.s.Glob(ctx, "**/{ts,js}config*.json")
	if err != nil {
		return err
	}
	for more := true; more; {
		more = false
		for _, path := range found {
			if hit[path] || installed(path) || !within(p, path) {
				continue
			}
			at, err := c.at(ctx, path)
			if err != nil {
				return err
			}
			// One that lists no file of its own only gathers others.
			if at == nil || at.listed && len(at.files) == 0 && len(at.include) == 0 {
				continue
			}
			if slices.ContainsFunc(at.refers, func(r string) bool { return hit[r] }) {
				hit[path], more = true, true
			}
		}
	}
	return nil
}

// compilerOf returns the project's own TypeScript, as node finds it from a folder.
func compilerOf(ctx context.Context, s adapters.Snapshot, top, dir string) (folder, version string, err error) {
	for ; ; dir = filepath.Dir(dir) {
		folder := filepath.Join(dir, "node_modules", "typescript")
		content, err := recipe.ReadOptional(ctx, s, filepath.Join(folder, "package.json"))
		if err != nil {
			return "", "", err
		}
		var file struct {
			Version string `json:"version"`
		}
		if content != nil && json.Unmarshal(content, &file) == nil && file.Version != "" {
			return folder, file.Version, nil
		}
		if dir == top || dir == filepath.Dir(dir) {
			return "", "", nil
		}
	}
}

// unpacked puts the script into Aura's cache, and returns where it is.
func unpacked(script []byte) (path string, err error) {
	home, err := os.UserCacheDir()
	if err != nil {
		home = os.TempDir()
	}
	dir := filepath.Join(home, "aura", "typescript")
	sum := sha256.Sum256(script)
	path = filepath.Join(dir, "check-"+hex.EncodeToString(sum[:6])+".cjs")
	have, err := os.ReadFile(path)
	switch {
	case err == nil && bytes.Equal(have, script):
		return path, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("the check of TypeScript projects: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("the check of TypeScript projects: %w", err)
	}
	next, err := os.CreateTemp(dir, "check-*.new")
	if err != nil {
		return "", fmt.Errorf("the check of TypeScript projects: %w", err)
	}
	_, err = next.Write(script)
	if err = errors.Join(err, next.Close()); err == nil {
		err = os.Rename(next.Name(), path)
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("the check of TypeScript projects: %w", err), os.Remove(next.Name()))
	}
	return path, nil
}

// parseChecked reads what the script prints.
func parseChecked(output []byte, exit int) ([]adapters.Problem, error) {
	var out []adapters.Problem
	var loose []string
	judged := false
	for line := range bytes.Lines(output) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		var found struct {
			File    string `json:"file"`
			Line    int    `json:"line"`
			Column  int    `json:"column"`
			Code    int    `json:"code"`
			Message string `json:"message"`
			Warning bool   `json:"warning"`
			Missing bool   `json:"missing"`
			Checked *int   `json:"checked"`
		}
		switch {
		case line[0] != '{' || json.Unmarshal(line, &found) != nil:
			loose = append(loose, string(line))
		case found.Missing:
			return nil, &adapters.UnableError{Reason: "there is no TypeScript in the project or in PATH; install it with: " + installHint}
		case found.Checked != nil:
			judged = true
			if *found.Checked == 0 && len(out) == 0 {
				return nil, &adapters.UnableError{Reason: "the configuration names no files, so that nothing was checked"}
			}
		default:
			out = append(out, adapters.Problem{
				Path: found.File, Line: found.Line, Column: found.Column, Code: "TS" + strconv.Itoa(found.Code), Message: found.Message, Warning: found.Warning,
			})
		}
	}
	if !judged {
		return nil, unjudged(exit, loose)
	}
	return out, nil
}

// unjudged says that the compiler itself failed: the same failure before and
// after a change would pass for a project that has an error of old.
func unjudged(exit int, said []string) error {
	return &adapters.UnableError{Reason: fmt.Sprintf("the TypeScript compiler ended before it had judged (exit status %d): %s", exit, strings.Join(said[max(0, len(said)-8):], " "))}
}

// printed matches one finding of tsc, with a place or without.
var printed = regexp.MustCompile(`^(?:(.+?)\((\d+),(\d+)\): )?(error|warning) (TS\d+): (.*)$`)

// parsePrinted reads what tsc prints without colours: findings with places
// relative to where it ran, and lines that go on about one.
func parsePrinted(dir string, output []byte, exit int) ([]adapters.Problem, error) {
	var out []adapters.Problem
	var loose []string
	for line := range strings.Lines(string(output)) {
		line = strings.TrimRight(line, "\r\n")
		m := printed.FindStringSubmatch(line)
		switch {
		case m != nil:
			p := adapters.Problem{Code: m[5], Message: m[6], Warning: m[4] == "warning"}
			if m[1] != "" {
				p.Path = filepath.FromSlash(m[1])
				if !filepath.IsAbs(p.Path) {
					p.Path = filepath.Join(dir, p.Path)
				}
				p.Line, _ = strconv.Atoi(m[2]) // digits, by the pattern
			}
			out = append(out, p)
		case strings.HasPrefix(line, " ") && len(out) > 0:
			out[len(out)-1].Message += "\n" + strings.TrimSpace(line)
		case strings.TrimSpace(line) != "":
			loose = append(loose, line)
		}
	}
	if exit != 0 && len(out) == 0 {
		return nil, unjudged(exit, loose)
	}
	return out, nil
}
