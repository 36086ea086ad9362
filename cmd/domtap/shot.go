package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

var imageFormats = map[string]domtapv1.ImageFormat{
	".png":  domtapv1.ImageFormat_IMAGE_FORMAT_PNG,
	".jpg":  domtapv1.ImageFormat_IMAGE_FORMAT_JPEG,
	".jpeg": domtapv1.ImageFormat_IMAGE_FORMAT_JPEG,
	".webp": domtapv1.ImageFormat_IMAGE_FORMAT_WEBP,
}

func shotCommand(a *app) *cobra.Command {
	var fullPage, numbered bool
	var quality int32
	var only uint32
	cmd := a.tabCommand(&cobra.Command{
		Use:   "shot FILE",
		Short: "Save a picture of a page",
		Long: `Save a picture of the visible part of a page. The ending of FILE chooses the format:
.png, .jpg or .webp. FILE - writes a PNG to standard output.`,
		Example: "  domtap shot page.png\n  domtap shot --full-page --quality 60 page.webp\n  domtap shot --ref 12 button.png",
		Args:    exactly("a file name"),
	})
	f := cmd.Flags()
	f.BoolVar(&fullPage, "full-page", false, "the whole page, not only its visible part")
	f.Int32Var(&quality, "quality", 80, "1 to 100, for .jpg and .webp")
	f.BoolVar(&numbered, "marks", false, "number what can be acted on; the numbers are refs (.png and .jpg)")
	f.Uint32Var(&only, "ref", 0, "only the element with this ref")
	cmd.RunE = a.calling(func(ctx context.Context, c *client, args []string) error {
		format, err := imageFormat(args[0])
		if err != nil {
			return err
		}
		id, err := c.tabID(ctx)
		if err != nil {
			return err
		}
		request := &domtapv1.ScreenshotRequest{TabId: id, Format: format, FullPage: fullPage, Marks: numbered}
		if f.Changed("quality") {
			request.Quality = proto.Int32(quality)
		}
		if f.Changed("ref") {
			request.Ref = proto.Uint32(only)
		}
		answer, err := c.pages.Screenshot(ctx, request)
		if err != nil {
			return err
		}
		return a.save(args[0], answer.GetImage(), "the picture")
	})
	return cmd
}

func imageFormat(file string) (domtapv1.ImageFormat, error) {
	if file == "-" {
		return domtapv1.ImageFormat_IMAGE_FORMAT_PNG, nil
	}
	format, known := imageFormats[strings.ToLower(filepath.Ext(file))]
	if !known {
		return 0, exit.Errorf(exit.Usage, "let the name end in .png, .jpg or .webp", "no picture format is known for %q", file)
	}
	return format, nil
}

// saved is what the commands that write a file print with -o json.
type saved struct {
	File  string `json:"file"`
	Bytes int    `json:"bytes"`
}

// save writes a file, or to standard output for "-", and says so.
func (a *app) save(file string, data []byte, what string) error {
	if file == "-" {
		_, err := a.out.Write(data)
		return err
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		return fmt.Errorf("save %s: %w", what, err)
	}
	p := a.printer()
	if p.json {
		return p.value(saved{File: file, Bytes: len(data)})
	}
	return p.text(fmt.Sprintf("%s: %d bytes\n", file, len(data)))
}
