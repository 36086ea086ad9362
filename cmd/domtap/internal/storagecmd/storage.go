package storagecmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Storage returns the command storage with its subcommands.
func Storage(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "storage",
		Short: "List and change local and session storage",
		Long: `List and change the local storage of an origin in a session. No tab of that origin is needed. With --area
session, use the session storage of an origin in a tab. Values may be secrets. Only get, and list with
--values, print them. These commands send no requests.`,
		Example: `  domtap storage list --session work
  domtap storage set theme dark --origin https://example.com
  domtap storage get step --area session --tab t1`,
	}
	cmd.AddCommand(listStorage(a), getStorage(a), setStorage(a), deleteStorage(a), clearStorage(a))
	cli.OnlySubcommands(cmd)
	return cmd
}

// areaFlags selects a storage area.
type areaFlags struct {
	area            cli.Choice
	session, origin string
}

func (f *areaFlags) register(a *cli.App, cmd *cobra.Command) {
	a.TabCommand(cmd)
	a.SessionFlag(cmd, &f.session, "the session of the local storage (default: the default session)")
	cli.ChoiceFlag(cmd, &f.area, "area", "", "the local storage of a session, or the session storage of a tab (--tab)", "local", "session")
	cmd.Flags().StringVar(&f.origin, "origin", "", "the origin, such as https://example.com (default: all origins for list, and the tab's origin with --area session)")
}

// get returns entries. An empty name selects all entries.
func (f *areaFlags) get(ctx context.Context, c *cli.Client, name string, values bool) ([]*domtapv1.StoredOrigin, error) {
	if f.area.Value == "local" {
		answer, err := client(c).GetLocalStorage(ctx, &domtapv1.GetLocalStorageRequest{SessionId: f.session, Origin: f.origin, Name: name, Values: values})
		return answer.GetOrigins(), err
	}
	tab, err := c.TabID(ctx)
	if err != nil {
		return nil, err
	}
	answer, err := client(c).GetSessionStorage(ctx, &domtapv1.GetSessionStorageRequest{TabId: tab, Origin: f.origin, Name: name, Values: values})
	if err != nil || len(answer.GetStorage().GetEntries()) == 0 {
		return nil, err
	}
	return []*domtapv1.StoredOrigin{answer.GetStorage()}, nil
}

// edit changes entries.
func (f *areaFlags) edit(ctx context.Context, c *cli.Client, e *domtapv1.StorageEdit) error {
	if f.area.Value == "local" {
		if f.origin == "" {
			return usagef("", "missing --origin")
		}
		_, err := client(c).EditLocalStorage(ctx, &domtapv1.EditLocalStorageRequest{SessionId: f.session, Origin: f.origin, Edit: e})
		return err
	}
	tab, err := c.TabID(ctx)
	if err != nil {
		return err
	}
	_, err = client(c).EditSessionStorage(ctx, &domtapv1.EditSessionStorageRequest{TabId: tab, Origin: f.origin, Edit: e})
	return err
}

func listStorage(a *cli.App) *cobra.Command {
	var flags areaFlags
	var values bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the entries of local or session storage",
		Long:    "List the entries of local or session storage with the sizes of their values. With --json, print one StoredOrigin per line.",
		Example: "  domtap storage list --session work\n  domtap storage list --origin https://example.com --values",
		Args:    cli.Args(),
	}
	flags.register(a, cmd)
	cmd.Flags().BoolVar(&values, "values", false, "also print the values")
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, _ []string) error {
		all, err := flags.get(ctx, c, "", values)
		if err != nil {
			return err
		}
		return cli.ShowEach(a.Printer(), all, render.Storage)
	})
	return cmd
}

func getStorage(a *cli.App) *cobra.Command {
	var flags areaFlags
	cmd := &cobra.Command{
		Use:     "get NAME",
		Short:   "Print the value of an entry",
		Long:    "Print the value of an entry of local or session storage.",
		Example: "  domtap storage get theme --origin https://example.com",
		Args:    cli.Args("NAME"), ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags.register(a, cmd)
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, args []string) error {
		all, err := flags.get(ctx, c, args[0], true)
		switch {
		case err != nil:
			return err
		case len(all) == 0:
			return exit.Errorf(exit.NotFound, "run domtap storage list to list the entries", "no entry is named %q", args[0])
		case len(all) > 1:
			return usagef("choose one with --origin", "%d origins have an entry %q", len(all), args[0])
		}
		entry := all[0].GetEntries()[0]
		return a.Printer().Show(entry, func() string { return render.Clean(entry.GetValue()) + "\n" })
	})
	return cmd
}

func setStorage(a *cli.App) *cobra.Command {
	var flags areaFlags
	cmd := &cobra.Command{
		Use:     "set NAME VALUE",
		Short:   "Add or replace an entry",
		Long:    "Add or replace an entry of local or session storage. VALUE - reads standard input. Open pages of the origin see the change.",
		Example: "  domtap storage set theme dark --origin https://example.com",
		Args:    cli.Args("NAME", "VALUE"), ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags.register(a, cmd)
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, args []string) error {
		text, err := value(a, args[1])
		if err != nil {
			return err
		}
		return flags.edit(ctx, c, &domtapv1.StorageEdit{Set: []*domtapv1.StorageEntry{{Name: args[0], Value: text}}})
	})
	return cmd
}

func deleteStorage(a *cli.App) *cobra.Command {
	var flags areaFlags
	cmd := &cobra.Command{
		Use:     "delete NAME…",
		Short:   "Delete entries",
		Long:    "Delete entries of local or session storage. A missing entry is not an error.",
		Example: "  domtap storage delete theme --origin https://example.com",
		Args:    cli.Args("NAME…"), ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags.register(a, cmd)
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, args []string) error {
		return flags.edit(ctx, c, &domtapv1.StorageEdit{Delete: args})
	})
	return cmd
}

func clearStorage(a *cli.App) *cobra.Command {
	var flags areaFlags
	cmd := &cobra.Command{
		Use:     "clear",
		Short:   "Delete all entries of an origin",
		Long:    "Delete all entries of an origin in local or session storage.",
		Example: "  domtap storage clear --origin https://example.com",
		Args:    cli.Args(),
	}
	flags.register(a, cmd)
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, _ []string) error {
		return flags.edit(ctx, c, &domtapv1.StorageEdit{Clear: true})
	})
	return cmd
}
