package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/config"
	"github.com/auralsp/aura/daemon/serve"
)

// options is what the daemon needs.
type options struct {
	Paths   config.Paths
	Config  *config.Store
	Log     *slog.Logger
	Level   *slog.LevelVar
	Version string
	Reload  <-chan struct{}
}

// startWait bounds the wait for a daemon that stops, or starts before us.
const startWait = 10 * time.Second

// runDaemon serves the contract without any operation behind it.
func runDaemon(ctx context.Context, o options) error {
	wait, cancel := context.WithTimeout(ctx, startWait)
	l, err := serve.Listen(wait, o.Paths.Socket)
	cancel()
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	cfg, _ := o.Config.Get()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s := serve.New(serve.Options{
		Name: api.ClientInfo{Name: "aurad", Version: o.Version}, Build: o.Version, Log: o.Log,
		IdleStop: time.Duration(cfg.Daemon.IdleStopMinutes) * time.Minute,
		Dispatch: func(_ context.Context, c serve.Call) (any, error) {
			switch c.Spec.Name {
			case "shutdown":
				stop()
				return api.Stopping{Stopping: true}, nil
			case "status":
				return api.Status{Version: o.Version, Socket: o.Paths.Socket, Warnings: []string{}}, nil
			}
			return nil, api.Errorf(api.UnsupportedOperation, "%s is not there yet", c.Spec.Name)
		},
	})
	err = s.Serve(ctx, l)
	if errors.Is(err, serve.ErrIdle) {
		return nil
	}
	return err
}
