package main

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCommandLine(t *testing.T) {
	tests := []struct {
		name string
		args []string
		exit int
		want string
	}{
		{"unknown flag", []string{"--nope"}, 2, "flag provided but not defined"},
		{"an argument", []string{"x"}, 2, "aurad takes no arguments"},
		{"help", []string{"--help"}, 0, "Usage: aurad [flags]"},
		{"a setting without value", []string{"--set", "x"}, 2, "must be table.key=value"},
		{"an unknown setting", []string{"--set", "limits.conections=1"}, 1, "did you mean limits.connections?"},
		{"a bad value", []string{"--set", "limits.connections=0"}, 1, "must be at least 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range []string{"HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"} {
				t.Setenv(name, dir)
			}
			var stderr bytes.Buffer
			if got := run(tt.args, &stderr); got != tt.exit || !strings.Contains(stderr.String(), tt.want) {
				t.Errorf("exit %d, %s; want %d, %q", got, stderr.String(), tt.exit, tt.want)
			}
		})
	}
}

func TestBrokenConfigurationIsTold(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_RUNTIME_DIR", dir)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("XDG_STATE_HOME", "")
	file := filepath.Join(dir, "c.toml")
	if err := os.WriteFile(file, []byte("[limits]\nnope = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	if got := run([]string{"--config", file}, &stderr); got != 1 || !strings.Contains(stderr.String(), file+":2:1: unknown key limits.nope") {
		t.Errorf("exit %d: %s", got, stderr.String())
	}
}

func TestLogIsMovedAside(t *testing.T) {
	name := filepath.Join(t.TempDir(), "state", "aurad.log")
	log, closeLog, err := openLog("", name, slog.LevelInfo, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("x", 1<<20)
	for range 12 {
		log.Info(text)
	}
	log.Debug("below the level")
	closeLog()
	for _, n := range []string{name, name + ".1"} {
		info, err := os.Stat(n)
		if err != nil || info.Size() > maxLog || info.Size() < 1<<20 || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", n, info, err)
		}
	}
}
