package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/lspclient/proc"
)

const (
	versionTimeout = 10 * time.Second
	failedAgain    = 5 * time.Second // after which a program that did not run is tried again: it may not change where it is mended
	installTimeout = 15 * time.Minute
	outputTail     = 8 << 10 // bytes of an installer's output that an answer shows
)

// tools finds server programs and installs pinned ones into Aura's own folder.
type tools struct {
	dir     string                     // Aura's tool folder
	spawner *proc.Spawner              // runs installers and version questions
	engines map[string]adapters.Engine // by id
	look    func(name string) (string, error)

	mu       sync.Mutex // guards versions
	versions map[asking]stamped
}

// asking is a program as it is asked: a script may need others.
type asking struct{ bin, path string }

// stamped is what a program said of its version, as long as it is the same file.
type stamped struct {
	version string
	err     error
	asked   time.Time
	size    int64
	mtime   time.Time
}

func newTools(dir string, spawner *proc.Spawner, languages []adapters.Adapter) *tools {
	engines := map[string]adapters.Engine{}
	for _, l := range languages {
		for _, e := range l.Engines() {
			engines[e.ID] = e
		}
	}
	return &tools{dir: dir, spawner: spawner, engines: engines, look: exec.LookPath, versions: map[asking]stamped{}}
}

// Look finds a program of an engine: the client's PATH, then Aura's tool folder.
func (t *tools) Look(engine, name, path string) (string, error) {
	found, _, err := t.find(engine, name, path)
	return found, err
}

// behind puts the folders of installed programs behind a PATH: a build finds
// there what came with a server and the user has not installed.
func (t *tools) behind(path string) string {
	list := filepath.SplitList(path)
	for _, id := range slices.Sorted(maps.Keys(t.engines)) {
		if binary := t.engines[id].Recipe.Binary; binary != "" {
			if dir := filepath.Join(t.dir, filepath.Dir(binary)); !slices.Contains(list, dir) {
				list = append(list, dir)
			}
		}
	}
	return strings.Join(list, string(os.PathListSeparator))
}

// in finds a program in a list of folders. One that is not absolute is passed
// over: a folder of a project must not decide what runs.
func in(list, name string) (string, error) {
	for _, dir := range filepath.SplitList(list) {
		if !filepath.IsAbs(dir) {
			continue
		}
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", exec.ErrNotFound
}

// find also says where the program was found. A server that does not say its
// version does not count while another does: rustup puts programs into PATH
// that only say that they are not installed.
func (t *tools) find(engine, name, list string) (path, from string, err error) {
	e, known := t.engines[engine]
	var found [][2]string
	look := t.look
	if list != "" {
		look = func(name string) (string, error) { return in(list, name) }
	}
	if path, err := look(name); err == nil {
		if path, err = filepath.Abs(path); err == nil {
			found = append(found, [2]string{path, "PATH"})
		}
	}
	for _, below := range t.places(e, name) {
		path := filepath.Join(t.dir, below)
		if info, err := os.Stat(path); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			found = append(found, [2]string{path, "tools"})
		}
	}
	if len(found) == 0 {
		return "", "", fmt.Errorf("%s is neither in PATH nor in %s: %w", name, filepath.Join(t.dir, "bin"), exec.ErrNotFound)
	}
	if known && len(found) > 1 && name == e.Executable() {
		for _, f := range found {
			if _, err := t.Version(engine, f[0], list); err == nil {
				return f[0], f[1], nil
			}
		}
	}
	return found[0][0], found[0][1], nil
}

// places returns where a program may be below the tool folder: what install
// recipes put into bin, the engine's own program, and what came with it.
func (t *tools) places(e adapters.Engine, name string) []string {
	out := []string{filepath.Join("bin", name)}
	if e.Recipe.Binary != "" {
		if beside := filepath.Join(filepath.Dir(e.Recipe.Binary), name); beside != out[0] {
			out = append(out, beside)
		}
	}
	return out
}

// versionPattern finds a version number in what a program prints of itself.
var versionPattern = regexp.MustCompile(`v?\d+\.\d+(\.\d+)?(-[0-9A-Za-z.]+)?`)

// Version asks an engine's program, or another one that it needs, for its
// version, once for each state of its file.
func (t *tools) Version(engine, bin, path string) (string, error) {
	info, err := os.Stat(bin)
	if err != nil {
		return "", err
	}
	t.mu.Lock()
	have, ok := t.versions[asking{bin, path}]
	t.mu.Unlock()
	if ok && have.size == info.Size() && have.mtime.Equal(info.ModTime()) && (have.err == nil || time.Since(have.asked) < failedAgain) {
		return have.version, have.err
	}
	version, err := t.ask(engine, bin, path)
	t.mu.Lock()
	t.versions[asking{bin, path}] = stamped{version: version, err: err, asked: time.Now(), size: info.Size(), mtime: info.ModTime()}
	t.mu.Unlock()
	return version, err
}

