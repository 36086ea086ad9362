package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/domtap/domtap/cmd/domtap/internal/actcmd"
	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/clustercmd"
	"github.com/domtap/domtap/cmd/domtap/internal/daemoncmd"
	"github.com/domtap/domtap/cmd/domtap/internal/networkcmd"
	"github.com/domtap/domtap/cmd/domtap/internal/profilecmd"
	"github.com/domtap/domtap/cmd/domtap/internal/readcmd"
	"github.com/domtap/domtap/cmd/domtap/internal/recordcmd"
	"github.com/domtap/domtap/cmd/domtap/internal/replcmd"
	"github.com/domtap/domtap/cmd/domtap/internal/servecmd"
	"github.com/domtap/domtap/cmd/domtap/internal/sessioncmd"
	"github.com/domtap/domtap/cmd/domtap/internal/storagecmd"
	"github.com/domtap/domtap/cmd/domtap/internal/tabcmd"
	"github.com/domtap/domtap/cmd/domtap/internal/timelinecmd"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/sessions"
)

// group is a group of commands in the help.
type group struct {
	id, title string
	commands  []cli.Command
}

// groups returns all commands, in the order of the help.
func groups() []group {
	return []group{
		{"tabs", "Tabs:", []cli.Command{
			{Name: "open", Make: tabcmd.Open}, {Name: "tabs", Make: tabcmd.Tabs}, {Name: "attach", Make: tabcmd.Attach}, {Name: "goto", Make: tabcmd.Goto}, {Name: "back", Make: tabcmd.Back},
			{Name: "forward", Make: tabcmd.Forward}, {Name: "reload", Make: tabcmd.Reload}, {Name: "close", Make: tabcmd.Close}, {Name: "restore", Make: tabcmd.Restore},
		}},
		{"sessions", "Sessions:", []cli.Command{
			{Name: "session", Make: sessioncmd.Session}, {Name: "profile", Make: profilecmd.Profile}, {Name: "cookies", Make: storagecmd.Cookies}, {Name: "storage", Make: storagecmd.Storage},
			{Name: "route", Make: networkcmd.Route},
		}},
		{"read", "Reading a page:", []cli.Command{
			{Name: "read", Make: readcmd.Read}, {Name: "snapshot", Make: readcmd.Snapshot}, {Name: "compact", Make: readcmd.Compact}, {Name: "find", Make: readcmd.Find},
			{Name: "dom", Make: readcmd.DOM}, {Name: "watch", Make: readcmd.Watch}, {Name: "wait", Make: readcmd.Wait}, {Name: "shot", Make: readcmd.Shot},
			{Name: "pdf", Make: readcmd.PDF}, {Name: "extract", Make: readcmd.Extract}, {Name: "batch", Make: readcmd.Batch}, {Name: "log", Make: readcmd.Log}, {Name: "timeline", Make: timelinecmd.Timeline},
			{Name: "request", Make: readcmd.Request}, {Name: "har", Make: readcmd.HAR}, {Name: "video", Make: readcmd.Video}, {Name: "audit", Make: readcmd.Audit},
			{Name: "prune", Make: readcmd.Prune}, {Name: "search", Make: readcmd.Search}, {Name: "record", Make: recordcmd.Record}, {Name: "replay", Make: recordcmd.Replay},
		}},
		{"act", "Acting on a page:", append(actcmd.Actions(),
			cli.Command{Name: "mouse", Make: actcmd.Mouse}, cli.Command{Name: "do", Make: doCommand}, cli.Command{Name: "dialog", Make: actcmd.Dialog}, cli.Command{Name: "downloads", Make: actcmd.Downloads}, cli.Command{Name: "form", Make: actcmd.Form}, cli.Command{Name: "tool", Make: actcmd.Tool},
			cli.Command{Name: "eval", Make: actcmd.Eval}, cli.Command{Name: "pause", Make: timelinecmd.Pause}, cli.Command{Name: "resume", Make: timelinecmd.Resume})},
		{"daemon", "The daemon:", []cli.Command{
			{Name: "serve", Make: servecmd.Serve}, {Name: "mcp", Make: daemoncmd.MCP}, {Name: "skill", Make: skillCommand}, {Name: "repl", Make: replCommand}, {Name: "stop", Make: daemoncmd.Stop}, {Name: "stats", Make: daemoncmd.Stats},
			{Name: "cluster", Make: clustercmd.Cluster}, {Name: "ui", Make: daemoncmd.UI}, {Name: "config", Make: servecmd.Config}, {Name: "health", Make: daemoncmd.Health}, {Name: "doctor", Make: daemoncmd.Doctor},
			{Name: "socket", Make: daemoncmd.Socket}, {Name: "token", Make: daemoncmd.Token}, {Name: "version", Make: versionCommand}, {Name: "man", Make: manCommand},
		}},
	}
}

