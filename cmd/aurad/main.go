// Command aurad is Aura's daemon. It reads flags and configuration, opens the
// log and runs package daemon until a signal ends it. auractl starts it by itself.
//
// Goroutines: run starts one that counts signals; it ends with the process.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"github.com/auralsp/aura/daemon"
	"github.com/auralsp/aura/daemon/config"
)

// version is set by the linker.
var version = "dev"

// exitRunning tells auractl that another daemon serves the socket.
const exitRunning = 5

func main() {
	if len(os.Args) == 2 && os.Args[1] == shadowHelper {
		daemon.ShadowMain()
	}
	os.Exit(run(os.Args[1:], os.Stderr))
}

// flags are the command line of aurad.
type flags struct {
	socket, config, logFile string
	set                     map[string]string // settings
	version                 bool
}

func parseFlags(args []string, stderr io.Writer) (flags, error) {
	f := flags{set: map[string]string{}}
	fs := flag.NewFlagSet("aurad", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Usage = func() {
		fmt.Fprint(stderr, "aurad is Aura's daemon; auractl starts it when it needs one.\n\nUsage: aurad [flags]\n\n")
		fs.PrintDefaults()
	}
	fs.StringVar(&f.socket, "socket", "", "serve this Unix `path` in place of the one that the environment gives")
	fs.StringVar(&f.config, "config", "", "read this `file` in place of the user's config.toml")
	fs.StringVar(&f.logFile, "log", "", "write the log to this `file`; - is standard error")
	fs.Func("set", "override a setting: `table.key=value`; may be repeated", func(kv string) error {
		key, value, ok := strings.Cut(kv, "=")
		if !ok {
			return errors.New("must be table.key=value")
		}
		f.set[key] = value
		return nil
	})
	fs.BoolVar(&f.version, "version", false, "print the version and exit")
	if err := fs.Parse(args); err != nil {
		return f, err
	}
	if fs.NArg() > 0 {
		return f, fmt.Errorf("aurad takes no arguments, got %q", fs.Arg(0))
	}
	return f, nil
}

func run(args []string, stderr io.Writer) int {
	f, err := parseFlags(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(stderr, "aurad:", err)
		return 2
	case f.version:
		fmt.Printf("aurad %s %s %s/%s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return 0
	}
	err = start(f, stderr)
	var running interface{ AlreadyRunning() bool }
	switch {
	case err == nil:
		return 0
	case errors.As(err, &running):
		fmt.Fprintln(stderr, "aurad:", err)
		return exitRunning
	}
	fmt.Fprintln(stderr, "aurad:", err)
	return 1
}

func start(f flags, stderr io.Writer) error {
	paths, err := config.FindPaths(os.Getenv)
	if err != nil {
		return err
	}
	if f.socket != "" {
		paths.Socket = f.socket
	}
	if f.config != "" {
		paths.ConfigFile = f.config
	}
	settings, err := config.Open(config.Source{File: paths.ConfigFile, Env: os.Environ(), Flags: f.set})
	if err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	umask := uint32(syscall.Umask(0o077))
	cfg, _ := settings.Get()
	level := &slog.LevelVar{}
	if err := level.UnmarshalText([]byte(cfg.Daemon.LogLevel)); err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	log, closeLog, err := openLog(f.logFile, paths.LogFile, level, stderr)
	if err != nil {
		return err
	}
	defer closeLog()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	reload := make(chan struct{}, 1)
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	go watch(signals, stop, reload, log)
	return runDaemon(ctx, options{
		Paths: paths, Config: settings, Log: log, Level: level, Version: version, Reload: reload, Umask: umask,
	})
}

// watch ends the daemon at the first signal to stop and the process at the
// second: what a crash leaves is put right at the next start.
func watch(signals <-chan os.Signal, stop context.CancelFunc, reload chan<- struct{}, log *slog.Logger) {
	stopping := false
	for s := range signals {
		switch {
		case s == syscall.SIGHUP:
			select {
			case reload <- struct{}{}:
			default: // one is waiting already
			}
		case stopping:
			log.Warn("second signal, leaving at once", "signal", s.String())
			os.Exit(1)
		default:
			log.Info("stopping", "signal", s.String())
			stopping = true
			stop()
		}
	}
}
