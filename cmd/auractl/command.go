package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/auralsp/aura/daemon/api"
)

// commands makes the tree of commands; only the one that args ask for, when
// that is plain, since a person waits for every start.
func (a *app) commands(args []string) *cobra.Command {
	root := &cobra.Command{
		Use: "auractl", Short: "Navigate and refactor code through shared language servers",
		SilenceErrors: true, SilenceUsage: true, Args: cobra.ArbitraryArgs,
		PersistentPreRunE: func(*cobra.Command, []string) error { return a.setup() },
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknownCommand(cmd, args[0])
		},
	}
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &usageError{commandPath(cmd), flagError(err)}
	})
	root.SetHelpFunc(a.help)
	root.SetHelpCommand(&cobra.Command{
		Use: "help [COMMAND]", Short: "Help about a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(root, strings.Join(args, " "))
			}
			return found.Help()
		},
	})
	a.globalFlags(root.PersistentFlags())
	only := commandName(args)
	found := false
	for _, b := range a.builtins() {
		if only == "" || b.name == only {
			root.AddCommand(b.command())
			found = true
		}
	}
	for _, spec := range api.Specs() {
		if words := spec.Words(); !spec.Hidden && !a.replaced(spec) && (only == "" || words[0] == only) {
			root.AddCommand(a.specCommand(spec))
			found = true
		}
	}
	if !found && only != "" {
		return a.commands(nil)
	}
	return root
}

// commandName returns the first word that is no flag, when it is followed by
// nothing that needs the other commands; else "".
func commandName(args []string) string {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return ""
	}
	switch args[0] {
	case "help", "completion", "man", cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd:
		return ""
	}
	return args[0]
}

// flagError says what a flag's value must be, in place of how it was parsed.
func flagError(err error) string {
	var value *pflag.InvalidValueError
	if !errors.As(err, &value) {
		return err.Error()
	}
	want := map[string]string{"int": "a whole number", "bool": "true or false", "duration": "a time such as 30s or 2m"}[value.GetFlag().Value.Type()]
	if want == "" {
		return err.Error()
	}
	return fmt.Sprintf("--%s must be %s, not %q", value.GetFlag().Name, want, value.GetValue())
}

func unknownCommand(root *cobra.Command, name string) error {
	var names []string
	for _, c := range root.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	message := fmt.Sprintf("there is no command %q", name)
	if near := api.Nearest(name, names, 3); len(near) > 0 {
		message += "; did you mean " + strings.Join(near, ", ") + "?"
	}
	return &usageError{"auractl", message}
}

func (a *app) globalFlags(fs *pflag.FlagSet) {
	g := &a.global
	fs.SortFlags = false
	fs.StringVarP(&g.workspace, "workspace", "C", "", "`DIR` of the workspace; default the nearest workspace root above the current folder")
	fs.BoolVar(&g.json, "json", false, "print the answer as one JSON object")
	fs.DurationVar(&g.timeout, "timeout", 0, "give up after `D` (30s, 2m); default when the daemon does")
	fs.StringVar(&g.color, "color", "auto", "when to colour the output; NO_COLOR turns auto off")
	fs.Lookup("color").Annotations = map[string][]string{"enum": {"auto", "always", "never"}}
	fs.StringVar(&g.socket, "socket", "", "`PATH` of the daemon's socket")
	fs.BoolVarP(&g.quiet, "quiet", "q", false, "print the answer and errors only")
	fs.BoolVarP(&g.verbose, "verbose", "v", false, "say how the answer was obtained, and print progress in pipes")
	fs.BoolVar(&g.trust, "trust", false, "trust the workspace for this call, as AURA_TRUST=1 does")
	fs.StringVar(&g.session, "session", "", "`NAME` of the session; default AURA_SESSION, else \"default\"")
	fs.StringVar(&g.tier, "tier", "", "limit this call to observe, preview, apply or admin")
	_ = fs.MarkHidden("tier")
}

