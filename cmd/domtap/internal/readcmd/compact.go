package readcmd

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

var formats = map[string]domtapv1.Format{
	"lines":      domtapv1.Format_FORMAT_LINES,
	"dense":      domtapv1.Format_FORMAT_DENSE,
	"tree":       domtapv1.Format_FORMAT_TREE,
	"diff":       domtapv1.Format_FORMAT_DIFF,
	"dense_diff": domtapv1.Format_FORMAT_DENSE_DIFF,
}

// compactFlags holds the flags of the commands compact and snapshot.
type compactFlags struct {
	view        viewFlags
	format      cli.Choice
	cursor      string
	hrefs       bool
	each        bool
	history     bool
	incremental bool
	since       uint64
	epoch       string
}

// Compact returns the command compact.
func Compact(a *cli.App) *cobra.Command {
	return pageText(a, &cobra.Command{
		Use:   "compact",
		Short: "Print a page in few tokens: one line per element",
		Long: `Print a page as text with few tokens, one line per element.

  [7] Email (input type=email)
   |  |      |     at most one detail: the URL of a link, a value, or a type
   |  |      the tag, followed by role=… if the role is not the default of the tag
   |  the accessible name
   the ref, for click and type; it never changes for an element

domtap snapshot prints the same page in a third of the tokens.`,
		Example: `  domtap compact
  domtap compact --viewport-only --max-tokens 1000
  domtap compact --all --root 12
  domtap compact --cursor c1                        # continue truncated output
  domtap compact --format diff --incremental        # print the changes since the last one
  domtap compact --format diff --since 4 --epoch E  # print the changes since revision 4`,
	}, "lines", "dense", "tree", "diff", "dense_diff")
}

// Snapshot returns the command snapshot.
func Snapshot(a *cli.App) *cobra.Command {
	return pageText(a, &cobra.Command{
		Use:   "snapshot",
		Short: "Print a page in the fewest tokens: headings, landmarks and elements",
		Long: `Print a page as text in the fewest tokens: the elements that you can act on, with the headings, landmarks
and table rows around them.

  <form Sign in>                            the start of a landmark or group
  ## Your account                           a heading
  [20] E-mail (textbox ="ada@x.org")        ref, name, role and value, for fill and type
  [21] Sign in (button) [22] Help           several elements; a link has no role
  | 1003 | Grace Hopper | [13] Edit         a row of a table

docs/dense.md describes the lines.`,
		Example: `  domtap snapshot
  domtap snapshot --viewport-only --max-tokens 1000
  domtap snapshot --hrefs                           # print the target of every link
  domtap snapshot --format dense_diff               # print the changes since the last snapshot or action
  domtap snapshot --cursor c1                       # continue truncated output`,
	}, "dense", "lines", "tree", "diff", "dense_diff")
}

// pageText returns a command that prints a page as text. The first format is the default.
func pageText(a *cli.App, cmd *cobra.Command, formats ...string) *cobra.Command {
	var flags compactFlags
	cmd.Args = cli.Args()
	a.TabCommand(cmd)
	flags.register(cmd, formats)
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
		isDense := request.GetFormat() == domtapv1.Format_FORMAT_DENSE || request.GetFormat() == domtapv1.Format_FORMAT_DENSE_DIFF
		request.Brief = isDense && a.Printer().Brief(flags.each)
		answer, err := c.DOM.GetCompact(ctx, request)
		if err != nil {
			return err
		}
		text := render.Paragraph(answer.GetText()) + render.LateFrames(answer.GetMetadata())
		if strings.HasSuffix(flags.format.Value, "diff") && answer.GetResync() == nil {
			return a.Printer().ShowDiff(answer, text)
		}
		return a.Printer().Show(answer, func() string { return text })
	})
	return cmd
}

func (c *compactFlags) register(cmd *cobra.Command, formats []string) {
	c.view.register(cmd)
	cli.ChoiceFlag(cmd, &c.format, "format", "f", "the format of the text", formats...)
	f := cmd.Flags()
	f.StringVar(&c.cursor, "cursor", "", "continue truncated output; its header contains next: CURSOR")
	f.BoolVar(&c.hrefs, "hrefs", false, "with --format dense: print the target of every link")
	f.BoolVar(&c.each, "each", false, "with --format dense: print each element separately")
	f.BoolVar(&c.history, "history", false, "with --format dense: print the previous pages of the tab")
	f.BoolVar(&c.incremental, "incremental", false, "with --format diff or dense_diff: print the changes since this terminal last read the page")
	f.Uint64Var(&c.since, "since", 0, "with --format diff or dense_diff: print the changes since this revision")
	f.StringVar(&c.epoch, "epoch", "", "with --since: the epoch of that revision")
	cli.MarkRare(f, "each", "epoch", "history", "incremental", "since")
	cmd.MarkFlagsRequiredTogether("since", "epoch")
}

func (c *compactFlags) request(cmd *cobra.Command, tab string) (*domtapv1.GetCompactRequest, error) {
	request, err := selectAs(c.view.request(tab), &domtapv1.GetCompactRequest{})
	if err != nil {
		return nil, err
	}
	request.Format, request.Cursor, request.Hrefs = formats[c.format.Value], c.cursor, c.hrefs
	if strings.HasPrefix(c.format.Value, "dense") {
		request.IncludeHistory = proto.Bool(c.history)
	}
	request.Incremental = c.incremental || c.format.Value == "dense_diff" && !cmd.Flags().Changed("since")
	if cmd.Flags().Changed("since") {
		request.SinceRevision, request.Epoch = proto.Uint64(c.since), c.epoch
	}
	return request, nil
}
