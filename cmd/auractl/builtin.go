package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/client"
	"github.com/auralsp/aura/daemon/config"
)

// builtin is a command that is not made from a Spec.
type builtin struct {
	name    string
	command func() *cobra.Command
}

func (a *app) builtins() []builtin {
	return []builtin{
		{"call", a.callCommand},
		{"stop", a.stopCommand},
		{"logs", a.logsCommand},
		{"config", a.configCommand},
		{"version", a.versionCommand},
		{"completion", a.completionCommand},
		{"man", a.manCommand},
	}
}

// replaced reports whether a builtin stands for the operation.
func (a *app) replaced(spec api.Spec) bool {
	return slices.ContainsFunc(a.builtins(), func(b builtin) bool { return b.name == spec.Words()[0] })
}

func command(use, short, group string, run func(cmd *cobra.Command, args []string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Annotations: map[string]string{"group": group}, RunE: run,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return &usageError{commandPath(cmd), fmt.Sprintf("%s does not take %q", cmd.Name(), args[0])}
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
}

func (a *app) stopCommand() *cobra.Command {
	return command("stop", "Stop the daemon and its servers", "Daemon", func(cmd *cobra.Command, _ []string) error {
		return a.stop(cmd.Context())
	})
}

// stopWait bounds the wait for a daemon that stops.
const stopWait = 30 * time.Second

// stop ends the daemon and waits until its lock is free: after that another may start.
func (a *app) stop(ctx context.Context) error {
	c, server, err := a.running(ctx)
	if errors.As(err, new(*client.Unreachable)) {
		return a.say(api.Stopping{Reason: "no daemon runs"}, "no daemon runs")
	}
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	var answer api.Stopping
	if err := c.Call(ctx, "daemon.shutdown", nil, &answer); err != nil {
		return err
	}
	if !answer.Stopping {
		return a.say(answer, "the daemon goes on: "+answer.Reason)
	}
	ctx, cancel := context.WithTimeout(ctx, stopWait)
	defer cancel()
	if err := c.Wait(ctx); err != nil {
		return api.Errorf(api.Timeout, "the daemon (process %d) does not stop; auractl logs may say why", server.PID)
	}
	paths, err := a.paths()
	if err != nil {
		return err
	}
	if err := waitUnlocked(ctx, paths.Socket+".lock"); err != nil {
		return api.Errorf(api.Timeout, "the daemon (process %d) does not end; auractl logs may say why", server.PID)
	}
	return a.say(answer, "stopped")
}

// waitUnlocked waits until nobody holds the lock of a file.
func waitUnlocked(ctx context.Context, name string) error {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	poll := time.NewTicker(5 * time.Millisecond)
	defer poll.Stop()
	for unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) != nil {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-poll.C:
		}
	}
	return nil
}

// say prints what was done: the answer as JSON, or a line for people.
func (a *app) say(answer any, text string) error {
	if a.global.json {
		raw, err := json.Marshal(answer)
		if err != nil {
			return err
		}
		return a.printJSON(raw)
	}
	if !a.global.quiet {
		fmt.Fprintln(a.out, escape(text))
	}
	return nil
}

func (a *app) versionCommand() *cobra.Command {
	return command("version", "Versions of this program and of the daemon that runs", "Other", func(cmd *cobra.Command, _ []string) error {
		out := map[string]any{"version": version, "goVersion": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH, "protocolVersion": api.ProtocolVersion}
		text := fmt.Sprintf("auractl %s (%s, %s/%s)", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		c, s, err := a.running(cmd.Context())
		switch {
		case err == nil:
			_ = c.Close()
			out["daemon"] = map[string]any{"version": s.Server.Version, "protocolVersion": s.ProtocolVersion, "pid": s.PID}
			text += fmt.Sprintf("\naurad   %s (process %d)", s.Server.Version, s.PID)
		case !errors.As(err, new(*client.Unreachable)):
			return err
		default:
			text += "\naurad   does not run"
		}
		if a.global.json {
			return a.say(out, "")
		}
		_, err = fmt.Fprintln(a.out, text)
		return err
	})
}

func (a *app) configCommand() *cobra.Command {
	return command("config", "Every setting, its value and where it came from", "Daemon", func(*cobra.Command, []string) error {
		paths, err := a.paths()
		if err != nil {
			return err
		}
		cfg, origins, err := config.Load(config.Source{File: paths.ConfigFile, Env: a.environ})
		if err != nil {
			return api.Errorf(api.InvalidArgument, "%v", err)
		}
		values := cfg.Values(origins)
		if a.global.json {
			return a.say(map[string]any{"file": paths.ConfigFile, "values": values}, "")
		}
		fmt.Fprintf(a.out, "%s\n", a.paint.dim("# "+paths.ConfigFile+"; AURA_TABLE_KEY overrides it"))
		t := newTable(a.paint, "SETTING", "VALUE", "ORIGIN")
		for _, v := range values {
			text, err := json.Marshal(v.Value)
			if err != nil {
				return err
			}
			origin := v.Origin
			if origin == "default" {
				origin = a.paint.dim(origin)
			}
			t.add(v.Key, string(text), origin)
		}
		t.print(a.out)
		return nil
	})
}

func (a *app) completionCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "completion bash|zsh|fish", Short: "Print the completions of a shell", Annotations: map[string]string{"group": "Other"},
		Example:   indent("source <(auractl completion bash)\nauractl completion zsh >\"${fpath[1]}/_auractl\"\nauractl completion fish >~/.config/fish/completions/auractl.fish"),
		ValidArgs: []string{"bash", "zsh", "fish"}, Args: cobra.ArbitraryArgs,
	}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			switch args[0] {
			case "bash":
				return cmd.Root().GenBashCompletionV2(a.out, true)
			case "zsh":
				return cmd.Root().GenZshCompletion(a.out)
			case "fish":
				return cmd.Root().GenFishCompletion(a.out, true)
			}
		}
		return &usageError{commandPath(cmd), "completion needs a shell: bash, zsh or fish"}
	}
	return c
}

