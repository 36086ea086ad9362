package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/render"
)

func domCommand(a *app) *cobra.Command {
	var view viewFlags
	var cursor string
	var asJSON bool
	cmd := a.tabCommand(&cobra.Command{
		Use:   "dom",
		Short: "Print the elements of a page with all that is known of them",
		Long: `Print the elements of a page as a table, or with --json as one GetDomResponse with
every field: role, states, box, parent, attributes.`,
		Example: `  domtap dom
  domtap dom --json | jq -r '.elements[] | select(.role == "link") | .href'
  domtap dom --all --attr id,data-testid --json`,
		Args: cobra.NoArgs,
	})
	view.register(cmd)
	cmd.Flags().StringVar(&cursor, "cursor", "", "go on where a cut answer stopped")
	cmd.Flags().BoolVar(&asJSON, "json", false, "the same as -o json")
	cmd.RunE = a.calling(func(ctx context.Context, c *client, _ []string) error {
		id, err := c.tabID(ctx)
		if err != nil {
			return err
		}
		request := view.request(id)
		request.Cursor, request.ClientId = cursor, c.id
		answer, err := c.dom.GetDom(ctx, request)
		if err != nil {
			return err
		}
		p := a.printer()
		p.json = p.json || asJSON
		return p.show(answer, func() string { return render.Dom(answer) })
	})
	return cmd
}
