package main

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

func watchCommand(a *app) *cobra.Command {
	var view viewFlags
	var w watcher
	cmd := a.tabCommand(&cobra.Command{
		Use:   "watch",
		Short: "Print every change of a page as it comes",
		Long: `Print what a page shows now in one line, then every change as it comes, until the tab is
closed or Ctrl-C. Added and removed elements, changed states and values, and navigations
are changes; a burst that the page does at once is printed as one.

With --count it ends after so many changes. With --until it ends when the page shows what is waited for:
--until text=Done, --until gone:role=progressbar, --until selector=#total, --until url=*/done,
--until network-idle, --until quiet=1s, after the flags of domtap wait; when it is given more than
once, all must hold together.

With --timeout it ends after that time: that is exit code 5 when --count or --until was not reached,
and 0 without them. There is no timeout by default.`,
		Example: `  domtap watch
  domtap watch --count 3 --timeout 1m
  domtap watch --until text="Order placed" --until url=*/done
  domtap watch -o json | jq -c '.diff.changed[]?.fields'`,
		Args: cobra.NoArgs,
	})
	view.register(cmd)
	f := cmd.Flags()
	f.IntVarP(&w.count, "count", "n", 0, "end after this many changes; 0: never")
	f.StringArrayVar(&w.until, "until", nil, "end when the page shows this, such as text=Done or gone:role=progressbar; may be repeated")
	f.BoolVar(&w.omitInitial, "omit-initial", false, "begin with the first change")
	f.DurationVar(&w.minInterval, "min-interval", 0, "at least this long between two changes; what happens in between is folded")
	forever := f.Lookup("timeout")
	forever.Usage, forever.DefValue = "end after this time (default: never)", "0s"
	delete(forever.Annotations, envAnnotation)
	delete(forever.Annotations, commonAnnotation)
	cmd.RunE = a.callingFor(func() time.Duration {
		limit := a.watchLimit(cmd)
		if len(w.until) > 0 && limit > 0 {
			limit += patience // the daemon can say what the page showed instead
		}
		return limit
	}, func(ctx context.Context, c *client, _ []string) error {
		w.out = a.printer()
		if len(w.until) > 0 {
			return w.runUntil(ctx, c, &view, a.watchLimit(cmd))
		}
		return w.run(ctx, c, &view)
	})
	return cmd
}

// watchLimit is --timeout, but only when somebody set it.
func (a *app) watchLimit(cmd *cobra.Command) time.Duration {
	if !cmd.Flags().Changed("timeout") {
		return 0
	}
	return a.common.timeout
}

// watcher prints one stream.
type watcher struct {
	out         *printer
	count       int
	omitInitial bool
	minInterval time.Duration
	until       []string

	seen int
}

// open starts the stream.
func (w *watcher) open(ctx context.Context, c *client, view *viewFlags) (domtapv1.DomService_WatchDomClient, error) {
	id, err := c.tabID(ctx)
	if err != nil {
		return nil, err
	}
	c.tab = id
	request, err := selectAs(view.request(id), &domtapv1.WatchDomRequest{})
	if err != nil {
		return nil, err
	}
	request.OmitInitial, request.Format = w.omitInitial, domtapv1.Format_FORMAT_DIFF
	if w.minInterval != 0 {
		request.MinInterval = durationpb.New(w.minInterval)
	}
	return c.dom.WatchDom(ctx, request)
}

func (w *watcher) run(ctx context.Context, c *client, view *viewFlags) error {
	stream, err := w.open(ctx, c, view)
	if err != nil {
		return err
	}
	for w.count == 0 || w.seen < w.count {
		message, err := stream.Recv()
		if err != nil {
			return w.ended(ctx, err)
		}
		if err := w.print(message); err != nil {
			return err
		}
	}
	return nil
}

// ended says whether a stream ended as it should.
func (w *watcher) ended(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, io.EOF) && w.count == 0, errors.Is(ctx.Err(), context.Canceled): // the tab was closed; Ctrl-C
		return nil
	case errors.Is(err, io.EOF):
		return exit.Errorf(exit.NotFound, "", "the tab was closed after %d of %d changes", w.seen, w.count)
	case ctx.Err() == nil && status.Code(err) != codes.DeadlineExceeded:
		return err
	case w.count == 0:
		return nil
	}
	return exit.Errorf(exit.Timeout, "give it longer with --timeout", "saw %d of %d changes in time", w.seen, w.count)
}

// print prints one message and counts the changes.
func (w *watcher) print(m *domtapv1.WatchDomResponse) error {
	switch m.GetEvent().(type) {
	case *domtapv1.WatchDomResponse_Diff, *domtapv1.WatchDomResponse_Resync:
		w.seen++
	}
	if w.out.json {
		return w.out.message(m)
	}
	text := render.Watch(m)
	if text != "" && m.GetSequence() > 1 {
		text = "\n" + text
	}
	return w.out.diff(text)
}
