package main

import (
	"context"
	"log/slog"
	"os"

	"github.com/auralsp/aura/daemon"
	"github.com/auralsp/aura/daemon/config"
)

// shadowHelper, as the only argument, makes the program the helper of a shadow
// build instead of a daemon.
const shadowHelper = "shadow-helper"

// options is what the daemon needs.
type options struct {
	Paths   config.Paths
	Config  *config.Store
	Log     *slog.Logger
	Level   *slog.LevelVar
	Version string
	Reload  <-chan struct{}
	Umask   uint32 // of the user; the process has one of its own
}

// runDaemon runs the daemon until ctx is done.
func runDaemon(ctx context.Context, o options) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return daemon.Run(ctx, daemon.Options{
		Paths: o.Paths, Config: o.Config, Version: o.Version, Build: o.Version, Log: o.Log, Level: o.Level,
		Reload: o.Reload, Umask: &o.Umask, Helper: []string{self, shadowHelper},
	})
}
