package actcmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Downloads returns the command downloads.
func Downloads(a *cli.App) *cobra.Command {
	var session string
	cmd := &cobra.Command{
		Use:   "downloads",
		Short: "List the downloads of a session, newest first",
		Long: `List the last 100 downloads of a session, newest first, with their progress and the paths of their files.

The files are in a directory of the session that only you can open. The daemon removes the directory when
it stops, unless it runs with --downloads-dir of domtap serve. With --json, print one Download per line.`,
		Example: "  domtap downloads\n  domtap downloads --json | jq -r .path",
		Args:    cli.Args(),
	}
	a.Flags.Register(cmd)
	cmd.Flags().StringVar(&session, "session", "", "the session (default: the default session)")
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, _ []string) error {
		answer, err := domtapv1.NewSessionServiceClient(c.Conn).ListDownloads(ctx, &domtapv1.ListDownloadsRequest{SessionId: session})
		if err != nil {
			return err
		}
		return cli.ShowEach(a.Printer(), answer.GetDownloads(), func(all []*domtapv1.Download) string {
			if len(all) == 0 {
				return "no downloads\n"
			}
			return render.Downloads(all)
		})
	})
	return cmd
}
