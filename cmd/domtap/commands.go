package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/domtap/domtap/cmd/domtap/internal/actcmd"
	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/daemoncmd"
	"github.com/domtap/domtap/cmd/domtap/internal/readcmd"
	"github.com/domtap/domtap/cmd/domtap/internal/servecmd"
	"github.com/domtap/domtap/cmd/domtap/internal/sessioncmd"
	"github.com/domtap/domtap/cmd/domtap/internal/tabcmd"
)

// group is a group of commands in the help.
type group struct {
	id, title string
	make      []func(*cli.App) *cobra.Command
}

// commands are all commands, in the order of the help.
var commands = []group{
	{"tabs", "Tabs:", []func(*cli.App) *cobra.Command{
		tabcmd.Open, tabcmd.Tabs, tabcmd.Goto, tabcmd.Back, tabcmd.Forward, tabcmd.Reload, tabcmd.Close, tabcmd.Restore,
	}},
	{"sessions", "Sessions:", []func(*cli.App) *cobra.Command{sessioncmd.Session}},
	{"read", "Reading a page:", []func(*cli.App) *cobra.Command{
		readcmd.Read, readcmd.Snapshot, readcmd.Compact, readcmd.Find, readcmd.DOM, readcmd.Watch, readcmd.Wait, readcmd.Shot, readcmd.PDF, readcmd.Extract, readcmd.Batch,
		readcmd.Log, readcmd.Prune,
	}},
	{"act", "Acting on a page:", append(actcmd.Actions(), actcmd.Dialog, actcmd.Downloads, actcmd.Form, actcmd.Eval)},
	{"daemon", "The daemon:", []func(*cli.App) *cobra.Command{
		servecmd.Serve, daemoncmd.MCP, daemoncmd.Stop, daemoncmd.Stats, daemoncmd.UI, servecmd.Config, daemoncmd.Health, daemoncmd.Doctor,
		daemoncmd.Socket, daemoncmd.Token, versionCommand, daemoncmd.Man,
	}},
}

const rootHelp = `domtap gives programs the DOM of live browser tabs: as compact text, as elements with stable refs, and as a
stream of changes.

Every command below is a client of a daemon that owns a Chromium. The first command that needs the daemon
starts it; domtap stop ends it.`

const rootExample = `  domtap open https://example.com    # open a page; prints the tab
  domtap compact                     # one line per element: [ref] text (tag …)
  domtap click 0                     # click the element with ref 0; prints what changed
  domtap watch                       # print every change as it happens; Ctrl-C ends it`

const rootNotes = `
Exit codes:
  0  success                      4  stale ref, not actionable, navigation failed
  1  any other failure            5  timeout
  2  wrong usage or bad input     6  daemon unreachable, or it cannot start
  3  no such tab, session, frame  7  permission denied, or no valid token
  130  interrupted

Problems? domtap doctor checks everything and prints what to do.
`

func newRoot(a *cli.App) *cobra.Command {
	cobra.EnableCommandSorting = false // keep the order of the groups
	root := &cobra.Command{
		Use:           "domtap",
		Short:         "The DOM of live browser tabs, for programs",
		Long:          rootHelp,
		Example:       rootExample,
		Version:       a.Version,
		SilenceUsage:  true,
		SilenceErrors: true,
		// The hint of the error names the nearest command.
		DisableSuggestions: true,
	}
	root.SetGlobalNormalizationFunc(cli.NormalizeFlag)
	root.SetUsageTemplate(usageTemplate(root.UsageTemplate()))
	root.SetVersionTemplate("domtap {{.Version}}\n")
	for _, g := range commands {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, make := range g.make {
			cmd := make(a)
			cmd.GroupID = g.id
			root.AddCommand(cmd)
		}
	}
	cli.OnlySubcommands(root)
	return root
}

// usageTemplate lists the flags of all client commands apart from a command's own, and adds the notes
// to the help of the root.
func usageTemplate(template string) string {
	cobra.AddTemplateFunc("ownFlags", func(f *pflag.FlagSet) string { return flagUsages(f, false) })
	cobra.AddTemplateFunc("commonFlags", func(f *pflag.FlagSet) string { return flagUsages(f, true) })
	const all = "{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}"
	const parted = `{{ownFlags .LocalFlags | trimTrailingWhitespaces}}{{with commonFlags .LocalFlags}}

Flags of every client command:
{{. | trimTrailingWhitespaces}}{{end}}`
	return strings.Replace(template, all, parted, 1) + "{{if not .HasParent}}" + rootNotes + "{{end}}"
}

// flagUsages describes the flags that all client commands have, or the other flags.
func flagUsages(all *pflag.FlagSet, common bool) string {
	some := pflag.NewFlagSet("", pflag.ContinueOnError)
	all.VisitAll(func(f *pflag.Flag) {
		if cli.IsCommon(f) == common {
			some.AddFlag(f)
		}
	})
	return some.FlagUsages()
}
