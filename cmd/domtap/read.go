package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

var readModes = map[string]domtapv1.ReadMode{
	"auto":        domtapv1.ReadMode_READ_MODE_AUTO,
	"content":     domtapv1.ReadMode_READ_MODE_CONTENT,
	"interactive": domtapv1.ReadMode_READ_MODE_INTERACTIVE,
	"visual":      domtapv1.ReadMode_READ_MODE_VISUAL,
}

// readFlags are the flags of the command read.
type readFlags struct {
	mode      choice
	maxTokens int32
	cursor    string
	outline   bool
	save      string
	cmd       *cobra.Command
}

func readCommand(a *app) *cobra.Command {
	var flags readFlags
	cmd := a.tabCommand(&cobra.Command{
		Use:   "read [TAB]",
		Short: "Read a page: as text, as a tree to act on, or as a picture",
		Long: `Read a page as its kind asks for: an article as Markdown without what surrounds it, an
application as a tree of what can be acted on, and what is painted as a picture with numbered
marks, which are refs. The page decides, unless --mode does.`,
		Example: `  domtap read
  domtap read --mode content --max-tokens 0 --save page.md
  domtap read --outline                     # headings, each with the cursor that reads on from it
  domtap read --cursor r000000001.12
  domtap read --mode visual --save page.png`,
		Args: cobra.MaximumNArgs(1),
	})
	cmd.ValidArgsFunction = a.completeTabs
	flags.register(cmd)
	cmd.RunE = a.calling(func(ctx context.Context, c *client, args []string) error {
		request, err := flags.request(ctx, c, args)
		if err != nil {
			return err
		}
		answer, err := c.pages.ReadPage(ctx, request)
		if err != nil {
			return err
		}
		return a.showReading(answer, &flags)
	})
	return cmd
}

func (r *readFlags) register(cmd *cobra.Command) {
	r.cmd = cmd
	choiceFlag(cmd, &r.mode, "mode", "m", "how to represent the page", "auto", "content", "interactive", "visual")
	f := cmd.Flags()
	f.Int32Var(&r.maxTokens, "max-tokens", 1500, "what the text may cost; 0: no limit")
	f.StringVar(&r.cursor, "cursor", "", "go on where a cut answer stopped, or from a heading")
	f.BoolVar(&r.outline, "outline", false, "print the headings instead of the text")
	f.StringVar(&r.save, "save", "", "write the text, or the picture of --mode visual, to this file")
}

func (r *readFlags) request(ctx context.Context, c *client, args []string) (*domtapv1.ReadPageRequest, error) {
	request := &domtapv1.ReadPageRequest{Mode: readModes[r.mode.value], Cursor: r.cursor}
	if r.outline && !r.cmd.Flags().Changed("mode") {
		request.Mode = domtapv1.ReadMode_READ_MODE_CONTENT
	}
	if r.cmd.Flags().Changed("max-tokens") {
		request.MaxTokens = proto.Int32(r.maxTokens)
	}
	if len(args) > 0 {
		request.TabId = args[0]
		return request, nil
	}
	id, err := c.tabID(ctx)
	request.TabId = id
	return request, err
}

// showReading prints an answer, or saves the part of it that the flags name.
func (a *app) showReading(answer *domtapv1.ReadPageResponse, flags *readFlags) error {
	p := a.printer()
	if flags.save != "" {
		data := answer.GetImage()
		if len(data) == 0 {
			data = []byte(answer.GetText())
		}
		if err := os.WriteFile(flags.save, data, 0o644); err != nil {
			return fmt.Errorf("save the page: %w", err)
		}
		if len(answer.GetImage()) == 0 {
			return p.show(answer, func() string {
				return fmt.Sprintf("%s: %d bytes\n", flags.save, len(data)) + render.Paragraph(readingFooter(answer))
			})
		}
	}
	return p.show(answer, func() string {
		if flags.outline && flags.save == "" {
			return render.Paragraph(outlineText(answer))
		}
		return render.Paragraph(answer.GetText() + "\n" + readingFooter(answer))
	})
}

// readingFooter says what a text is of its page, and how to go on.
func readingFooter(r *domtapv1.ReadPageResponse) string {
	mode := strings.ToLower(strings.TrimPrefix(r.GetMode().String(), "READ_MODE_"))
	parts := []string{fmt.Sprintf("%s: %d tokens", mode, r.GetTokens())}
	if total := r.GetTotalTokens(); total > r.GetTokens() {
		parts[0] = fmt.Sprintf("%s: %d of %d tokens", mode, r.GetTokens(), total)
	}
	for _, part := range []struct {
		said bool
		text string
	}{
		{r.GetReason() != "", r.GetReason()},
		{r.GetChangedSince(), "the page has changed since"},
		{r.GetPageTruncated(), "the page holds more than was read"},
		{len(r.GetImage()) > 0, fmt.Sprintf("%d marks on a picture, which --save FILE keeps", len(r.GetMarks()))},
		{r.GetNextCursor() != "", "go on with --cursor " + r.GetNextCursor()},
	} {
		if part.said {
			parts = append(parts, part.text)
		}
	}
	return "-- " + strings.Join(parts, "\n-- ") + "\n"
}

// outlineText prints the headings, each with its cursor.
func outlineText(r *domtapv1.ReadPageResponse) string {
	var b strings.Builder
	for _, h := range r.GetOutline() {
		fmt.Fprintf(&b, "%s%s  (%s)\n", strings.Repeat("  ", int(max(h.GetLevel(), 1)-1)), h.GetText(), h.GetCursor())
	}
	if b.Len() == 0 {
		return "The page has no headings.\n"
	}
	return b.String()
}
