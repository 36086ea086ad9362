// Package readcmd provides the commands that read a page: read, snapshot, compact, find, dom, watch, wait, shot, pdf, extract, batch, log
// and prune. It also provides search, which finds pages.
package readcmd

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/plural"
)

var readModes = map[string]domtapv1.ReadMode{
	"auto":        domtapv1.ReadMode_READ_MODE_AUTO,
	"content":     domtapv1.ReadMode_READ_MODE_CONTENT,
	"interactive": domtapv1.ReadMode_READ_MODE_INTERACTIVE,
	"visual":      domtapv1.ReadMode_READ_MODE_VISUAL,
}

// readFlags holds the flags of the command read.
type readFlags struct {
	mode      cli.Choice
	maxTokens int32
	cursor    string
	ref       uint32
	outline   bool
	save      string
	download  string
	path      string
	cmd       *cobra.Command
}

// Read returns the command read.
func Read(a *cli.App) *cobra.Command {
	var flags readFlags
	cmd := a.TabCommand(&cobra.Command{
		Use:   "read [TAB]",
		Short: "Read a page as text, as a tree to act on, or as a picture",
		Long: `Read a page in the format that suits it: an article as Markdown without the navigation, an
application as a tree of the elements that you can act on, and a canvas as a picture annotated with refs.

Pass --ref to read the whole text of one element, which other commands
truncate as in "Terms and conditions…+2300".`,
		Example: `  domtap read
  domtap read --mode content --max-tokens 0 --save page.md
  domtap read --outline                     # print the headings with cursors
  domtap read --ref 12                      # print the whole text of one element
  domtap read --download a.pdf
  domtap read --mode visual --save page.png`,
		Args: cli.Args("[TAB]"), ValidArgsFunction: a.CompleteTabs,
	})
	flags.register(cmd)
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, args []string) error {
		request, err := flags.request(ctx, c, args)
		if err != nil {
			return err
		}
		answer, err := c.Pages.ReadPage(ctx, request)
		if err != nil {
			return err
		}
		return flags.show(a.Printer(), answer)
	})
	return cmd
}

func (r *readFlags) register(cmd *cobra.Command) {
	r.cmd = cmd
	cli.ChoiceFlag(cmd, &r.mode, "mode", "m", "the representation of the page", "auto", "content", "interactive", "visual")
	f := cmd.Flags()
	cli.BudgetFlag(f, &r.maxTokens, 1500, "maximum number of tokens of the text; 0 means no limit")
	f.StringVar(&r.cursor, "cursor", "", "continue, or start at a heading")
	cli.RefFlag(f, &r.ref, "ref", "read only the element with this ref, as text")
	f.BoolVar(&r.outline, "outline", false, "print the headings instead of the text")
	f.StringVar(&r.download, "download", "", "read a downloaded file")
	f.StringVar(&r.path, "path", "", "read one value of JSON")
	f.StringVar(&r.save, "save", "", "write the text, or the picture of --mode visual, to this file")
}

func (r *readFlags) request(ctx context.Context, c *cli.Client, args []string) (*domtapv1.ReadPageRequest, error) {
	request := &domtapv1.ReadPageRequest{Mode: readModes[r.mode.Value], Cursor: r.cursor, Download: r.download, Path: r.path}
	if r.outline && !r.cmd.Flags().Changed("mode") {
		request.Mode = domtapv1.ReadMode_READ_MODE_CONTENT
	}
	if r.cmd.Flags().Changed("ref") {
		request.RootRef = proto.Uint32(r.ref)
	}
	if r.cmd.Flags().Changed("max-tokens") {
		request.MaxTokens = proto.Int32(r.maxTokens)
	}
	if len(args) > 0 {
		request.TabId = args[0]
		return request, nil
	}
	id, err := c.TabID(ctx)
	request.TabId = id
	return request, err
}

// show prints an answer, or saves the part of it that the flags select.
func (r *readFlags) show(p *cli.Printer, answer *domtapv1.ReadPageResponse) error {
	if r.save != "" {
		data := answer.GetImage()
		if len(data) == 0 {
			data = []byte(answer.GetText())
		}
		if err := os.WriteFile(r.save, data, 0o644); err != nil {
			return fmt.Errorf("save the page: %w", err)
		}
		if len(answer.GetImage()) == 0 {
			return p.Show(answer, func() string {
				return fmt.Sprintf("%s: %s\n", r.save, plural.Of(len(data), "byte")) + render.Paragraph(footer(answer))
			})
		}
	}
	return p.Show(answer, func() string {
		if r.outline && r.save == "" {
			return render.Paragraph(outline(answer))
		}
		return render.Paragraph(answer.GetText() + "\n" + footer(answer))
	})
}

// footer describes which part of the page the text covers, and how to read on.
func footer(r *domtapv1.ReadPageResponse) string {
	mode := strings.ToLower(strings.TrimPrefix(r.GetMode().String(), "READ_MODE_"))
	parts := []string{fmt.Sprintf("%s: %s", mode, plural.Of(r.GetTokens(), "token"))}
	if total := r.GetTotalTokens(); total > r.GetTokens() {
		parts[0] = fmt.Sprintf("%s: %d of %s", mode, r.GetTokens(), plural.Of(total, "token"))
	}
	for _, part := range []struct {
		applies bool
		text    string
	}{
		{r.GetDocument() != nil, described(r.GetDocument())},
		{r.GetReason() != "", r.GetReason()},
		{r.GetChangedSince(), "the page has changed since"},
		{r.GetPageTruncated(), "the page contains more than was read"},
		{len(r.GetImage()) > 0, plural.Of(len(r.GetMarks()), "mark") + " on a picture; --save FILE saves it"},
		{r.GetNextCursor() != "", "continue with --cursor " + r.GetNextCursor()},
	} {
		if part.applies {
			parts = append(parts, part.text)
		}
	}
	return "-- " + strings.Join(parts, "\n-- ") + "\n"
}

// described describes a document that is not a page.
func described(d *domtapv1.ReadDocument) string {
	facts := []string{"document: " + strings.ToLower(strings.TrimPrefix(d.GetKind().String(), "DOCUMENT_KIND_")), d.GetMediaType(), d.GetName()}
	if d.GetPages() > 0 {
		facts = append(facts, plural.Of(d.GetPages(), "page"))
	}
	if d.GetSize() > 0 {
		facts = append(facts, plural.Of(d.GetSize(), "byte"))
	}
	text := strings.Join(slices.DeleteFunc(facts, func(fact string) bool { return fact == "" }), ", ")
	if d.GetNote() != "" {
		text += "; " + d.GetNote()
	}
	return text
}

// outline prints the headings, each with its cursor.
func outline(r *domtapv1.ReadPageResponse) string {
	var b strings.Builder
	for _, h := range r.GetOutline() {
		fmt.Fprintf(&b, "%s%s  (%s)\n", strings.Repeat("  ", int(max(h.GetLevel(), 1)-1)), h.GetText(), h.GetCursor())
	}
	if b.Len() == 0 {
		return "The page has no headings.\n"
	}
	return b.String()
}
