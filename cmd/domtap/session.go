package main

import (
	"context"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	"github.com/domtap/domtap/cmd/domtap/internal/sessionflags"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

func sessionCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "session",
		Short: "Make, change, save and load isolated sessions",
		Long: `A session has its own cookies, storage, cache and permissions, and says what device its pages
are on. The one named default exists always.`,
		Example: `  domtap session new work --device "iPhone 15" --locale de-DE
  domtap open https://example.com --session work
  domtap session save work state.json
  domtap session close work`,
	}
	for _, make := range []func(*app) *cobra.Command{sessionNew, sessionList, sessionSet, sessionSave, sessionLoad, sessionClose} {
		cmd.AddCommand(make(a))
	}
	onlyCommands(cmd)
	return cmd
}

// settingsFlags defines the flags of settings; only the credentials are for the environment too.
func settingsFlags(cmd *cobra.Command) *sessionflags.Settings {
	s := new(sessionflags.Settings)
	s.Register(cmd.Flags())
	alsoEnv(cmd.Flags(), "credentials")
	return s
}

func usageError(err error) error { return exit.Errorf(exit.Usage, "", "%w", err) }

func sessionNew(a *app) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "new [NAME]",
		Short: "Create a session and print its name",
		Long:  "Create a session and print its name: 1 to 64 letters, digits, - and _. Without NAME it gets one.",
		Example: `  domtap session new
  domtap session new phone --device "Pixel 8" --timezone Europe/Berlin --color-scheme dark
  domtap session new again --state state.json`,
		Args: cobra.MaximumNArgs(1),
	}
	a.common.register(cmd)
	cmd.Flags().StringVar(&file, "state", "", "load cookies and local storage from this file; - is standard input")
	settings := settingsFlags(cmd)
	cmd.RunE = a.calling(func(ctx context.Context, c *client, args []string) error {
		request := &domtapv1.CreateSessionRequest{SessionId: strings.Join(args, "")}
		var err error
		if request.Settings, err = settings.Message(); err != nil {
			return usageError(err)
		}
		if file != "" {
			if request.StorageState, err = a.readState(file); err != nil {
				return err
			}
		}
		answer, err := c.rooms.CreateSession(ctx, request)
		if err != nil {
			return err
		}
		return a.printer().show(answer.GetSession(), func() string { return answer.GetSession().GetId() + "\n" })
	})
	return cmd
}

func sessionList(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the sessions, the default one first",
		Long:  "List the sessions, the default one first, then oldest first. With -o json one Session per line.",
		Args:  cobra.NoArgs,
	}
	a.common.register(cmd)
	cmd.RunE = a.calling(func(ctx context.Context, c *client, _ []string) error {
		answer, err := c.rooms.ListSessions(ctx, &domtapv1.ListSessionsRequest{})
		if err != nil {
			return err
		}
		p := a.printer()
		if !p.json {
			return p.text(render.Sessions(answer.GetSessions()))
		}
		for _, one := range answer.GetSessions() {
			if err := p.message(one); err != nil {
				return err
			}
		}
		return nil
	})
	return cmd
}

func sessionSet(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "set NAME",
		Short: "Replace the settings of a session, for its open tabs too",
		Long: `Replace all settings of a session. What no flag names goes back to the browser's own. Open tabs
follow at once where they can, and at their next document at the latest.`,
		Example: "  domtap session set default --locale fr-FR --timezone Europe/Paris\n  domtap session set work --offline",
		Args:    exactly("the name of a session"), ValidArgsFunction: a.completeSessions,
	}
	a.common.register(cmd)
	settings := settingsFlags(cmd)
	cmd.RunE = a.calling(func(ctx context.Context, c *client, args []string) error {
		message, err := settings.Message()
		if err != nil {
			return usageError(err)
		}
		answer, err := c.rooms.UpdateSession(ctx, &domtapv1.UpdateSessionRequest{SessionId: args[0], Settings: message})
		if err != nil || !a.printer().json {
			return err
		}
		return a.printer().message(answer.GetSession())
	})
	return cmd
}

