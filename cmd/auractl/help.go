package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/auralsp/aura/daemon/api"
)

// groups are the headings of the list of commands, in order.
var groups = []string{"Navigate", "Inspect", "Search", "Refactor", "Changes", "Daemon", "Scripts", "Other"}

// help prints the help of a command.
func (a *app) help(cmd *cobra.Command, _ []string) {
	if err := a.setup(); err != nil {
		a.finish(err)
		return
	}
	if cmd.HasParent() {
		a.commandHelp(a.out, cmd)
		return
	}
	a.rootHelp(a.out, cmd)
}

func (a *app) rootHelp(w io.Writer, root *cobra.Command) {
	p := a.paint
	fmt.Fprintf(w, "%s\n\n%s\n  auractl COMMAND [flags]\n", root.Short, p.bold("Usage:"))
	for _, group := range groups {
		var rows [][2]string
		for _, c := range inOrder(root) {
			if groupOf(c) == group && !c.Hidden {
				rows = append(rows, [2]string{c.Name(), c.Short})
			}
		}
		if len(rows) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n%s\n", p.bold(group+":"))
		a.rows(w, rows)
	}
	fmt.Fprintf(w, "\n%s\n", p.bold("Global flags:"))
	a.rows(w, flagRows(root.PersistentFlags()))
	fmt.Fprintf(w, "\nA SYMBOL is a name (Save, Order.Save, pkg/path.Type.Method) or a place in a file (order.go:12:6).\n"+
		"The daemon starts by itself. Exit status: 0 done, 1 refused or not found, 2 usage, 3 validation failed,\n4 no daemon or no language server.\n"+
		"auractl COMMAND --help tells more.\n")
}

// inOrder returns the commands as the contract lists them, those without a Spec last.
func inOrder(root *cobra.Command) []*cobra.Command {
	rank := map[string]int{}
	for i, s := range api.Specs() {
		rank[s.Words()[0]] = i - len(api.Specs())
	}
	list := slices.Clone(root.Commands())
	slices.SortStableFunc(list, func(x, y *cobra.Command) int { return cmp.Compare(rank[x.Name()], rank[y.Name()]) })
	return list
}

func groupOf(c *cobra.Command) string {
	if g := c.Annotations["group"]; g != "" {
		return g
	}
	return "Other"
}

func (a *app) commandHelp(w io.Writer, cmd *cobra.Command) {
	p := a.paint
	fmt.Fprintf(w, "%s\n\n%s\n  %s\n", cmd.Short, p.bold("Usage:"), usageLine(cmd))
	if cmd.Long != "" {
		fmt.Fprintf(w, "\n%s\n", cmd.Long)
	}
	if cmd.Example != "" {
		fmt.Fprintf(w, "\n%s\n%s\n", p.bold("Examples:"), cmd.Example)
	}
	if rows := argumentRows(cmd); len(rows) > 0 {
		fmt.Fprintf(w, "\n%s\n", p.bold("Arguments:"))
		a.rows(w, rows)
	}
	if rows := flagRows(cmd.LocalFlags()); len(rows) > 0 {
		fmt.Fprintf(w, "\n%s\n", p.bold("Flags:"))
		a.rows(w, rows)
	}
	fmt.Fprintf(w, "\n%s\n", p.bold("Global flags:"))
	a.rows(w, flagRows(cmd.Root().PersistentFlags()))
}

func usageLine(cmd *cobra.Command) string {
	line := cmd.Root().Name() + " " + cmd.Use
	if cmd.HasParent() && cmd.Parent().HasParent() {
		line = cmd.Parent().CommandPath() + " " + cmd.Use
	}
	return line + " [flags]"
}

// argumentRows describes the arguments of an operation's command.
func argumentRows(cmd *cobra.Command) [][2]string {
	spec, _, ok := api.ByMethod(cmd.Annotations["spec"])
	if !ok {
		return nil
	}
	var rows [][2]string
	for _, name := range spec.Positional {
		for _, f := range api.Fields(spec.Input) {
			if f.Name != name {
				continue
			}
			doc := f.Doc
			if f.CLI == "symbol" {
				doc += "; or FILE:LINE:COL"
			}
			rows = append(rows, [2]string{strings.Trim(placeholder(f), "[]"), doc})
		}
	}
	return rows
}

// flagRows describes flags: name with its value, and what it does.
func flagRows(fs *pflag.FlagSet) [][2]string {
	var rows [][2]string
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "    --" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", --" + f.Name
		}
		switch {
		case f.Value.Type() == "bool" && f.DefValue == "true":
			name = "    --[no-]" + f.Name
			usage += " (default true)"
		case f.Value.Type() == "bool":
		case len(f.Annotations["enum"]) > 0:
			name += " " + strings.Join(f.Annotations["enum"], "|")
			usage = f.Usage
		case strings.Contains(f.Usage, "`"):
			name += " " + value
		default:
			name += " " + metavariable(f)
		}
		if f.Value.Type() != "bool" && f.DefValue != "" && f.DefValue != "[]" && f.DefValue != "0" && f.DefValue != "0s" && !strings.Contains(f.Usage, "`") {
			usage += fmt.Sprintf(" (default %s)", f.DefValue)
		}
		rows = append(rows, [2]string{name, usage})
	})
	return rows
}

func metavariable(f *pflag.Flag) string {
	if f.Value.Type() == "int" {
		return "N"
	}
	parts := strings.Split(f.Name, "-")
	last := strings.ToUpper(parts[len(parts)-1])
	if last == "PATH" && f.Name == "file-path" {
		return "FILE"
	}
	return last
}

// rows prints two columns; the second is wrapped to the terminal's width.
func (a *app) rows(w io.Writer, rows [][2]string) {
	left := 0
	for _, r := range rows {
		if n := utf8.RuneCountInString(r[0]); n <= 36 {
			left = max(left, n)
		}
	}
	for _, r := range rows {
		n := utf8.RuneCountInString(r[0])
		lines := wrap(r[1], max(30, a.width()-left-5))
		if n > left {
			fmt.Fprintf(w, "  %s\n  %s  %s\n", r[0], strings.Repeat(" ", left), lines[0])
		} else {
			fmt.Fprintf(w, "  %s%s  %s\n", r[0], strings.Repeat(" ", left-n), lines[0])
		}
		for _, l := range lines[1:] {
			fmt.Fprintf(w, "  %s  %s\n", strings.Repeat(" ", left), l)
		}
	}
}

func wrap(s string, width int) []string {
	lines := []string{""}
	for _, word := range strings.Fields(s) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case utf8.RuneCountInString(*last)+1+utf8.RuneCountInString(word) <= width:
			*last += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}
