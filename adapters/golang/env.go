package golang

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"

	"github.com/auralsp/aura/adapters"
)

// declared are the variables of the client that gopls and the go command it
// runs depend on (go help environment). Two clients that differ in one of them
// get two servers.
var declared = []string{
	"GO111MODULE", "GO386", "GOAMD64", "GOARCH", "GOARM", "GOARM64", "GOAUTH", "GOCACHE", "GOCACHEPROG", "GOENV",
	"GOEXPERIMENT", "GOFIPS140", "GOFLAGS", "GOINSECURE", "GOMODCACHE", "GONOPROXY", "GONOSUMDB", "GOOS", "GOPACKAGESDRIVER",
	"GOPATH", "GOPLSCACHE", "GOPRIVATE", "GOPROXY", "GOROOT", "GOSUMDB", "GOTMPDIR", "GOTOOLCHAIN", "GOVCS", "GOWORK",
	"CGO_ENABLED", "CGO_CFLAGS", "CGO_CPPFLAGS", "CGO_CXXFLAGS", "CGO_LDFLAGS", "CC", "CXX", "PKG_CONFIG", "PKG_CONFIG_PATH",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "NETRC", "SSL_CERT_FILE", "SSL_CERT_DIR",
	"XDG_CACHE_HOME", "XDG_CONFIG_HOME",
}

// restricted keeps the go command from running or fetching anything for a
// workspace that is not trusted.
var restricted = map[string]string{
	"GOTOOLCHAIN":      "local",
	"GOFLAGS":          "-buildvcs=false",
	"GOPROXY":          "off",
	"GOVCS":            "*:off",
	"CGO_ENABLED":      "0",
	"GOPACKAGESDRIVER": "off",
	"GOCACHEPROG":      "",
}

// environment returns the child's complete environment, and the part of it by
// which instances differ: the declared variables and the go command.
func environment(site adapters.Site) (env []string, named map[string]string, err error) {
	vars := map[string]string{}
	for _, name := range declared {
		if v, ok := site.Env[name]; ok {
			vars[name] = v
		}
	}
	if !site.Trusted {
		maps.Copy(vars, restricted)
	}
	goTool, err := program(site.Env["PATH"], "go")
	if err != nil {
		return nil, nil, fmt.Errorf("gopls needs the go command: %w; install Go from https://go.dev/dl", err)
	}
	if _, set := vars["GOWORK"]; !set {
		work, err := goWork(site)
		if err != nil {
			return nil, nil, err
		}
		if work != "" {
			vars["GOWORK"] = work
		}
	}
	named = maps.Clone(vars)
	named["go"] = goTool
	for _, name := range []string{"HOME", "PATH"} {
		if v, ok := site.Env[name]; ok {
			vars[name] = v
		}
	}
	if err := withoutTelemetry(site, vars); err != nil {
		return nil, nil, err
	}
	for name, v := range vars {
		env = append(env, name+"="+v)
	}
	slices.Sort(env)
	return env, named, nil
}

// withoutTelemetry gives the child a configuration folder in which Go's
// telemetry is off, so that no second process stays behind it. The user's own
// folder is not touched, and what the go command needs of it is still found.
func withoutTelemetry(site adapters.Site, vars map[string]string) error {
	if site.Scratch == "" {
		return nil
	}
	users := vars["XDG_CONFIG_HOME"]
	if users == "" && vars["HOME"] != "" {
		users = filepath.Join(vars["HOME"], ".config")
	}
	own := filepath.Join(site.Scratch, "gopls-"+short(users), "config")
	if err := writeFile(filepath.Join(own, "go", "telemetry", "mode"), []byte("off 2020-01-01\n")); err != nil {
		return fmt.Errorf("turn off telemetry for gopls: %w", err)
	}
	if users != "" {
		if _, set := vars["GOENV"]; !set {
			vars["GOENV"] = filepath.Join(users, "go", "env")
		}
		// The go command fetches private modules by git, which reads its settings there.
		link := filepath.Join(own, "git")
		if err := os.Symlink(filepath.Join(users, "git"), link); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("link the settings of git for gopls: %w", err)
		}
	}
	vars["XDG_CONFIG_HOME"] = own
	return nil
}

// goWork returns what GOWORK must be for the project to be loaded as it is:
// empty where the go command finds the right go.work by itself.
func goWork(site adapters.Site) (string, error) {
	switch {
	case filepath.Base(site.Marker) == "go.work":
		return "", nil
	case len(site.Members) > 1:
		return privateWork(site)
	case filepath.Base(site.Marker) == "go.mod" && site.Read != nil:
		for d := site.Root; ; d = filepath.Dir(d) {
			if content, err := site.Read(filepath.Join(d, "go.work")); err == nil {
				if slices.Contains(members(filepath.Join(d, "go.work"), content), site.Root) {
					return "", nil
				}
				return "off", nil
			}
			if d == filepath.Dir(d) {
				return "", nil
			}
		}
	}
	return "", nil
}

// privateWork writes a go.work outside the tree that joins the members: without
// one gopls sees the references of a module only while no other one is open.
func privateWork(site adapters.Site) (string, error) {
	if site.Scratch == "" || site.Read == nil {
		return "", nil
	}
	newest := "1.18"
	w := &modfile.WorkFile{Syntax: &modfile.FileSyntax{}}
	for _, dir := range site.Members {
		path := filepath.Join(dir, "go.mod")
		content, err := site.Read(path)
		if err != nil {
			return "", fmt.Errorf("join the modules: %w", err)
		}
		f := parseModule(path, content)
		if f.Go != nil && semver.Compare("v"+f.Go.Version, "v"+newest) > 0 {
			newest = f.Go.Version
		}
		if err := w.AddUse(dir, ""); err != nil {
			return "", fmt.Errorf("join the modules: %w", err)
		}
	}
	if err := w.AddGoStmt(newest); err != nil {
		return "", fmt.Errorf("join the modules: %w", err)
	}
	w.Cleanup()
	path := filepath.Join(site.Scratch, "gowork-"+short(site.Root), "go.work")
	if err := writeFile(path, modfile.Format(w.Syntax)); err != nil {
		return "", fmt.Errorf("join the modules: %w", err)
	}
	return path, nil
}

// short names a folder in the scratch folder.
func short(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:6])
}

// writeFile puts generated configuration into the scratch folder, whole or not
// at all, as another instance may be reading it.
func writeFile(path string, content []byte) error {
	if have, err := os.ReadFile(path); err == nil && string(have) == string(content) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, werr := tmp.Write(content)
	if err := errors.Join(werr, tmp.Close()); err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return os.Rename(tmp.Name(), path)
}
