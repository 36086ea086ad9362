package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/domtap/domtap/cmd/domtap/internal/acts"
)

// The groups of commands in the help.
const (
	groupTabs   = "tabs"
	groupRooms  = "sessions"
	groupRead   = "read"
	groupAct    = "act"
	groupDaemon = "daemon"
)

var groups = []*cobra.Group{
	{ID: groupTabs, Title: "Tabs:"},
	{ID: groupRooms, Title: "Sessions:"},
	{ID: groupRead, Title: "Reading a page:"},
	{ID: groupAct, Title: "Acting on a page:"},
	{ID: groupDaemon, Title: "The daemon:"},
}

// table holds every command, in the order of the help.
var table = slices.Concat(beforeActs, actRows(), afterActs)

// row is a command and its group.
type row struct {
	group string
	make  func(*app) *cobra.Command
}

// actRows are the commands that act on a page.
func actRows() []row {
	rows := make([]row, len(acts.Table))
	for i := range acts.Table {
		rows[i] = row{groupAct, actCommand(&acts.Table[i])}
	}
	return rows
}

var beforeActs = []row{
	{groupTabs, openCommand},
	{groupTabs, tabsCommand},
	{groupTabs, gotoCommand},
	{groupTabs, backCommand},
	{groupTabs, forwardCommand},
	{groupTabs, reloadCommand},
	{groupTabs, closeCommand},
	{groupTabs, restoreCommand},
	{groupRooms, sessionCommand},
	{groupRead, readCommand},
	{groupRead, compactCommand},
	{groupRead, domCommand},
	{groupRead, watchCommand},
	{groupRead, waitCommand},
	{groupRead, shotCommand},
	{groupRead, pdfCommand},
	{groupRead, extractCommand},
	{groupRead, batchCommand},
	{groupRead, logCommand},
	{groupRead, pruneCommand},
}

var afterActs = []row{
	{groupAct, dialogCommand},
	{groupAct, downloadsCommand},
	{groupAct, formCommand},
	{groupAct, evalCommand},
	{groupDaemon, serveCommand},
	{groupDaemon, mcpCommand},
	{groupDaemon, stopCommand},
	{groupDaemon, statsCommand},
	{groupDaemon, uiCommand},
	{groupDaemon, configCommand},
	{groupDaemon, healthCommand},
	{groupDaemon, doctorCommand},
	{groupDaemon, socketCommand},
	{groupDaemon, tokenCommand},
	{groupDaemon, versionCommand},
	{groupDaemon, manCommand},
}

const rootHelp = `domtap gives programs the DOM of live browser tabs: as compact text, as elements
with stable refs, and as a stream of what changes.

Every command below is a client of a daemon that owns a Chromium. The daemon is
started by the first command that needs it, and ends with: domtap stop`

const rootExample = `  domtap open https://example.com    # open a page; prints the tab
  domtap compact                     # one line per element: [ref] text (tag …)
  domtap click 0                     # click the element with ref 0; prints what changed
  domtap watch                       # print every change as it comes; Ctrl-C ends it`

const rootNotes = `
Exit codes:
  0  done                         4  stale ref, not actionable, navigation failed
  1  any other failure            5  no answer in time
  2  wrong usage or bad input     6  daemon unreachable, or it cannot start
  3  no such tab, session, frame  7  permission denied, or no valid token
  130  interrupted

Wrong? domtap doctor checks everything and says what to do.
`

func newRoot(a *app) *cobra.Command {
	cobra.EnableCommandSorting = false // keep the order of the table
	root := &cobra.Command{
		Use:           "domtap",
		Short:         "The DOM of live browser tabs, for programs",
		Long:          rootHelp,
		Example:       rootExample,
		Version:       programVersion(),
		SilenceUsage:  true,
		SilenceErrors: true,
		// misuse names the nearest one in the hint.
		DisableSuggestions: true,
	}
	root.SetUsageTemplate(usageTemplate(root.UsageTemplate()))
	root.SetVersionTemplate("domtap {{.Version}}\n")
	root.AddGroup(groups...)
	for _, row := range table {
		cmd := row.make(a)
		cmd.GroupID = row.group
		root.AddCommand(cmd)
	}
	onlyCommands(root)
	return root
}

// usageTemplate sets the flags that every client command has apart from a command's own, and adds the
// notes to the help of the root.
func usageTemplate(template string) string {
	cobra.AddTemplateFunc("ownFlags", func(f *pflag.FlagSet) string { return flagUsages(f, false) })
	cobra.AddTemplateFunc("commonFlags", func(f *pflag.FlagSet) string { return flagUsages(f, true) })
	const all = "{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}"
	const parted = `{{ownFlags .LocalFlags | trimTrailingWhitespaces}}{{with commonFlags .LocalFlags}}

Flags of every client command:
{{. | trimTrailingWhitespaces}}{{end}}`
	return strings.Replace(template, all, parted, 1) + "{{if not .HasParent}}" + rootNotes + "{{end}}"
}

// flagUsages describes the flags that are common to the client commands, or the others.
func flagUsages(all *pflag.FlagSet, common bool) string {
	some := pflag.NewFlagSet("", pflag.ContinueOnError)
	all.VisitAll(func(f *pflag.Flag) {
		if (f.Annotations[commonAnnotation] != nil) == common {
			some.AddFlag(f)
		}
	})
	return some.FlagUsages()
}

// tabCommand makes a client command that works on the tab of --tab.
func (a *app) tabCommand(cmd *cobra.Command) *cobra.Command {
	a.common.register(cmd)
	a.common.registerTab(cmd, a.completeTabs)
	return cmd
}

// exactly is cobra.ExactArgs with the names of the arguments in its message.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		return fmt.Errorf("%s needs %s; it was given %s", cmd.CommandPath(), strings.Join(names, " and "), counted(len(args)))
	}
}

func counted(n int) string {
	switch n {
	case 0:
		return "nothing"
	case 1:
		return "1 argument"
	}
	return fmt.Sprintf("%d arguments", n)
}