func (a *app) logsCommand() *cobra.Command {
	var lines int
	var follow bool
	var level, server string
	c := command("logs", "The daemon's log, also of one that does not run", "Daemon", nil)
	c.Flags().IntVarP(&lines, "lines", "n", 100, "last `N` lines; 0 is all")
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on printing")
	c.Flags().StringVar(&level, "level", "debug", "least level to print")
	c.Flags().Lookup("level").Annotations = map[string][]string{"enum": {"debug", "info", "warn", "error"}}
	c.Flags().StringVar(&server, "server", "", "standard error of this `ENGINE` instead")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		least := slices.Index(levels, strings.ToUpper(level))
		if least < 0 || lines < 0 {
			return &usageError{commandPath(cmd), "--level must be debug, info, warn or error, and --lines not negative"}
		}
		if server != "" {
			return a.serverLog(cmd.Context(), server, max(1, lines))
		}
		paths, err := a.paths()
		if err != nil {
			return err
		}
		return a.printLog(cmd.Context(), paths.LogFile, lines, least, follow)
	}
	return c
}

func (a *app) serverLog(ctx context.Context, server string, lines int) error {
	raw, err := a.ask(ctx, "daemon.logs", map[string]any{"server": server, "lines": lines}, nil)
	if err != nil {
		return err
	}
	if a.global.json {
		return a.printAnswer(raw)
	}
	var answer api.Logs
	if err := json.Unmarshal(raw, &answer); err != nil {
		return err
	}
	for _, l := range answer.Lines {
		fmt.Fprintln(a.out, escape(l))
	}
	return nil
}

// levels are slog's, the least first.
var levels = []string{"DEBUG", "INFO", "WARN", "ERROR"}

// printLog prints the end of the log file and, if asked, what is added to it.
func (a *app) printLog(ctx context.Context, name string, lines, least int, follow bool) error {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return api.Errorf(api.FileNotFound, "there is no log yet: %s", name)
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	var last []string
	in := bufio.NewReader(f)
	read := func(print func(string)) error {
		for {
			line, err := in.ReadString('\n')
			if err != nil && !errors.Is(err, io.EOF) {
				return err
			}
			if text, ok := a.logLine(line, least); ok {
				print(text)
			}
			if err != nil {
				return nil
			}
		}
	}
	err = read(func(text string) {
		if last = append(last, text); lines > 0 && len(last) > 2*lines {
			last = slices.Clone(last[len(last)-lines:])
		}
	})
	if err != nil {
		return err
	}
	if lines > 0 && len(last) > lines {
		last = last[len(last)-lines:]
	}
	for _, l := range last {
		fmt.Fprintln(a.out, l)
	}
	poll := time.NewTicker(200 * time.Millisecond)
	defer poll.Stop()
	for follow {
		select {
		case <-ctx.Done():
			return nil
		case <-poll.C:
		}
		if err := read(func(text string) { fmt.Fprintln(a.out, text) }); err != nil {
			return err
		}
		if now, err := os.Stat(name); err == nil { // it was moved aside for a new one
			if old, err := f.Stat(); err == nil && !os.SameFile(now, old) {
				_ = f.Close()
				if f, err = os.Open(name); err != nil {
					return err
				}
				in.Reset(f)
			}
		}
	}
	return nil
}

// logLine prints a record of the log as a line for people; raw with --json.
func (a *app) logLine(line string, least int) (string, bool) {
	line = strings.TrimSuffix(line, "\n")
	if line == "" {
		return "", false
	}
	var record struct {
		Time  time.Time `json:"time"`
		Level string    `json:"level"`
		Msg   string    `json:"msg"`
	}
	if json.Unmarshal([]byte(line), &record) != nil {
		return escape(line), true
	}
	if slices.Index(levels, record.Level) < least {
		return "", false
	}
	if a.global.json {
		return string(escapeJSON([]byte(line))), true
	}
	paint := map[string]func(string) string{"DEBUG": a.paint.dim, "INFO": a.paint.blue, "WARN": a.paint.yellow, "ERROR": a.paint.red}[record.Level]
	if paint == nil {
		paint = a.paint.bold
	}
	text := fmt.Sprintf("%s %s %s", a.paint.dim(record.Time.Local().Format("15:04:05.000")), paint(fmt.Sprintf("%-5s", record.Level)), escape(record.Msg))
	dec := json.NewDecoder(strings.NewReader(line))
	_, _ = dec.Token()
	for dec.More() { // the other members, in order
		key, err := dec.Token()
		var value json.RawMessage
		if err != nil || dec.Decode(&value) != nil {
			break
		}
		switch name := fmt.Sprint(key); name {
		case "time", "level", "msg":
		default:
			var s string
			if json.Unmarshal(value, &s) != nil {
				s = string(value)
			}
			text += " " + a.paint.cyan(escape(name)+"=") + escape(s)
		}
	}
	return text, true
}
