package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

func downloadsCommand(a *app) *cobra.Command {
	var session string
	cmd := &cobra.Command{
		Use:   "downloads",
		Short: "List what pages downloaded, newest first, and where it is",
		Long: `List the last 100 downloads of a session, newest first: how far each is, and where the file is.

Files go into a folder of the session that only you can open. It is removed when the daemon
stops, unless it was started with --downloads-dir. With -o json one Download per line.`,
		Example: "  domtap downloads\n  domtap downloads -o json | jq -r .path",
		Args:    cobra.NoArgs,
	}
	a.common.register(cmd)
	cmd.Flags().StringVar(&session, "session", "", "the session (default: the one named default)")
	cmd.RunE = a.calling(func(ctx context.Context, c *client, _ []string) error {
		answer, err := domtapv1.NewSessionServiceClient(c.conn).ListDownloads(ctx, &domtapv1.ListDownloadsRequest{SessionId: session})
		if err != nil {
			return err
		}
		if a.common.output.value == outputJSON {
			for _, one := range answer.GetDownloads() {
				if err := a.printer().message(one); err != nil {
					return err
				}
			}
			return nil
		}
		if len(answer.GetDownloads()) == 0 {
			return a.printer().text("nothing was downloaded\n")
		}
		return a.printer().text(render.Downloads(answer.GetDownloads()))
	})
	return cmd
}
