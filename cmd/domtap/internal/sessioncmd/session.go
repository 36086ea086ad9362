// Package sessioncmd provides the command session, for isolated sessions and their storage.
package sessioncmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/profileflags"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	"github.com/domtap/domtap/cmd/domtap/internal/sessionflags"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/sessions"
)

// Session returns the command session with its subcommands.
func Session(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "session",
		Short: "Create, change, save and load isolated sessions",
		Long: `A session has its own cookies, storage, cache and permissions, and emulates one device for its pages. The
session named default always exists.`,
		Example: `  domtap session new work --device "iPhone 15" --locale de-DE
  domtap open https://example.com --session work
  domtap session save work state.json
  domtap session close work`,
	}
	cmd.AddCommand(newSession(a), login(a), list(a), set(a), save(a), load(a), closeSessions(a), devices(a))
	cli.OnlySubcommands(cmd)
	return cmd
}

// settingsFlags defines the flags of session settings. Only flags with passwords have an environment variable.
func settingsFlags(cmd *cobra.Command) *sessionflags.Settings {
	s := new(sessionflags.Settings)
	s.Register(cmd.Flags())
	cli.BindEnv(cmd.Flags(), "credentials", "proxy")
	return s
}

func usageError(err error) error { return exit.Errorf(exit.Usage, "", "%w", err) }

func newSession(a *cli.App) *cobra.Command {
	var file, profile string
	cmd := &cobra.Command{
		Use:   "new [NAME]",
		Short: "Create a session and print its name",
		Long:  "Create a session and print its name. NAME is 1 to 64 letters, digits, - and _. Without NAME, the daemon chooses a name.",
		Example: `  domtap session new
  domtap session new phone --device "Pixel 8" --timezone Europe/Berlin --color-scheme dark
  domtap session new again --state state.json
  domtap session new shop --profile shop --profile-identity key.txt`,
		Args: cli.Args("[NAME]"),
	}
	a.Flags.Register(cmd)
	cmd.Flags().StringVar(&file, "state", "", "load cookies and storage from this file; - is standard input")
	cmd.Flags().StringVar(&profile, "profile", "", "load cookies and storage from this login profile (domtap profile list)")
	_ = cmd.RegisterFlagCompletionFunc("profile", profileflags.Complete(a)) // the flag exists
	cmd.MarkFlagsMutuallyExclusive("state", "profile")
	profiles := profileflags.Register(a, cmd)
	settings := settingsFlags(cmd)
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, args []string) error {
		request := &domtapv1.CreateSessionRequest{SessionId: strings.Join(args, "")}
		var err error
		if request.Settings, err = settings.Message(); err != nil {
			return usageError(err)
		}
		if file != "" {
			if request.StorageState, err = readState(a, file); err != nil {
				return err
			}
		}
		if profile != "" {
			if request.StorageState, err = profiles.Load(profile); err != nil {
				return err
			}
		}
		answer, err := c.Sessions.CreateSession(ctx, request)
		if err != nil {
			return err
		}
		return a.Printer().Show(answer.GetSession(), func() string { return answer.GetSession().GetId() + "\n" })
	})
	return cmd
}

func list(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the sessions, the default session first",
		Long:  "List the sessions, the default session first, then the others, oldest first. With --json, print one Session per line.",
		Args:  cli.Args(),
	}
	a.Flags.Register(cmd)
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, _ []string) error {
		answer, err := c.Sessions.ListSessions(ctx, &domtapv1.ListSessionsRequest{})
		if err != nil {
			return err
		}
		return cli.ShowEach(a.Printer(), answer.GetSessions(), render.Sessions)
	})
	return cmd
}

func devices(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "devices",
		Short: "List the devices that a session can emulate",
		Long: `List the devices that --device accepts, with their viewport in CSS pixels, device pixels per CSS pixel, touch
and mobile layout. The list is part of the program and needs no daemon. With --json, print one device per line.`,
		Example: "  domtap session devices",
		Args:    cli.Args(),
	}
	a.Flags.RegisterOutput(cmd)
	cmd.RunE = cli.Work(func(*cobra.Command, []string) error {
		out := a.Printer()
		if !out.JSON {
			return out.Text(render.Devices(sessions.Devices()))
		}
		for _, d := range sessions.Devices() {
			if err := out.ShowValue(deviceLine{d.Name, d.Width, d.Height, d.Scale, d.Touch, d.Mobile}, ""); err != nil {
				return err
			}
		}
		return nil
	})
	return cmd
}

// deviceLine is the JSON form of a device.
type deviceLine struct {
	Name   string  `json:"name"`
	Width  int     `json:"width"`
	Height int     `json:"height"`
	Scale  float64 `json:"scale"`
	Touch  bool    `json:"touch"`
	Mobile bool    `json:"mobile"`
}

func set(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "set NAME",
		Short: "Replace the settings of a session and of its open tabs",
		Long: `Replace all settings of a session. A setting without its flag returns to the default of the browser. Open tabs
change immediately if the browser allows it, otherwise with their next document.`,
		Example: "  domtap session set default --locale fr-FR --timezone Europe/Paris\n  domtap session set work --offline",
		Args:    cli.Args("NAME"), ValidArgsFunction: a.CompleteSessions,
	}
	a.Flags.Register(cmd)
	settings := settingsFlags(cmd)
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, args []string) error {
		message, err := settings.Message()
		if err != nil {
			return usageError(err)
		}
		answer, err := c.Sessions.UpdateSession(ctx, &domtapv1.UpdateSessionRequest{SessionId: args[0], Settings: message})
		if err != nil {
			return err
		}
		return a.Printer().Show(answer.GetSession(), func() string { return "" })
	})
	return cmd
}

