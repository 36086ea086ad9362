// Package profilecmd provides the command profile, which manages encrypted login profiles.
package profilecmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/profileflags"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	"github.com/domtap/domtap/cmd/domtap/internal/sessioncmd"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/endpoint"
)

// Profile returns the command profile with its subcommands.
func Profile(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "profile",
		Short: "Save logins as named, encrypted profiles",
		Long: `Save the stored data of sessions, such as logins, as named profiles in files encrypted with age. The key is a
passphrase (--profile-passphrase-file, or $` + endpoint.PassphraseVariable + `) or an age identity (--profile-identity).
domtap session new --profile NAME creates a session from a profile. The daemon learns neither the key nor the
name.`,
		Example: `  domtap profile save shop --session work --profile-identity key.txt
  domtap session new again --profile shop --profile-identity key.txt
  domtap profile list`,
	}
	cmd.AddCommand(save(a), refresh(a), load(a), list(a), remove(a))
	cli.OnlySubcommands(cmd)
	return cmd
}

// saveFlags holds the flags of commands that save a session.
type saveFlags struct {
	session   string
	databases bool
	*profileflags.Profiles
}

func (f *saveFlags) register(a *cli.App, cmd *cobra.Command) {
	a.Flags.Register(cmd)
	a.SessionFlag(cmd, &f.session, "the session to save (default: the default session)")
	sessioncmd.DatabasesFlag(cmd, &f.databases, true)
	f.Profiles = profileflags.Register(a, cmd)
}

func save(a *cli.App) *cobra.Command {
	var flags saveFlags
	var replace bool
	cmd := &cobra.Command{
		Use:   "save NAME",
		Short: "Save the stored data of a session as a profile",
		Long: `Save the cookies of a session, and the local storage and databases of the origins that its tabs showed, as a
profile. NAME is 1 to 64 letters, digits, -, _ and dots.`,
		Example: "  domtap profile save shop --session work --profile-passphrase-file pass.txt",
		Args:    cli.Args("NAME"), ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags.register(a, cmd)
	cmd.Flags().BoolVar(&replace, "replace", false, "replace an existing profile of this name, whatever its key")
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, args []string) error {
		if err := flags.Check(args[0], replace); err != nil {
			return err
		}
		state, err := sessioncmd.State(ctx, a, c, flags.session, flags.databases)
		if err != nil {
			return err
		}
		return flags.Save(args[0], state, replace)
	})
	return cmd
}

func refresh(a *cli.App) *cobra.Command {
	var flags saveFlags
	cmd := &cobra.Command{
		Use:   "refresh NAME",
		Short: "Update a profile with the current data of a session",
		Long: `Replace a profile with the current data of a session. Do this when sites have renewed their cookies. The key
must be the key of the profile.`,
		Example: "  domtap profile refresh shop --session work --profile-passphrase-file pass.txt",
		Args:    cli.Args("NAME"), ValidArgsFunction: profileflags.Complete(a),
	}
	flags.register(a, cmd)
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, args []string) error {
		if _, err := flags.Load(args[0]); err != nil {
			return err
		}
		state, err := sessioncmd.State(ctx, a, c, flags.session, flags.databases)
		if err != nil {
			return err
		}
		return flags.Save(args[0], state, true)
	})
	return cmd
}

func load(a *cli.App) *cobra.Command {
	var session string
	var replace bool
	cmd := &cobra.Command{
		Use:   "load NAME",
		Short: "Load a profile into a session",
		Long:  "Load a profile into a session. Open tabs use it from their next document on. To create a session from a profile,\nrun domtap session new --profile NAME.",
		Example: `  domtap profile load shop --session work --profile-passphrase-file pass.txt
  domtap profile load shop --replace`,
		Args: cli.Args("NAME"), ValidArgsFunction: profileflags.Complete(a),
	}
	a.Flags.Register(cmd)
	a.SessionFlag(cmd, &session, "the session to load it into (default: the default session)")
	cmd.Flags().BoolVar(&replace, "replace", false, "first delete the stored data of the session")
	key := profileflags.Register(a, cmd)
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, args []string) error {
		state, err := key.Load(args[0])
		if err != nil {
			return err
		}
		_, err = c.Sessions.SetStorageState(ctx, &domtapv1.SetStorageStateRequest{SessionId: session, State: state, Replace: replace})
		return err
	})
	return cmd
}

func list(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the profiles",
		Long:  "List the profiles with the times at which they were saved, their sizes and the types of their keys. Their contents can\nonly be read with the key. With --json, print one profile per line.",
		Args:  cli.Args(),
	}
	a.Flags.Register(cmd)
	cmd.RunE = a.WithoutDaemon(func(context.Context, endpoint.Target, []string) error {
		s, err := profileflags.Store(a)
		if err != nil {
			return err
		}
		all, err := s.List()
		if err != nil {
			return profileflags.Explain(err)
		}
		printer := a.Printer()
		if !printer.JSON {
			return printer.Text(render.Profiles(all))
		}
		for _, one := range all {
			if err := printer.ShowValue(one, ""); err != nil {
				return err
			}
		}
		return nil
	})
	return cmd
}

func remove(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "delete NAME…",
		Short:   "Delete profiles",
		Long:    "Delete profiles. Sessions that were created from them keep their data.",
		Example: "  domtap profile delete shop",
		Args:    cli.Args("NAME…"), ValidArgsFunction: profileflags.Complete(a),
	}
	a.Flags.Register(cmd)
	cmd.RunE = a.WithoutDaemon(func(_ context.Context, _ endpoint.Target, args []string) error {
		s, err := profileflags.Store(a)
		if err != nil {
			return err
		}
		for _, name := range args {
			if err := s.Delete(name); err != nil {
				return profileflags.Explain(err)
			}
		}
		return nil
	})
	return cmd
}