func sessionSave(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "save NAME FILE",
		Short: "Save the cookies and the local storage of a session",
		Long: `Save the cookies of a session, and the local storage of the origins that its tabs showed, as
JSON with the names of Playwright's storageState. Whoever has the file is logged in: only you can
read it. FILE - writes to standard output.`,
		Example: "  domtap session save default state.json",
		Args:    exactly("the name of a session", "a file name"), ValidArgsFunction: a.completeSessions,
	}
	a.common.register(cmd)
	cmd.RunE = a.calling(func(ctx context.Context, c *client, args []string) error {
		answer, err := c.rooms.GetStorageState(ctx, &domtapv1.GetStorageStateRequest{SessionId: args[0]})
		if err != nil {
			return err
		}
		raw, err := sessionflags.EncodeState(answer.GetState())
		if err != nil {
			return err
		}
		if args[1] == "-" {
			_, err = a.out.Write(render.JSON(raw))
			return err
		}
		if err := writePrivately(args[1], raw); err != nil {
			return exit.Errorf(exit.Failure, "", "save the session: %w", err)
		}
		return nil
	})
	return cmd
}

// writePrivately replaces a file by one that only this user can read, whatever the mode of an earlier one was.
func writePrivately(file string, raw []byte) error {
	beside := file + ".new"
	if err := os.Remove(beside); err != nil && !os.IsNotExist(err) {
		return err
	}
	if err := os.WriteFile(beside, raw, 0o600); err != nil {
		return err
	}
	return os.Rename(beside, file)
}

func sessionLoad(a *app) *cobra.Command {
	var replace bool
	cmd := &cobra.Command{
		Use:   "load NAME FILE",
		Short: "Load cookies and local storage into a session",
		Long: `Load what session save, or Playwright, has written into a session. Open tabs see it when they
load their next document. FILE - reads standard input.`,
		Example: "  domtap session load work state.json --replace",
		Args:    exactly("the name of a session", "a file name"), ValidArgsFunction: a.completeSessions,
	}
	a.common.register(cmd)
	cmd.Flags().BoolVar(&replace, "replace", false, "forget what the session has stored first")
	cmd.RunE = a.calling(func(ctx context.Context, c *client, args []string) error {
		state, err := a.readState(args[1])
		if err != nil {
			return err
		}
		_, err = c.rooms.SetStorageState(ctx, &domtapv1.SetStorageStateRequest{SessionId: args[0], State: state, Replace: replace})
		return err
	})
	return cmd
}

// readState reads a storage state from a file, or from standard input.
func (a *app) readState(file string) (*domtapv1.StorageState, error) {
	var raw []byte
	var err error
	if file == "-" {
		raw, err = io.ReadAll(a.in)
	} else {
		raw, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, exit.Errorf(exit.Usage, "domtap session save writes such a file", "read the storage state: %w", err)
	}
	state, err := sessionflags.DecodeState(raw)
	if err != nil {
		return nil, exit.Errorf(exit.Usage, "domtap session save writes such a file", "%s: %w", file, err)
	}
	return state, nil
}

func sessionClose(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "close NAME…",
		Short: "Close sessions with their tabs, and forget what they stored",
		Long:  "Close sessions with their tabs, and forget what they stored. Save it before, if it is to be kept.",
		Args:  cobra.MinimumNArgs(1), ValidArgsFunction: a.completeSessions,
	}
	a.common.register(cmd)
	cmd.RunE = a.calling(func(ctx context.Context, c *client, args []string) error {
		for _, id := range args {
			if _, err := c.rooms.CloseSession(ctx, &domtapv1.CloseSessionRequest{SessionId: id}); err != nil {
				return err
			}
		}
		return nil
	})
	return cmd
}

// sessionFlag defines --session.
func (a *app) sessionFlag(cmd *cobra.Command, session *string, usage string) {
	cmd.Flags().StringVarP(session, "session", "s", "", usage)
	alsoEnv(cmd.Flags(), "session")
	// The only error is a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc("session", func(cmd *cobra.Command, _ []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return a.completeSessions(cmd, nil, prefix)
	})
}

// completeSessions offers the names of the sessions, for the first argument.
func (a *app) completeSessions(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 && cmd.Name() != "close" {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return a.asking(cmd, func(ctx context.Context, c *client) ([]cobra.Completion, error) {
		answer, err := c.rooms.ListSessions(ctx, &domtapv1.ListSessionsRequest{})
		var found []cobra.Completion
		for _, one := range answer.GetSessions() {
			if strings.HasPrefix(one.GetId(), prefix) {
				found = append(found, one.GetId())
			}
		}
		return found, err
	})
}