// ask starts a program to ask for its version.
func (t *tools) ask(engine, bin, path string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), versionTimeout)
	defer cancel()
	questions := [][]string{{bin, "version"}, {bin, "--version"}}
	if e, ok := t.engines[engine]; ok && e.Ask != nil && filepath.Base(bin) == e.Executable() {
		questions = [][]string{e.Ask(bin)}
	}
	var last error
	for _, argv := range questions {
		out, status, err := t.run(ctx, proc.Command{Argv: argv, Env: withPath(path), Dir: os.TempDir(), NoInput: true, Merge: true})
		switch {
		case err != nil:
			return "", err
		case status.Code != 0:
			last = fmt.Errorf("%s: %s: %s", strings.Join(argv, " "), status, firstLine(out))
		default:
			if v := versionPattern.FindString(string(out)); v != "" {
				return v, nil
			}
			last = fmt.Errorf("%s printed no version", strings.Join(argv, " "))
		}
	}
	return "", last
}

// withPath is the environment with another PATH, unless that is empty: a script
// finds its interpreter as it does where the client calls it.
func withPath(path string) []string {
	env := os.Environ()
	if path == "" {
		return env
	}
	env = slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, "PATH=") })
	return append(env, "PATH="+path)
}

func firstLine(b []byte) string {
	line, _, _ := bytes.Cut(bytes.TrimSpace(b), []byte("\n"))
	return string(line)
}

// run runs a program to its end and returns the tail of what it printed.
func (t *tools) run(ctx context.Context, c proc.Command) ([]byte, proc.Status, error) {
	p, err := t.spawner.Start(ctx, c)
	if err != nil {
		return nil, proc.Status{}, err
	}
	stop := context.AfterFunc(ctx, p.Kill)
	defer stop()
	var out tail
	_, err = io.Copy(&out, p.Conn())
	<-p.Exited()
	cerr := p.Conn().Close()
	if ctx.Err() != nil {
		return out.b, p.Status(), ctx.Err()
	}
	return out.b, p.Status(), errors.Join(err, cerr)
}

// tail keeps the last outputTail bytes written to it.
type tail struct{ b []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	if len(t.b) > 2*outputTail {
		t.b = append([]byte(nil), t.b[len(t.b)-outputTail:]...)
	}
	return len(p), nil
}

// Install puts the engine's pinned version into the tool folder.
func (t *tools) Install(ctx context.Context, e adapters.Engine, env []string, force bool) api.InstalledServer {
	out := api.InstalledServer{Engine: e.ID, Version: e.Version}
	target := func() string {
		if e.Recipe.Binary != "" {
			return filepath.Join(t.dir, e.Recipe.Binary)
		}
		path, _, _ := t.find(e.ID, e.Executable(), "")
		return path
	}
	if !force && target() != "" {
		// Where the client chooses the version, any that runs is what it would give.
		if v, err := t.Version(e.ID, target(), ""); err == nil && (v == e.Version || e.Recipe.Binary == "") {
			out.State, out.Path, out.Version = "present", target(), v
			return out
		}
	}
	fail := func(err error, printed []byte) api.InstalledServer {
		out.State, out.Error, out.Output = "failed", err.Error(), strings.TrimSpace(string(printed))
		return out
	}
	if e.Recipe.Client == "" {
		return fail(fmt.Errorf("no package client installs %s; do it by: %s", e.ID, e.Install), nil)
	}
	client, err := t.look(e.Recipe.Client)
	if err != nil {
		return fail(fmt.Errorf("%s is needed to install %s and is not in PATH", e.Recipe.Client, e.ID), nil)
	}
	if err := os.MkdirAll(t.dir, 0o755); err != nil {
		return fail(err, nil)
	}
	fill := strings.NewReplacer("{dir}", t.dir)
	argv := []string{client}
	for _, a := range e.Recipe.Args {
		argv = append(argv, fill.Replace(a))
	}
	for _, v := range e.Recipe.Env {
		env = append(env, fill.Replace(v))
	}
	ctx, cancel := context.WithTimeout(ctx, installTimeout)
	defer cancel()
	printed, status, err := t.run(ctx, proc.Command{Argv: argv, Env: env, Dir: t.dir, NoInput: true, Merge: true})
	if err != nil {
		return fail(err, printed)
	}
	if status.Code != 0 {
		return fail(fmt.Errorf("%s: %s", strings.Join(argv, " "), status), printed)
	}
	v, err := t.Version(e.ID, target(), "")
	if err != nil {
		return fail(fmt.Errorf("installed, but it does not run: %w", err), printed)
	}
	out.State, out.Path, out.Version = "installed", target(), v
	return out
}
