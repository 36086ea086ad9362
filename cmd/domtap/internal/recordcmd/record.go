// Package recordcmd provides the commands record and replay, for recordings of tabs.
package recordcmd

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Record returns the command record with its subcommands.
func Record(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "record",
		Short: "Record tabs to files with DOM states, client actions and pictures",
		Long: `Record tabs to files on the daemon's machine: every state of the DOM, the actions of clients, the log of the
page, and small pictures. Data that is masked in responses is also masked in the files. domtap replay shows a
recording.

The files are in the directory of domtap serve --record, by default in the directory recordings of the state
directory.`,
		Example: `  domtap record start
  domtap record start --session work
  domtap record stop
  domtap record list`,
	}
	cmd.AddCommand(start(a), stop(a), list(a))
	cli.OnlySubcommands(cmd)
	return cmd
}

// scope selects the tabs of a command.
type scope struct {
	session string
	all     bool
}

func (s *scope) register(a *cli.App, cmd *cobra.Command) {
	a.SessionFlag(cmd, &s.session, "all tabs of this session, including tabs opened later, instead of one tab")
	cmd.Flags().BoolVar(&s.all, "all", false, "all tabs, including tabs opened later")
	cmd.MarkFlagsMutuallyExclusive("session", "all")
}

// tab returns the tab of a command. It returns an empty string if the command applies to several tabs.
func (s *scope) tab(ctx context.Context, c *cli.Client) (string, error) {
	if s.all || s.session != "" {
		return "", nil
	}
	return c.TabID(ctx)
}

func start(a *cli.App) *cobra.Command {
	var in scope
	var bytes int64
	var age time.Duration
	request := new(domtapv1.RecordRequest)
	cmd := a.TabCommand(&cobra.Command{
		Use:   "start",
		Short: "Start recording a tab, a session or all tabs",
		Long: `Start recording a tab, the tabs of a session with --session, or all tabs with --all, and print the recordings. A
tab that is being recorded is not recorded twice. The recording of a tab ends with domtap record stop, when the
tab is closed, or at --max-age or --max-bytes.`,
		Example: "  domtap record start\n  domtap record start --all --max-age 1h --max-bytes 100000000",
		Args:    cli.Args(),
	})
	in.register(a, cmd)
	f := cmd.Flags()
	f.Int64Var(&bytes, "max-bytes", 0, "end the recording of a tab at this size in bytes (default: 268435456)")
	f.DurationVar(&age, "max-age", 0, "end the recording of a tab after this time (default: 24h)")
	f.BoolVar(&request.OmitPictures, "omit-pictures", false, "record no pictures")
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, _ []string) (err error) {
		if request.TabId, err = in.tab(ctx, c); err != nil {
			return err
		}
		request.SessionId = in.session
		if cmd.Flags().Changed("max-bytes") {
			request.MaxBytes = &bytes
		}
		if cmd.Flags().Changed("max-age") {
			request.MaxAge = durationpb.New(age)
		}
		answer, err := domtapv1.NewRecordingServiceClient(c.Conn).Record(ctx, request)
		if err != nil {
			return err
		}
		return show(a, answer.GetRecordings())
	})
	return cmd
}

func stop(a *cli.App) *cobra.Command {
	var in scope
	cmd := a.TabCommand(&cobra.Command{
		Use:   "stop [RECORDING]",
		Short: "Stop recordings and print their files",
		Long: `Stop the recording of a tab, the recording named RECORDING, the recordings of a session with --session, or all
recordings with --all, and print them. Their files are then complete.`,
		Example: "  domtap record stop\n  domtap record stop --all",
		Args:    cli.Args("[RECORDING]"),
	})
	in.register(a, cmd)
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, args []string) (err error) {
		request := &domtapv1.StopRecordingRequest{SessionId: in.session}
		switch {
		case len(args) > 0 && (in.all || in.session != ""):
			return exit.Errorf(exit.Usage, "omit --all and --session", "a recording is named, and others, too")
		case len(args) > 0:
			request.RecordingId = args[0]
		default:
			if request.TabId, err = in.tab(ctx, c); err != nil {
				return err
			}
		}
		answer, err := domtapv1.NewRecordingServiceClient(c.Conn).StopRecording(ctx, request)
		if err != nil {
			return err
		}
		return show(a, answer.GetRecordings())
	})
	return cmd
}

func list(a *cli.App) *cobra.Command {
	request := new(domtapv1.ListRecordingsRequest)
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List running recordings and recordings that ended since the daemon started",
		Long:    "List the running recordings and the recordings that ended since the daemon started, newest first.",
		Example: "  domtap record list\n  domtap record list --json | jq -r '.file'",
		Args:    cli.Args(),
	}
	a.Flags.Register(cmd)
	a.SessionFlag(cmd, &request.SessionId, "only recordings of this session")
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, _ []string) error {
		answer, err := domtapv1.NewRecordingServiceClient(c.Conn).ListRecordings(ctx, request)
		if err != nil {
			return err
		}
		return show(a, answer.GetRecordings())
	})
	return cmd
}

func show(a *cli.App, all []*domtapv1.Recording) error {
	return cli.ShowEach(a.Printer(), all, render.Recordings)
}