// specCommand makes the command of an operation.
func (a *app) specCommand(spec api.Spec) *cobra.Command {
	words := spec.Words()
	use := words[len(words)-1]
	fields := map[string]api.Field{}
	for _, f := range api.Fields(spec.Input) {
		fields[f.Name] = f
	}
	for _, name := range spec.Positional {
		use += " " + placeholder(fields[name])
	}
	cmd := &cobra.Command{
		Use: use, Short: spec.Summary, Long: spec.Long, Example: indent(spec.Example), Args: cobra.ArbitraryArgs,
		Annotations: map[string]string{"group": spec.Group, "spec": spec.Name},
	}
	addFlags(cmd.Flags(), spec)
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if enum := f.Annotations["enum"]; len(enum) > 0 {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(enum, cobra.ShellCompDirectiveNoFileComp))
		}
	})
	var last bool
	if spec.Name == "undo" {
		cmd.Flags().BoolVar(&last, "last", false, "undo the newest change that can be undone")
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		params, err := a.params(spec, cmd, args)
		if err != nil {
			return err
		}
		if last {
			if err := a.lastToken(cmd.Context(), params); err != nil {
				return err
			}
		}
		if err := localCheck(spec, cmd, params); err != nil {
			return err
		}
		return a.call(cmd.Context(), spec, params)
	}
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) < len(spec.Positional) && fields[spec.Positional[len(args)]].CLI != "" {
			return nil, cobra.ShellCompDirectiveDefault // files, also as the start of FILE:LINE:COL
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

// addFlags makes the flags of the fields that are not positional. A boolean that
// is true by default is turned off by --no-NAME or --NAME=false.
func addFlags(fs *pflag.FlagSet, spec api.Spec) {
	fs.SortFlags = false
	for _, f := range api.Fields(spec.Input) {
		if f.CLI == "-" || slices.Contains(spec.Positional, f.Name) {
			continue
		}
		name, usage := kebab(f.Name), f.Doc
		switch f.Type.Kind() {
		case reflect.String:
			fs.String(name, f.Default, usage)
		case reflect.Int:
			n, _ := strconv.Atoi(f.Default)
			fs.Int(name, n, usage)
		case reflect.Bool:
			on := f.Default == "true"
			fs.Bool(name, on, usage)
			if on {
				fs.Bool("no-"+name, false, "turn "+name+" off")
				_ = fs.MarkHidden("no-" + name)
			}
		case reflect.Slice:
			fs.StringSlice(name, nil, usage)
		default:
			continue
		}
		if len(f.Enum) > 0 {
			fs.Lookup(name).Annotations = map[string][]string{"enum": f.Enum}
		}
	}
}

// params turns arguments and flags into the fields of a request.
func (a *app) params(spec api.Spec, cmd *cobra.Command, args []string) (map[string]any, error) {
	out := map[string]any{}
	var err error
	for _, f := range api.Fields(spec.Input) {
		flag := cmd.Flags().Lookup(kebab(f.Name))
		if f.CLI == "-" || slices.Contains(spec.Positional, f.Name) || flag == nil {
			continue
		}
		if off := cmd.Flags().Lookup("no-" + flag.Name); off != nil && off.Changed {
			if flag.Changed {
				return nil, &usageError{commandPath(cmd), fmt.Sprintf("--%s and --%s exclude each other", flag.Name, off.Name)}
			}
			out[f.Name] = off.Value.String() != "true"
			continue
		}
		if !flag.Changed {
			continue
		}
		switch f.Type.Kind() {
		case reflect.Bool:
			out[f.Name], err = cmd.Flags().GetBool(flag.Name)
		case reflect.Int:
			out[f.Name], err = cmd.Flags().GetInt(flag.Name)
		case reflect.Slice:
			out[f.Name], err = cmd.Flags().GetStringSlice(flag.Name)
		default:
			out[f.Name] = a.value(f, flag.Value.String())
		}
		if err != nil {
			return nil, err
		}
	}
	return out, a.positional(spec, cmd, args, out)
}

// positional reads the arguments. A symbol that flags name already needs none.
func (a *app) positional(spec api.Spec, cmd *cobra.Command, args []string, out map[string]any) error {
	names := spec.Positional
	if len(names) > 0 && names[0] == "symbolName" && len(args) < len(names) && (out["symbolId"] != nil || out["line"] != nil) {
		names = names[1:]
	}
	if spec.Name == "undo" && cmd.Flags().Changed("last") {
		names = nil
	}
	fields := api.Fields(spec.Input)
	var missing []string
	for _, name := range names {
		f := fields[slices.IndexFunc(fields, func(f api.Field) bool { return f.Name == name })]
		switch {
		case f.Type.Kind() == reflect.Slice:
			if len(args) > 0 {
				out[name] = args
			}
			args = nil
		case len(args) == 0:
			if f.Required || f.CLI == "symbol" {
				missing = append(missing, placeholder(f))
			}
		case f.CLI == "symbol" && isPosition(args[0]):
			a.setPosition(out, args[0])
			args = args[1:]
		default:
			out[name] = a.value(f, args[0])
			args = args[1:]
		}
	}
	if len(missing) > 0 {
		return &usageError{commandPath(cmd), fmt.Sprintf("%s needs %s", cmd.Name(), strings.Join(missing, " and "))}
	}
	if len(args) > 0 {
		return &usageError{commandPath(cmd), fmt.Sprintf("%s does not take %q", cmd.Name(), args[0])}
	}
	return nil
}

// splitPosition reads FILE:LINE and FILE:LINE:COL, also with the colon that
// compilers and grep print after it. column is 0 when there is none.
func splitPosition(text string) (file string, line, column int, ok bool) {
	text = strings.TrimSuffix(text, ":")
	file, last, ok := cutNumber(text)
	if !ok {
		return "", 0, 0, false
	}
	if shorter, before, ok := cutNumber(file); ok {
		return shorter, before, last, true
	}
	return file, last, 0, true
}

func cutNumber(text string) (head string, n int, ok bool) {
	i := strings.LastIndexByte(text, ':')
	if i < 1 || len(text)-i > 10 {
		return "", 0, false
	}
	n, err := strconv.Atoi(text[i+1:])
	return text[:i], n, err == nil && text[i+1] >= '0' && text[i+1] <= '9'
}

func (a *app) setPosition(out map[string]any, text string) {
	file, line, column, _ := splitPosition(text)
	out["filePath"], out["line"] = a.path(file), line
	if column > 0 {
		out["column"] = column
	}
}

func isPosition(text string) bool {
	_, _, _, ok := splitPosition(text)
	return ok
}

func (a *app) value(f api.Field, text string) any {
	if f.CLI == "path" {
		return a.path(text)
	}
	return text
}

// path makes a path absolute if it exists from the current folder; else it is
// left to the daemon, which takes it from the workspace's root, as answers write it.
func (a *app) path(p string) string {
	abs := a.absolute(p)
	if _, err := os.Lstat(abs); err == nil || filepath.IsAbs(p) {
		return abs
	}
	return p
}

// localCheck refuses what the daemon would refuse, without starting one.
func localCheck(spec api.Spec, cmd *cobra.Command, params map[string]any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	_, err = api.Decode(spec, raw)
	if err == nil {
		return nil
	}
	message := asError(err).Message
	for _, f := range api.Fields(spec.Input) { // a person knows the flag, not the field
		if rest, ok := strings.CutPrefix(message, f.Name+" "); ok && cmd.Flags().Lookup(kebab(f.Name)) != nil {
			message = "--" + kebab(f.Name) + " " + rest
		}
	}
	return &usageError{commandPath(cmd), message}
}

// lastToken looks up the newest change that can be undone.
func (a *app) lastToken(ctx context.Context, params map[string]any) error {
	raw, err := a.ask(ctx, "aura_history", map[string]any{"limit": 200}, nil)
	if err != nil {
		return err
	}
	var h api.Transactions
	if err := json.Unmarshal(raw, &h); err != nil {
		return err
	}
	for _, t := range h.Transactions {
		if t.UndoToken != "" && t.State == "committed" && t.Undoes == "" && !strings.HasPrefix(t.Operation, "undo") {
			params["undoToken"] = t.UndoToken
			return nil
		}
	}
	return api.Errorf(api.UndoNotFound, "there is no change to undo; auractl history lists them")
}

// kebab turns filePath into file-path.
func kebab(name string) string {
	var b strings.Builder
	for i, r := range name {
		if r >= 'A' && r <= 'Z' {
			if i > 0 {
				b.WriteByte('-')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// placeholder names an argument in usage lines.
func placeholder(f api.Field) string {
	switch {
	case f.CLI == "symbol":
		return "SYMBOL"
	case f.Type.Kind() == reflect.Slice:
		return "[" + strings.ToUpper(strings.TrimSuffix(kebab(f.Name), "s")) + "...]"
	}
	name := strings.ToUpper(kebab(f.Name))
	switch f.Name {
	case "filePath":
		name = "FILE"
	case "undoToken":
		name = "TOKEN"
	case "path":
		name = "DIR"
	}
	if f.Required {
		return name
	}
	return "[" + name + "]"
}

func indent(s string) string {
	if s == "" {
		return ""
	}
	return "  " + strings.ReplaceAll(s, "\n", "\n  ")
}