func closeSessions(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "close NAME…",
		Short: "Close sessions with their tabs and delete their stored data",
		Long:  "Close sessions with their tabs and delete their stored data. To keep the data, save the session first.",
		Args:  cli.Args("NAME…"), ValidArgsFunction: a.CompleteSessions,
	}
	a.Flags.Register(cmd)
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, args []string) error {
		for _, id := range args {
			if _, err := c.Sessions.CloseSession(ctx, &domtapv1.CloseSessionRequest{SessionId: id}); err != nil {
				return err
			}
		}
		return nil
	})
	return cmd
}

func save(a *cli.App) *cobra.Command {
	var databases bool
	cmd := &cobra.Command{
		Use:   "save NAME FILE",
		Short: "Save the cookies and the storage of a session",
		Long: `Save the cookies of a session, and the local storage of the origins that its tabs showed, as JSON in the
format of Playwright's storageState. With --indexed-db, also save their IndexedDB databases. Data that cannot
be saved is listed. The file contains logins, so only you can read it. FILE - writes to standard output.`,
		Example: "  domtap session save default state.json\n  domtap session save work state.json --indexed-db",
		Args:    cli.Args("NAME", "FILE"), ValidArgsFunction: a.CompleteSessions,
	}
	a.Flags.Register(cmd)
	DatabasesFlag(cmd, &databases, false)
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, args []string) error {
		state, err := State(ctx, a, c, args[0], databases)
		if err != nil {
			return err
		}
		raw, err := sessionflags.EncodeState(state)
		if err != nil {
			return err
		}
		if args[1] == "-" {
			_, err = a.Out.Write(render.JSON(raw))
			return err
		}
		if err := writePrivate(args[1], raw); err != nil {
			return exit.Errorf(exit.Failure, "", "save the session: %w", err)
		}
		return nil
	})
	return cmd
}

// DatabasesFlag defines the flag that includes databases in a state.
func DatabasesFlag(cmd *cobra.Command, databases *bool, standard bool) {
	cmd.Flags().BoolVar(databases, "indexed-db", standard, "also save the IndexedDB databases")
}

// State reads the storage state of a session and prints what it omits.
func State(ctx context.Context, a *cli.App, c *cli.Client, session string, databases bool) (*domtapv1.StorageState, error) {
	answer, err := c.Sessions.GetStorageState(ctx, &domtapv1.GetStorageStateRequest{SessionId: session, IndexedDb: databases})
	if err != nil {
		return nil, err
	}
	for _, o := range answer.GetOmissions() {
		a.Warn(errors.New(omission(o)))
	}
	return answer.GetState(), nil
}

// omission describes what a state omits.
func omission(o *domtapv1.StorageOmission) string {
	what := fmt.Sprintf("database %q of %s", o.GetDatabase(), o.GetOrigin())
	if o.GetStore() != "" {
		what = fmt.Sprintf("%d records of store %q in %s", o.GetRecords(), o.GetStore(), what)
	}
	return fmt.Sprintf("not saved: %s: %s", what, o.GetReason())
}

// writePrivate replaces a file by one that only this user can read, whatever mode the old file had.
func writePrivate(file string, raw []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(file), ".domtap-*") // creates a new file with mode 0600 and follows no existing link
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temporary.Name()) }() // fails after a successful rename
	_, err = temporary.Write(raw)
	if err = errors.Join(err, temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), file)
}

func load(a *cli.App) *cobra.Command {
	var replace bool
	cmd := &cobra.Command{
		Use:   "load NAME FILE",
		Short: "Load cookies and storage into a session",
		Long: `Load a file from domtap session save or from Playwright into a session. Open tabs use the new state from
their next document on. Databases of the same name are replaced completely. FILE - reads standard input.`,
		Example: "  domtap session load work state.json --replace",
		Args:    cli.Args("NAME", "FILE"), ValidArgsFunction: a.CompleteSessions,
	}
	a.Flags.Register(cmd)
	cmd.Flags().BoolVar(&replace, "replace", false, "first delete the stored data of the session")
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, args []string) error {
		state, err := readState(a, args[1])
		if err != nil {
			return err
		}
		_, err = c.Sessions.SetStorageState(ctx, &domtapv1.SetStorageStateRequest{SessionId: args[0], State: state, Replace: replace})
		return err
	})
	return cmd
}

// readState reads a storage state from a file or standard input.
func readState(a *cli.App, file string) (*domtapv1.StorageState, error) {
	raw, err := a.ReadFile(file)
	if err != nil {
		return nil, exit.Errorf(exit.Usage, "create such a file with domtap session save", "read the storage state: %w", err)
	}
	state, err := sessionflags.DecodeState(raw)
	if err != nil {
		return nil, exit.Errorf(exit.Usage, "create such a file with domtap session save", "%s: %w", file, err)
	}
	return state, nil
}
