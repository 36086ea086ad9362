package readcmd

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

var imageFormats = map[string]domtapv1.ImageFormat{
	".png":  domtapv1.ImageFormat_IMAGE_FORMAT_PNG,
	".jpg":  domtapv1.ImageFormat_IMAGE_FORMAT_JPEG,
	".jpeg": domtapv1.ImageFormat_IMAGE_FORMAT_JPEG,
	".webp": domtapv1.ImageFormat_IMAGE_FORMAT_WEBP,
}

// Shot returns the command shot.
func Shot(a *cli.App) *cobra.Command {
	var fullPage, annotate bool
	var quality int32
	var only uint32
	cmd := a.TabCommand(&cobra.Command{
		Use:     "shot FILE",
		Aliases: []string{"screenshot"},
		Short:   "Save a screenshot of a page",
		Long: `Save a screenshot of the visible part of a page. The extension of FILE selects the format: .png, .jpg or
.webp. FILE - writes a PNG to standard output.`,
		Example: "  domtap shot page.png\n  domtap shot --full-page --quality 60 page.webp\n  domtap shot --ref 12 button.png",
		Args:    cli.Args("FILE"),
	})
	var at atFlag
	at.register(cmd)
	f := cmd.Flags()
	f.BoolVar(&fullPage, "full-page", false, "capture the whole page, not only the visible part")
	f.Int32Var(&quality, "quality", 80, "the quality of .jpg and .webp, 1 to 100")
	f.BoolVar(&annotate, "annotate", false, "label the elements that you can act on with their refs (.png and .jpg; also: --marks)")
	cli.RefFlag(f, &only, "ref", "capture only the element with this ref")
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, args []string) error {
		format, err := imageFormat(args[0])
		if err != nil {
			return err
		}
		id, err := c.TabID(ctx)
		if err != nil {
			return err
		}
		request := &domtapv1.ScreenshotRequest{TabId: id, Format: format, FullPage: fullPage, Marks: annotate, At: at.message()}
		if f.Changed("quality") {
			request.Quality = proto.Int32(quality)
		}
		if f.Changed("ref") {
			request.Ref = proto.Uint32(only)
		}
		answer, err := c.Pages.Screenshot(ctx, request)
		if err != nil {
			return err
		}
		if answer.GetFormat() == domtapv1.ImageFormat_IMAGE_FORMAT_JPEG && format != answer.GetFormat() {
			return exit.Errorf(exit.Usage, "use a name that ends in .jpg", "pictures of recordings are JPEG")
		}
		return a.SaveFile(args[0], answer.GetImage(), "the picture")
	})
	return cmd
}

func imageFormat(file string) (domtapv1.ImageFormat, error) {
	if file == "-" {
		return domtapv1.ImageFormat_IMAGE_FORMAT_PNG, nil
	}
	format, known := imageFormats[strings.ToLower(filepath.Ext(file))]
	if !known {
		return 0, exit.Errorf(exit.Usage, "use a name that ends in .png, .jpg or .webp", "unknown picture format of %q", file)
	}
	return format, nil
}
