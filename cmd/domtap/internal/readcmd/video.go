package readcmd

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/content/animation"
)

// Video returns the command video.
func Video(a *cli.App) *cobra.Command {
	var duration time.Duration
	var fps, width int32
	cmd := a.TabCommand(&cobra.Command{
		Use:   "video FILE",
		Short: "Record a page as an animated GIF",
		Long: `Record the visible part of a page as an animated GIF, for --time or until Ctrl-C. Each frame is shown as long
as it was on the page. Other commands can act on the tab during the recording. The recording ends early at
8 MiB. FILE - writes to standard output.`,
		Example: "  domtap video page.gif --time 5s\n  domtap video page.gif --time 1m --fps 2 --width 400 &",
		Args:    cli.Args("FILE"),
	})
	f := cmd.Flags()
	f.DurationVar(&duration, "time", 10*time.Second, "the length of the recording, at most 1m")
	f.Int32Var(&fps, "fps", 5, "frames per second, 1 to 10")
	f.Int32Var(&width, "width", 800, "scale the picture down to this width, 100 to 1280")
	limit := func() time.Duration {
		if a.Flags.Timeout == 0 {
			return 0
		}
		return a.Flags.Timeout + duration
	}
	cmd.RunE = a.WithClientFor(limit, func(ctx context.Context, c *cli.Client, args []string) error {
		tab, err := c.TabID(ctx)
		if err != nil {
			return err
		}
		r := &domtapv1.RecordVideoRequest{TabId: tab, Duration: durationpb.New(duration)}
		if f.Changed("fps") {
			r.Fps = proto.Int32(fps)
		}
		if f.Changed("width") {
			r.MaxWidth = proto.Int32(width)
		}
		stream, err := c.Pages.RecordVideo(ctx, r)
		if err != nil {
			return err
		}
		return saveVideo(ctx, a, args[0], stream)
	})
	return cmd
}

// saveVideo writes the stream to a file. It completes the file even if the recording is interrupted.
func saveVideo(ctx context.Context, a *cli.App, name string, stream grpc.ServerStreamingClient[domtapv1.RecordVideoResponse]) (err error) {
	part, err := stream.Recv() // a recording that fails to start leaves the file unchanged
	if err != nil {
		return err
	}
	out := render.Exact(a.Out)
	if name != "-" {
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return exit.Errorf(exit.Usage, "name another file", "write the video: %w", err)
		}
		out = file
		defer func() { err = errors.Join(err, file.Close()) }()
	}
	for {
		if _, err := out.Write(part.GetGif()); err != nil {
			return err
		}
		if part.GetLast() {
			break
		}
		next, failed := stream.Recv()
		if failed == nil {
			part = next
			continue
		}
		if _, err := out.Write([]byte{animation.Trailer}); err != nil {
			return err
		}
		if errors.Is(failed, io.EOF) || context.Cause(ctx) != nil && !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			break
		}
		return failed
	}
	if name == "-" {
		return nil
	}
	part.Gif = nil
	return a.Printer().Show(part, func() string { return render.Video(part) })
}
