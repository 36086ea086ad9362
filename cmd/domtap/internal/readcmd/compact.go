package readcmd

import (
	"context"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

var formats = map[string]domtapv1.Format{
	"lines": domtapv1.Format_FORMAT_LINES,
	"tree":  domtapv1.Format_FORMAT_TREE,
	"diff":  domtapv1.Format_FORMAT_DIFF,
}

// compactFlags are the flags of the command compact.
type compactFlags struct {
	view   viewFlags
	format cli.Choice
	cursor string
	since  uint64
	epoch  string
}

// Compact makes the command compact.
func Compact(a *cli.App) *cobra.Command {
	var flags compactFlags
	cmd := a.TabCommand(&cobra.Command{
		Use:     "compact",
		Aliases: []string{"snapshot"},
		Short:   "Print a page in few tokens: one line per element",
		Long: `Print a page as text that costs few tokens: one line per element.

  [7] Email (input type=email)
   |  |      |     one detail at most: the URL of a link, a value, or a type
   |  |      the tag; role=… follows when the role is not the tag's own
   |  the accessible name
   the ref, for click and type; it stays with the element`,
		Example: `  domtap compact
  domtap compact --viewport-only --max-tokens 1000
  domtap compact --all --root 12
  domtap compact --cursor c1                        # go on where a cut answer stopped
  domtap compact --format diff --since 4 --epoch E  # what changed since revision 4`,
		Args: cli.Args(),
	})
	flags.register(cmd)
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, _ []string) error {
		id, err := c.TabID(ctx)
		if err != nil {
			return err
		}
		request, err := flags.request(cmd, id)
		if err != nil {
			return err
		}
		request.ClientId = c.ID
		answer, err := c.DOM.GetCompact(ctx, request)
		if err != nil {
			return err
		}
		text := render.Paragraph(answer.GetText())
		if flags.format.Value == "diff" && answer.GetResync() == nil {
			return a.Printer().ShowDiff(answer, text)
		}
		return a.Printer().Show(answer, func() string { return text })
	})
	return cmd
}

func (c *compactFlags) register(cmd *cobra.Command) {
	c.view.register(cmd)
	cli.ChoiceFlag(cmd, &c.format, "format", "f", "the format of the text", "lines", "tree", "diff")
	f := cmd.Flags()
	f.StringVar(&c.cursor, "cursor", "", "go on where a cut answer stopped (its header says next: CURSOR)")
	f.Uint64Var(&c.since, "since", 0, "with --format diff: the revision to compare with")
	f.StringVar(&c.epoch, "epoch", "", "with --since: the epoch of that revision")
	cmd.MarkFlagsRequiredTogether("since", "epoch")
}

func (c *compactFlags) request(cmd *cobra.Command, tab string) (*domtapv1.GetCompactRequest, error) {
	request, err := selectAs(c.view.request(tab), &domtapv1.GetCompactRequest{})
	if err != nil {
		return nil, err
	}
	request.Format, request.Cursor = formats[c.format.Value], c.cursor
	if cmd.Flags().Changed("since") {
		request.SinceRevision, request.Epoch = proto.Uint64(c.since), c.epoch
	}
	return request, nil
}
