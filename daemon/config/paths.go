package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// MaxSocketPath is the longest path of a Unix socket in bytes: sun_path holds
// 108 on Linux, the ending zero included (unix(7)).
const MaxSocketPath = 107

// Paths are the places of Aura's files. They follow HOME and the XDG variables,
// so that two of them are two worlds.
type Paths struct {
	Socket     string // the daemon's Unix socket, in a private folder
	State      string // journal, logs, trust
	Cache      string // what can be made again
	Data       string // installed tools
	Config     string // the folder of ConfigFile
	ConfigFile string
	LogFile    string // of the daemon
	Tools      string // language servers that auractl install put there
}

// FindPaths derives the paths from the environment; it creates nothing. An XDG
// variable that is not absolute is ignored, as its specification asks.
// XDG_RUNTIME_DIR counts only when it is ours or could be made by us.
func FindPaths(getenv func(string) string) (Paths, error) {
	home := getenv("HOME")
	base := func(variable, rest string) (string, error) {
		if dir := getenv(variable); filepath.IsAbs(dir) {
			return filepath.Join(dir, "aura"), nil
		}
		if !filepath.IsAbs(home) {
			return "", fmt.Errorf("set HOME to an absolute path (or %s): it is %q", variable, home)
		}
		return filepath.Join(home, rest, "aura"), nil
	}
	var p Paths
	for _, d := range []struct {
		to             *string
		variable, rest string
	}{
		{&p.State, "XDG_STATE_HOME", ".local/state"},
		{&p.Cache, "XDG_CACHE_HOME", ".cache"},
		{&p.Data, "XDG_DATA_HOME", ".local/share"},
		{&p.Config, "XDG_CONFIG_HOME", ".config"},
	} {
		dir, err := base(d.variable, d.rest)
		if err != nil {
			return Paths{}, err
		}
		*d.to = dir
	}
	p.ConfigFile = filepath.Join(p.Config, "config.toml")
	p.LogFile = filepath.Join(p.State, "aurad.log")
	p.Tools = filepath.Join(p.Data, "tools")
	run := filepath.Join(p.State, "run")
	if dir := getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) && usable(dir) {
		run = filepath.Join(dir, "aura")
	}
	p.Socket = socketPath(filepath.Join(run, "aurad.sock"), os.Geteuid())
	return p, nil
}

// socketPath replaces a path that is too long for a socket by a short one that
// is the same for the same path.
func socketPath(path string, uid int) string {
	if len(path) <= MaxSocketPath {
		return path
	}
	sum := sha256.Sum256([]byte(path))
	return filepath.Join("/tmp", "aura-"+strconv.Itoa(uid), hex.EncodeToString(sum[:8])+".sock")
}

// usable reports whether dir is a folder of ours, or is missing below one.
func usable(dir string) bool {
	for {
		info, err := os.Lstat(dir)
		if err == nil {
			return info.IsDir() && ownedByUs(info)
		}
		parent := filepath.Dir(dir)
		if !os.IsNotExist(err) || parent == dir {
			return false
		}
		dir = parent
	}
}
