package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

func (a *app) manCommand() *cobra.Command {
	c := command("man", "Print the manual page (auractl man | man -l -)", "Other", nil)
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		var b strings.Builder
		manual(&b, cmd.Root())
		_, err := io.WriteString(a.out, b.String())
		return err
	}
	return c
}

// manual writes the manual page in the macros of man(7), from the commands themselves.
func manual(b *strings.Builder, root *cobra.Command) {
	fmt.Fprintf(b, ".TH AURACTL 1 \"\" \"Aura %s\" \"User Commands\"\n.SH NAME\nauractl \\- %s\n", roff(version), roff(lowerFirst(root.Short)))
	b.WriteString(".SH SYNOPSIS\n.B auractl\n.I COMMAND\n[flags]\n.SH DESCRIPTION\n" +
		"auractl asks Aura's daemon, aurad(1), which it starts when none runs. A SYMBOL is a name (Save, Order.Save,\n" +
		"pkg/path.Type.Method) or a place in a file (order.go:12:6).\n.SH COMMANDS\n")
	for _, group := range groups {
		for _, c := range inOrder(root) {
			if groupOf(c) != group || c.Hidden {
				continue
			}
			fmt.Fprintf(b, ".SS %s\n%s.\n", roff("auractl "+c.Use), roff(c.Short))
			if c.Long != "" {
				fmt.Fprintf(b, ".PP\n%s\n", roff(c.Long))
			}
			manualRows(b, append(argumentRows(c), flagRows(c.LocalFlags())...))
			if c.Example != "" {
				fmt.Fprintf(b, ".PP\n.nf\n%s\n.fi\n", roff(c.Example))
			}
		}
	}
	b.WriteString(".SH GLOBAL FLAGS\n")
	manualRows(b, flagRows(root.PersistentFlags()))
	b.WriteString(".SH EXIT STATUS\n")
	manualRows(b, [][2]string{
		{"0", "done"}, {"1", "refused, not found or failed"}, {"2", "usage or an invalid argument"},
		{"3", "the change was not kept: it brings new errors"}, {"4", "no daemon or no language server"},
	})
	b.WriteString(".SH ENVIRONMENT\n")
	manualRows(b, [][2]string{
		{"AURA_TRUST=1", "trust the workspace for this call"}, {"AURA_SESSION", "name of the session"},
		{"AURA_TABLE_KEY", "overrides a setting when the daemon starts; auractl config lists them"}, {"NO_COLOR", "no colours, unless --color always"},
	})
	b.WriteString(".SH FILES\n")
	manualRows(b, [][2]string{
		{"~/.config/aura/config.toml", "settings"}, {"$XDG_RUNTIME_DIR/aura/aurad.sock", "the daemon's socket"},
		{"~/.local/state/aura", "journal, trust and log"}, {"~/.local/share/aura/tools", "language servers that auractl install put there"},
	})
}

func manualRows(b *strings.Builder, rows [][2]string) {
	for _, r := range rows {
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(strings.TrimSpace(r[0])), roff(r[1]))
	}
}

// roff protects what the formatter would read as its own.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	var out []string
	for _, l := range strings.Split(s, "\n") {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			l = `\&` + l
		}
		out = append(out, l)
	}
	return strings.Join(out, "\n")
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }
