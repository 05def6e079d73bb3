package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/client"
)

// call asks an operation and prints its answer.
func (a *app) call(ctx context.Context, spec api.Spec, params map[string]any) error {
	ctx, cancel := a.withTimeout(ctx)
	defer cancel()
	raw, err := a.ask(ctx, spec.Methods()[0], params, a.startProgress())
	if untrusted(raw, err) && a.grantTrust(ctx) {
		raw, err = a.ask(ctx, spec.Methods()[0], params, a.startProgress())
	}
	if err != nil {
		return err
	}
	if a.global.json {
		return a.printAnswer(raw)
	}
	if err := a.view(spec, raw); err != nil {
		return err
	}
	return failed(raw)
}

// untrusted reports whether a workspace is not trusted enough for the answer
// that was asked for: it was refused, or given without the server.
func untrusted(raw json.RawMessage, err error) bool {
	if err != nil {
		return asError(err).Code == api.WorkspaceUntrusted
	}
	var t api.Trust
	return json.Unmarshal(raw, &t) == nil && t.Unserved == api.WorkspaceUntrusted
}

// ask makes one call on a connection of its own.
func (a *app) ask(ctx context.Context, method string, params any, line *progress) (json.RawMessage, error) {
	opts, err := a.options(line)
	if err != nil {
		return nil, err
	}
	if spec, _, ok := api.ByMethod(method); !ok || spec.Tier > api.Observe || spec.Tool != "" {
		a.catch()
	}
	raw, server, err := client.Once(ctx, opts, method, params)
	line.stop()
	a.root = server.Workspace
	if skew := opts.Skew(server); skew != "" && server.Build != "" {
		a.warn(skew)
	}
	return raw, err
}

// failed is the exit status 1 of an answer that says success: false.
func failed(raw json.RawMessage) error {
	var a struct {
		Success *bool `json:"success"`
	}
	if json.Unmarshal(raw, &a) == nil && a.Success != nil && !*a.Success {
		return exitStatus(1)
	}
	return nil
}

// printAnswer prints an answer as JSON: on one line, or spread out on a terminal.
func (a *app) printAnswer(raw json.RawMessage) error {
	if err := a.printJSON(raw); err != nil {
		return err
	}
	return failed(raw)
}

func (a *app) printJSON(raw []byte) error {
	raw = escapeJSON(raw)
	if a.outTTY {
		var b bytes.Buffer
		if json.Indent(&b, raw, "", "  ") == nil {
			raw = b.Bytes()
		}
	}
	_, err := a.out.Write(append(raw, '\n'))
	return err
}

// printError prints an error as the answer of a call.
func (a *app) printError(e *api.Error) int {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(map[string]*api.Error{"error": e}); err != nil {
		fmt.Fprintln(a.err, err)
		return 1
	}
	if err := a.printJSON(bytes.TrimSpace(b.Bytes())); err != nil {
		return 1
	}
	return exitCode(e.Code)
}

// callCommand reaches every method.
func (a *app) callCommand() *cobra.Command {
	return &cobra.Command{
		Use: "call METHOD [JSON]", Short: "Call any method and print its answer as one JSON object",
		Long: "JSON holds the parameters; - reads them from standard input. An error is printed on standard output as\n" +
			"{\"error\": {code, message, ...}} and gives the exit status.",
		Example: indent("auractl call aura_references '{\"symbolName\": \"Command\", \"limit\": 5}'\nauractl call code.refactor - <request.json"),
		Args:    cobra.ArbitraryArgs, Annotations: map[string]string{"group": "Scripts"},
		RunE: func(cmd *cobra.Command, args []string) error {
			a.global.json = true
			if len(args) == 0 || len(args) > 2 {
				return &usageError{commandPath(cmd), "call needs a method and at most one JSON object"}
			}
			params, err := a.readParams(args[1:])
			if err != nil {
				return err
			}
			ctx, cancel := a.withTimeout(cmd.Context())
			defer cancel()
			raw, err := a.ask(ctx, args[0], params, a.startProgress())
			if err != nil {
				return err
			}
			return a.printAnswer(raw)
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			names := api.Tools()
			for _, s := range api.Specs() {
				names = append(names, s.Methods()[0])
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// maxInput bounds parameters on standard input: the daemon's largest request.
const maxInput = 64 << 20

func (a *app) readParams(args []string) (json.RawMessage, error) {
	if len(args) == 0 {
		return json.RawMessage("{}"), nil
	}
	text := []byte(args[0])
	if args[0] == "-" {
		var err error
		if text, err = io.ReadAll(io.LimitReader(a.in, maxInput)); err != nil {
			return nil, err
		}
	}
	if text = bytes.TrimSpace(text); len(text) == 0 {
		return json.RawMessage("{}"), nil
	}
	var raw json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, api.Errorf(api.InvalidArgument, "the parameters are not valid JSON: %v", err)
	}
	return raw, nil
}

// grantTrust asks the person at a terminal whether to trust the workspace.
func (a *app) grantTrust(ctx context.Context) bool {
	if !a.inTTY || !a.errTTY || a.global.json || a.root == "" {
		return false
	}
	fmt.Fprintf(a.err, "%s\nIts language servers and builds run code that it holds. Trust it? [y/N] ", a.errPaint.bold(escape(a.root)))
	reply, err := readLine(ctx, a.in)
	if err != nil || !isTrue(reply) && !strings.EqualFold(reply, "y") {
		return false
	}
	_, err = a.ask(ctx, "aura_trust", map[string]any{"path": a.root}, nil)
	if err != nil {
		a.viewError(asError(err))
	}
	return err == nil
}

// readLine reads an answer from the terminal; a signal ends the wait.
func readLine(ctx context.Context, in io.Reader) (string, error) {
	if f, ok := in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		stop := context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Unix(1, 0)) })
		defer stop()
	}
	var b []byte
	one := make([]byte, 1)
	for len(b) < 100 {
		n, err := in.Read(one)
		if n == 1 && one[0] == '\n' {
			return strings.TrimSpace(string(b)), nil
		}
		if err != nil {
			return "", errors.Join(ctx.Err(), err)
		}
		b = append(b, one[:n]...)
	}
	return "", errors.New("the reply is too long")
}