// manCommand returns the command man, which describes all commands.
func manCommand(a *cli.App) *cobra.Command {
	return daemoncmd.Man(a, func() *cobra.Command { return newRoot(a) })
}

// skillCommand returns the command skill, which lists all commands.
func skillCommand(a *cli.App) *cobra.Command {
	return daemoncmd.Skill(a, func() *cobra.Command { return newRoot(a) })
}

// replCommand returns the command repl, which runs all commands.
func replCommand(a *cli.App) *cobra.Command { return replcmd.Repl(a, newRoot) }

// doCommand returns the command do, which runs several commands.
func doCommand(a *cli.App) *cobra.Command {
	return replcmd.Do(a, newRoot, replcmd.Steps{Parse: parseSteps, Turn: actcmd.Turn, Max: actcmd.MaxSteps})
}

// parseSteps returns the steps of a command that acts or waits. It returns none for any other command.
func parseSteps(words []string) ([]*domtapv1.Step, error) {
	if words[0] != "wait" {
		return actcmd.ParseSteps(words)
	}
	step, err := readcmd.ParseWait(words[1:])
	if step == nil {
		return nil, err
	}
	return []*domtapv1.Step{step}, err
}

// completeFlags adds completions to flags that many commands share.
func completeFlags(cmd *cobra.Command) {
	for name, words := range map[string]func() []cobra.Completion{"role": roleWords, "device": deviceWords} {
		if cmd.Flags().Lookup(name) != nil {
			_ = cmd.RegisterFlagCompletionFunc(name, func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
				return words(), cobra.ShellCompDirectiveNoFileComp
			})
		}
	}
	for _, sub := range cmd.Commands() {
		completeFlags(sub)
	}
}

// roleWords returns the roles to complete.
func roleWords() []cobra.Completion { return actcmd.Roles }

// deviceWords returns the devices that sessions can emulate.
func deviceWords() []cobra.Completion {
	var words []cobra.Completion
	for _, d := range sessions.Devices() {
		words = append(words, cobra.CompletionWithDesc(d.Name, fmt.Sprintf("%dx%d, scale %g", d.Width, d.Height, d.Scale)))
	}
	return words
}

const rootHelp = `domtap reads and controls live browser tabs. It prints pages as compact text with a stable ref for each
element, and every change of a page as it happens.

The commands call a daemon that runs Chromium. The first command that needs the daemon starts it. domtap stop
stops it.`

const rootExample = `  domtap open https://example.com    # open a page and print the tab
  domtap compact                     # print one line per element: [ref] text (tag …)
  domtap click 0                     # click the element with ref 0 and print what changed
  domtap watch                       # print every change until Ctrl-C`

const rootNotes = `
Exit codes:
  0  success                         4  stale ref, not actionable, navigation failed
  1  any other failure               5  timeout
  2  wrong usage or invalid input    6  daemon unreachable or unable to start
  3  no such tab, session or frame   7  permission denied or no valid token
  130  interrupted

If something does not work, run domtap doctor. It checks everything and prints what to do.
`

// newRoot returns the command domtap. If args begins with the name of a command, newRoot creates only that subcommand, because creating all
// of them takes longer than most commands take to run. Otherwise, as for help and completion, it creates all of them.
func newRoot(a *cli.App, args ...string) *cobra.Command {
	cobra.EnableCommandSorting = false // keep the order of the groups
	a.Root = func(words ...string) *cobra.Command { return newRoot(cli.New(a.Env), words...) }
	root := &cobra.Command{
		Use:           "domtap",
		Short:         "Read and control live browser tabs",
		Long:          rootHelp,
		Example:       rootExample,
		Version:       a.Version,
		SilenceUsage:  true,
		SilenceErrors: true,
		// The hint of the error suggests the nearest command.
		DisableSuggestions: true,
	}
	root.SetGlobalNormalizationFunc(cli.NormalizeFlag)
	root.SetUsageTemplate(usageTemplate(root.UsageTemplate()))
	root.SetVersionTemplate("domtap {{.Version}}\n")
	root.Flags().BoolP("version", "v", false, "print the version")
	root.SetHelpTemplate(helpTemplate(root.HelpTemplate()))
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if slices.Contains(args, "all") {
			cmd.Annotations = map[string]string{helpAll: ""}
		}
		nameHelp(root)
		help(cmd, args)
	})
	all := groups()
	only := named(all, args)
	for _, g := range all {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, c := range g.commands {
			if only && c.Name != args[0] {
				continue
			}
			cmd := c.Make(a)
			cmd.GroupID = g.id
			root.AddCommand(cmd)
		}
	}
	cli.OnlySubcommands(root)
	completeFlags(root)
	return root
}

