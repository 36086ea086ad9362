package readcmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
)

// DOM returns the command dom.
func DOM(a *cli.App) *cobra.Command {
	var view viewFlags
	var cursor string
	cmd := a.TabCommand(&cobra.Command{
		Use:   "dom",
		Short: "Print the elements of a page with all their properties",
		Long: `Print the elements of a page as a table. With --json, print one GetDomResponse with all fields, such as role,
states, box, parent and attributes.`,
		Example: `  domtap dom
  domtap dom --json | jq -r '.elements[] | select(.role == "link") | .href'
  domtap dom --all --attr id,data-testid --json`,
		Args: cli.Args(),
	})
	view.register(cmd)
	cmd.Flags().StringVar(&cursor, "cursor", "", "continue truncated output")
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, _ []string) error {
		id, err := c.TabID(ctx)
		if err != nil {
			return err
		}
		request := view.request(id)
		request.Cursor, request.ClientId = cursor, c.ID
		answer, err := c.DOM.GetDom(ctx, request)
		if err != nil {
			return err
		}
		return a.Printer().Show(answer, func() string { return render.Dom(answer) })
	})
	return cmd
}
