package readcmd

import (
	"context"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

var papers = map[string]domtapv1.PaperFormat{
	"a4": domtapv1.PaperFormat_PAPER_FORMAT_A4, "letter": domtapv1.PaperFormat_PAPER_FORMAT_LETTER,
	"legal": domtapv1.PaperFormat_PAPER_FORMAT_LEGAL, "a3": domtapv1.PaperFormat_PAPER_FORMAT_A3, "a5": domtapv1.PaperFormat_PAPER_FORMAT_A5,
}

// PDF returns the command pdf.
func PDF(a *cli.App) *cobra.Command {
	var paper cli.Choice
	var landscape, background bool
	var scale float64
	var pages string
	cmd := a.TabCommand(&cobra.Command{
		Use:     "pdf FILE",
		Short:   "Print a page to a PDF",
		Long:    "Print a page to a PDF, with its print styles. FILE - writes to standard output.",
		Example: "  domtap pdf page.pdf\n  domtap pdf --paper letter --background --pages 1-2 page.pdf",
		Args:    cli.Args("FILE"),
	})
	cli.ChoiceFlag(cmd, &paper, "paper", "", "the paper size", "a4", "letter", "legal", "a3", "a5")
	f := cmd.Flags()
	f.BoolVar(&landscape, "landscape", false, "use landscape orientation")
	f.BoolVar(&background, "background", false, "print background colors and images")
	f.Float64Var(&scale, "scale", 1, "the scale, 0.1 to 2")
	f.StringVar(&pages, "pages", "", `the pages to print, such as "1-5, 8" (default: all)`)
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, args []string) error {
		id, err := c.TabID(ctx)
		if err != nil {
			return err
		}
		request := &domtapv1.PdfRequest{TabId: id, Format: papers[paper.Value], Landscape: landscape, PrintBackground: background, PageRanges: pages}
		if f.Changed("scale") {
			request.Scale = proto.Float64(scale)
		}
		answer, err := c.Pages.Pdf(ctx, request)
		if err != nil {
			return err
		}
		return a.SaveFile(args[0], answer.GetPdf(), "the PDF")
	})
	return cmd
}