// nameHelp replaces the texts of the help command, which cobra adds before it runs a command line.
func nameHelp(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		if cmd.Name() == "help" {
			cmd.Use, cmd.Short = "help [COMMAND]", "Print the help of a command"
			cmd.Long = "Print the help of a command, as domtap COMMAND --help does. Without COMMAND, list all commands."
		}
	}
}

// named reports whether args begins with the name of a command.
func named(all []group, args []string) bool {
	return len(args) > 0 && slices.ContainsFunc(all, func(g group) bool {
		return slices.ContainsFunc(g.commands, func(c cli.Command) bool { return c.Name == args[0] })
	})
}

// helpTemplate shows the first paragraph of a command's long help, or the whole text with --help all.
func helpTemplate(template string) string {
	cobra.AddTemplateFunc("about", func(cmd *cobra.Command) string {
		about := cmp.Or(cmd.Long, cmd.Short)
		if asksAll(cmd) || !cmd.HasParent() {
			return about
		}
		first, _, _ := strings.Cut(about, "\n\n")
		return first
	})
	return strings.Replace(template, "{{with (or .Long .Short)}}", "{{with (about .)}}", 1)
}

// shownExamples is the number of examples in the help of a command.
const shownExamples = 3

// examples returns the first examples of a command, or all of them with --help all.
func examples(cmd *cobra.Command) string {
	lines := strings.Split(strings.TrimRight(cmd.Example, "\n"), "\n")
	if asksAll(cmd) || !cmd.HasParent() || len(lines) <= shownExamples {
		return cmd.Example
	}
	return strings.Join(lines[:shownExamples], "\n")
}

// usageTemplate describes a command's own flags. Common and rare flags are only named, unless --help all is given. The help of the root
// also gets the notes.
func usageTemplate(template string) string {
	cobra.AddTemplateFunc("ownFlags", func(f *pflag.FlagSet) string { return flagUsages(f, isOwn) })
	cobra.AddTemplateFunc("otherFlags", otherFlags)
	cobra.AddTemplateFunc("examples", examples)
	const all = `{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}`
	const parted = `{{with ownFlags .LocalFlags}}

Flags:
{{. | trimTrailingWhitespaces}}{{end}}{{with otherFlags .}}

{{. | trimTrailingWhitespaces}}{{end}}`
	template = strings.Replace(template, "{{.Example}}", "{{examples .}}", 1)
	return strings.Replace(template, all, parted, 1) + "{{if not .HasParent}}" + rootNotes + "{{end}}"
}

// helpAll is the annotation that requests the complete help of a command, for --help all.
const helpAll = "domtap_help_all"

func asksAll(cmd *cobra.Command) bool {
	_, all := cmd.Annotations[helpAll]
	return all
}

// isOwn reports whether the help of a command describes a flag.
func isOwn(f *pflag.Flag) bool {
	return !cli.IsCommon(f) && !actcmd.IsTarget(f) && !cli.IsRare(f) && f.Name != "help"
}

// otherFlags names a command's rare flags, target flags and common flags. With --help all it describes them.
func otherFlags(cmd *cobra.Command) string {
	var rare, target, common []string
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		switch {
		case cli.IsCommon(f) && slices.Contains([]string{"tab", "json", "timeout"}, f.Name):
			common = append(common, "--"+f.Name)
		case actcmd.IsTarget(f):
			target = append(target, "--"+f.Name)
		case cli.IsRare(f):
			rare = append(rare, "--"+f.Name)
		}
	})
	if len(common) == 0 {
		return ""
	}
	if asksAll(cmd) {
		return allFlags(cmd.LocalFlags())
	}
	var b strings.Builder
	if len(rare) > 0 {
		b.WriteString("More flags: " + strings.Join(rare, " ") + "\n")
	}
	if len(target) > 0 {
		b.WriteString("Target flags: " + strings.Join(target, " ") + "\n")
	}
	return b.String() + "Common flags: " + strings.Join(common, " ") + " and others. Pass --help all for details.\n"
}

// allFlags describes the flags that otherFlags only names by default.
func allFlags(f *pflag.FlagSet) string {
	all := "Common flags:\n" + flagUsages(f, cli.IsCommon)
	if target := flagUsages(f, actcmd.IsTarget); target != "" {
		all = "Target flags:\n" + target + "\n" + all
	}
	if rare := flagUsages(f, cli.IsRare); rare != "" {
		all = "More flags:\n" + rare + "\n" + all
	}
	return all
}

// flagUsages describes the flags for which include returns true.
func flagUsages(all *pflag.FlagSet, include func(*pflag.Flag) bool) string {
	some := pflag.NewFlagSet("", pflag.ContinueOnError)
	all.VisitAll(func(f *pflag.Flag) {
		if include(f) {
			some.AddFlag(f)
		}
	})
	return some.FlagUsages()
}
