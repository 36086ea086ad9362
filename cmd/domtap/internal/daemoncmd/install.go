package daemoncmd

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	"github.com/domtap/domtap/internal/lazyregexp"
	"github.com/domtap/domtap/internal/mcp/tools"
	"github.com/domtap/domtap/internal/mcphost"
)

// installFlags holds the flags of mcp install and mcp uninstall.
type installFlags struct {
	file, name, program, tools string
	project, print             bool
}

func (f *installFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.file, "file", "", "the configuration file (default: the user's file)")
	flags.BoolVar(&f.project, "project", false, "use the project's file in this directory, such as .mcp.json")
	flags.StringVar(&f.name, "name", "domtap", "the name of the server in the host")
	flags.BoolVar(&f.print, "print", false, "print the resulting file and change nothing")
	cmd.MarkFlagsMutuallyExclusive("file", "project")
}

// serverName matches a valid name of a server. Such a name needs no quotes in TOML.
var serverName = lazyregexp.New(`^[A-Za-z0-9_-]{1,64}$`)

// find returns the host and its configuration file.
func (f *installFlags) find(a *cli.App, name string) (mcphost.Host, string, error) {
	h, err := mcphost.Find(name)
	if err != nil {
		return h, "", exit.Errorf(exit.Usage, "", "%w", err)
	}
	if !serverName().MatchString(f.name) {
		return h, "", exit.Errorf(exit.Usage, "", "invalid --name %q: it must be 1 to 64 letters, digits, - and _", f.name)
	}
	if f.file != "" {
		return h, f.file, nil
	}
	file, err := h.File(func(name string) string { value, _ := a.Lookup(name); return value }, f.project)
	if err != nil {
		return h, "", exit.Errorf(exit.Usage, "--file names another file", "%w", err)
	}
	return h, file, nil
}

// finish writes or prints a change and reports what was done.
func (f *installFlags) finish(a *cli.App, e mcphost.Edit, err error, did string) error {
	if err != nil {
		return exit.Errorf(exit.Failure, "the file was not changed; correct it, or edit it by hand (docs/mcp.md)", "%w", err)
	}
	if f.print {
		_, err := render.Exact(a.Out).Write([]byte(e.After))
		return err
	}
	if !e.Changed() {
		return a.Printer().Text(fmt.Sprintf("%s: nothing to do\n", e.File))
	}
	backup, err := e.Write()
	if err != nil {
		return exit.Errorf(exit.Failure, "", "%w", err)
	}
	text := fmt.Sprintf("%s: %s\n", e.File, did)
	if backup != "" {
		text += fmt.Sprintf("backup: %s\n", backup)
	}
	return a.Printer().Text(text)
}

func install(a *cli.App) *cobra.Command {
	var flags installFlags
	cmd := &cobra.Command{
		Use:   "install HOST",
		Short: "Add domtap to the configuration of an MCP host",
		Long: "Add domtap to the configuration file of an MCP host and print what was done. HOST is one of " + strings.Join(mcphost.Names(), ", ") + `.
The rest of the file stays unchanged, including comments, and a backup is kept beside it. Running the
command again changes nothing. Restart the host afterwards.`,
		Example: `  domtap mcp install claude
  domtap mcp install vscode --project --tools core,page
  domtap mcp install codex --print`,
		Args: cli.Args("HOST"), ValidArgsFunction: cobra.FixedCompletions(mcphost.Names(), cobra.ShellCompDirectiveNoFileComp),
	}
	flags.register(cmd)
	cmd.Flags().StringVar(&flags.program, "program", "", "the program that the host starts (default: the path of this program)")
	cmd.Flags().StringVar(&flags.tools, "tools", "", "the classes of tools, as in domtap mcp (default: core)")
	cmd.RunE = cli.Work(func(_ *cobra.Command, args []string) error {
		h, file, err := flags.find(a, args[0])
		if err != nil {
			return err
		}
		server := mcphost.Server{Name: flags.name, Command: flags.program, Args: []string{"mcp"}}
		if flags.tools != "" {
			if _, err := tools.Select(flags.tools); err != nil {
				return exit.Errorf(exit.Usage, "", "--tools: %w", err)
			}
			server.Args = append(server.Args, "--tools", flags.tools)
		}
		if server.Command == "" {
			if server.Command, err = os.Executable(); err != nil {
				return exit.Errorf(exit.Failure, "name it with --program", "find this program: %w", err)
			}
		}
		e, err := h.Install(file, server)
		return flags.finish(a, e, err, fmt.Sprintf("%s now starts %s %s, as %s", h.Title, server.Command, strings.Join(server.Args, " "), server.Name))
	})
	return cmd
}

func uninstall(a *cli.App) *cobra.Command {
	var flags installFlags
	cmd := &cobra.Command{
		Use:     "uninstall HOST",
		Short:   "Remove domtap from the configuration of an MCP host",
		Long:    "Remove domtap from the configuration file of an MCP host and print what was done. The rest of the file stays unchanged.",
		Example: "  domtap mcp uninstall claude",
		Args:    cli.Args("HOST"), ValidArgsFunction: cobra.FixedCompletions(mcphost.Names(), cobra.ShellCompDirectiveNoFileComp),
	}
	flags.register(cmd)
	cmd.RunE = cli.Work(func(_ *cobra.Command, args []string) error {
		h, file, err := flags.find(a, args[0])
		if err != nil {
			return err
		}
		e, err := h.Uninstall(file, flags.name)
		return flags.finish(a, e, err, fmt.Sprintf("%s no longer starts %s", h.Title, flags.name))
	})
	return cmd
}
