package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/client"
	"github.com/auralsp/aura/daemon/config"
)

// app is one run of the program: what it was given and where it prints.
type app struct {
	in       io.Reader
	out, err io.Writer
	environ  []string
	dir      string // current folder
	inTTY    bool   // somebody can answer a question
	outTTY   bool
	errTTY   bool
	args     []string // as given, for commands that are printed
	catch    func()   // from now on a signal cancels the call in flight

	global struct {
		workspace, color, socket, session, tier string
		timeout                                 time.Duration
		json, quiet, verbose, trust             bool
	}
	paint    palette // of out
	errPaint palette // of err
	root     string  // the workspace, once the daemon said it
}

// usageError is a command line that cannot be understood.
type usageError struct {
	command string // whose help tells more
	message string
}

func (e *usageError) Error() string { return e.message }

func newApp() *app {
	a := &app{in: os.Stdin, out: os.Stdout, err: os.Stderr, environ: os.Environ()}
	a.dir, _ = os.Getwd()
	a.inTTY = term.IsTerminal(int(os.Stdin.Fd()))
	a.outTTY = term.IsTerminal(int(os.Stdout.Fd()))
	a.errTTY = term.IsTerminal(int(os.Stderr.Fd()))
	return a
}

func (a *app) getenv(name string) string {
	for _, kv := range slices.Backward(a.environ) {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}

// catchDelay is how long a signal just ends the program, which then has nothing
// to take back; catching them costs more than many a call.
const catchDelay = 30 * time.Millisecond

// run executes a command line and returns the exit code.
func (a *app) run(args []string) int {
	a.args = args
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	a.catch = sync.OnceFunc(func() {
		signals, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		context.AfterFunc(signals, func() {
			cancel()
			stop() // a second signal ends the program at once
		})
	})
	defer time.AfterFunc(catchDelay, a.catch).Stop()
	root := a.commands(args)
	root.SetArgs(args)
	return a.finish(root.ExecuteContext(ctx))
}

// exitStatus ends the program with a code after all was printed.
type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// finish prints an error and returns the exit code (spec: protocol.md, "Command line").
func (a *app) finish(err error) int {
	var usage *usageError
	var status exitStatus
	var refused *api.Error
	switch {
	case err == nil:
		return 0
	case errors.As(err, &status):
		return int(status)
	case errors.As(err, &usage):
		hint := "auractl --help"
		if usage.command != "" {
			hint = usage.command + " --help"
		}
		if a.global.json {
			return a.printError(api.Errorf(api.InvalidArgument, "%s", usage.message))
		}
		fmt.Fprintf(a.err, "%s %s\n%s\n", a.errPaint.red("auractl:"), escape(usage.message), a.errPaint.dim("See "+hint))
		return 2
	case errors.As(err, &refused):
	default:
		refused = asError(err)
	}
	if a.global.json {
		return a.printError(refused)
	}
	a.viewError(refused)
	return exitCode(refused.Code)
}

// asError gives an error of this program a code.
func asError(err error) *api.Error {
	var e *api.Error
	var gone *client.Unreachable
	switch {
	case errors.As(err, &e):
		return e
	case errors.As(err, &gone):
		return api.Errorf(api.ServerUnavailable, "%s", gone.Error())
	case errors.Is(err, context.Canceled):
		return api.Errorf(api.Cancelled, "cancelled")
	}
	return api.Errorf(api.Internal, "%v", err)
}

func exitCode(code api.Code) int {
	switch code {
	case api.InvalidArgument:
		return 2
	case api.ValidationFailed:
		return 3
	case api.ServerUnavailable, api.ServerCrashed, api.ServerTimeout:
		return 4
	}
	return 1
}

// setup reads the global flags; it runs before every command.
func (a *app) setup() error {
	color := false
	switch a.global.color {
	case "always":
		color = true
		a.paint, a.errPaint = palette{true}, palette{true}
	case "auto":
		color = a.getenv("NO_COLOR") == "" && a.getenv("TERM") != "dumb"
		a.paint, a.errPaint = palette{color && a.outTTY}, palette{color && a.errTTY}
	case "never":
	default:
		return &usageError{message: fmt.Sprintf("--color must be auto, always or never, not %q", a.global.color)}
	}
	if a.global.timeout < 0 {
		return &usageError{message: "--timeout must not be negative"}
	}
	return nil
}

// paths returns the places of Aura's files.
func (a *app) paths() (config.Paths, error) {
	p, err := config.FindPaths(a.getenv)
	if err != nil {
		return p, api.Errorf(api.InvalidArgument, "%v", err)
	}
	if a.global.socket != "" {
		p.Socket = a.absolute(a.global.socket)
	}
	return p, nil
}

func (a *app) absolute(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(a.dir, path)
}

// options says who we are and where the daemon is.
func (a *app) options(line *progress) (client.Options, error) {
	paths, err := a.paths()
	if err != nil {
		return client.Options{}, err
	}
	opts := client.Options{
		Paths: paths, Start: true, Name: "auractl", Version: version, Build: version, Folder: a.dir, Environ: a.environ,
		Session: cmpOr(a.global.session, a.getenv("AURA_SESSION"), "default"), Tier: api.AdminTier,
		Trust:    a.global.trust || isTrue(a.getenv("AURA_TRUST")),
		Starting: func() { line.set("starting aurad") },
	}
	if line.wanted() {
		opts.Progress = line.report
	}
	if tier := cmpOr(a.global.tier, a.getenv("AURA_TIER")); tier != "" {
		known := false
		for t := api.Observe; t <= api.AdminTier; t++ {
			if strings.EqualFold(t.String(), tier) {
				opts.Tier, known = t, true
			}
		}
		if !known {
			return opts, &usageError{message: fmt.Sprintf("--tier must be observe, preview, apply or admin, not %q", tier)}
		}
		opts.Trust = opts.Trust && opts.Tier == api.AdminTier
	}
	if dir := a.global.workspace; dir != "" {
		opts.Workspace, opts.Folder = a.absolute(dir), ""
		if info, err := os.Stat(opts.Workspace); err != nil || !info.IsDir() {
			return opts, api.Errorf(api.InvalidArgument, "workspace %s is not a folder", dir)
		}
	}
	return opts, nil
}

// running connects to a daemon that runs; it starts none.
func (a *app) running(ctx context.Context) (*client.Client, api.Initialized, error) {
	opts, err := a.options(nil)
	if err != nil {
		return nil, api.Initialized{}, err
	}
	opts.Start, opts.Folder = false, ""
	c, err := client.Dial(ctx, opts)
	if err != nil {
		return nil, api.Initialized{}, err
	}
	server, err := c.Hello(ctx)
	if err != nil {
		_ = c.Close()
		return nil, server, err
	}
	return c, server, nil
}

func cmpOr(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

func isTrue(s string) bool {
	switch strings.ToLower(s) {
	case "1", "true", "yes", "on":
		return true
	}
	return false
}

// warn prints a note beside the answer.
func (a *app) warn(text string) {
	if !a.global.quiet {
		fmt.Fprintf(a.err, "%s %s\n", a.errPaint.yellow("warning:"), escape(text))
	}
}

// withTimeout bounds a call as --timeout asks.
func (a *app) withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	if a.global.timeout > 0 {
		return context.WithTimeout(ctx, a.global.timeout)
	}
	return context.WithCancel(ctx)
}

// commandPath is the command as its help is asked for.
func commandPath(cmd *cobra.Command) string { return cmd.CommandPath() }
