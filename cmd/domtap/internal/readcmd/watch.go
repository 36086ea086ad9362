package readcmd

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/plural"
)

const watchHelp = `Print the page in one line, then every change as it happens, until the tab is closed or Ctrl-C.

Changes are added and removed elements, changed states and values, and navigations. Changes that the page
makes together are printed together. A line with + is an added element, a line with - a removed element, and
a line with ~ a changed element as it is now and as it was. docs/dense.md describes the lines.

With --count, the command ends after this many changes. With --until, it ends when the page meets a
condition, which is named like a flag of domtap wait: --until text=Done, --until gone:role=progressbar,
--until selector=#total, --until url=*/done, --until network-idle, --until quiet=1s. If --until is
repeated, all conditions must hold at the same time.

With --timeout, the command ends after this time. The exit code is then 5 with --count or --until, and 0
without them. There is no timeout by default.`

// Watch returns the command watch.
func Watch(a *cli.App) *cobra.Command {
	var view viewFlags
	var w watcher
	cmd := a.TabCommand(&cobra.Command{
		Use:   "watch",
		Short: "Print every change of a page as it happens",
		Long:  watchHelp,
		Example: `  domtap watch
  domtap watch --count 3 --timeout 1m
  domtap watch --timestamps
  domtap watch --until text="Order placed" --until url=*/done
  domtap watch -o json | jq -c '.diff.changed[]?.fields'`,
		Args: cli.Args(),
	})
	view.register(cmd)
	f := cmd.Flags()
	f.IntVarP(&w.count, "count", "n", 0, "end after this many changes; 0 means never")
	f.StringArrayVar(&w.until, "until", nil, "end when the page meets this condition, such as text=Done or gone:role=progressbar; may be repeated")
	f.BoolVar(&w.outcome, "outcome", false, "also print what a person would notice, such as ! alert: Sold out")
	f.BoolVar(&w.timestamps, "timestamps", false, "begin each line with the time at which the daemon saw the change; in JSON, it is in observedAt")
	f.BoolVar(&w.omitInitial, "omit-initial", false, "do not print the page first")
	f.Float64Var(&w.speed, "speed", 1, "in a recording (domtap replay): the speed of the playback, 0.01 to 10000")
	f.DurationVar(&w.minInterval, "min-interval", 0, "the minimum time between two printed changes; changes in between are merged")
	cli.MarkRare(f, "all", "min-interval", "omit-initial", "speed", "timestamps", "viewport-only")
	cli.MakeOwn(f.Lookup("timeout"), "end after this time (default: never)", "0s")
	cmd.RunE = a.WithClientFor(func() time.Duration {
		limit := watchLimit(a, cmd)
		if len(w.until) > 0 && limit > 0 {
			limit += cli.Patience // the daemon gives up first, and reports what the page showed
		}
		return limit
	}, func(ctx context.Context, c *cli.Client, _ []string) error {
		w.out = a.Printer()
		if len(w.until) > 0 {
			return w.runUntil(ctx, c, &view, watchLimit(a, cmd))
		}
		return w.run(ctx, c, &view)
	})
	return cmd
}

// watchLimit returns --timeout if the flag is set, otherwise 0.
func watchLimit(a *cli.App, cmd *cobra.Command) time.Duration {
	if !cmd.Flags().Changed("timeout") {
		return 0
	}
	return a.Flags.Timeout
}

// watcher prints the changes of a page from one stream.
type watcher struct {
	out         *cli.Printer
	count       int
	outcome     bool
	timestamps  bool
	omitInitial bool
	minInterval time.Duration
	speed       float64
	until       []string

	seen int
}

// open starts the stream.
func (w *watcher) open(ctx context.Context, c *cli.Client, view *viewFlags) (domtapv1.DomService_WatchDomClient, error) {
	id, err := c.TabID(ctx)
	if err != nil {
		return nil, err
	}
	c.Tab = id
	request, err := selectAs(view.request(id), &domtapv1.WatchDomRequest{})
	if err != nil {
		return nil, err
	}
	request.OmitInitial, request.Format = w.omitInitial, domtapv1.Format_FORMAT_DENSE_DIFF
	request.IncludeOutcome = w.outcome
	if w.speed != 1 {
		request.Speed = &w.speed
	}
	if w.minInterval != 0 {
		request.MinInterval = durationpb.New(w.minInterval)
	}
	return c.DOM.WatchDom(ctx, request)
}

func (w *watcher) run(ctx context.Context, c *cli.Client, view *viewFlags) error {
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

// ended returns nil if the end of a stream is no failure, otherwise the error to report.
func (w *watcher) ended(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, io.EOF) && w.count == 0, errors.Is(ctx.Err(), context.Canceled): // the tab was closed; Ctrl-C
		return nil
	case errors.Is(err, io.EOF):
		return exit.Errorf(exit.NotFound, "", "the tab was closed after %d of %s", w.seen, plural.Of(w.count, "change"))
	case !exit.IsTimeUp(ctx, err):
		return err
	case w.count == 0:
		return nil
	}
	return exit.Errorf(exit.Timeout, "use a longer --timeout", "timed out after %d of %s", w.seen, plural.Of(w.count, "change"))
}

// print prints one message and counts the changes.
func (w *watcher) print(m *domtapv1.WatchDomResponse) error {
	switch m.GetEvent().(type) {
	case *domtapv1.WatchDomResponse_Diff, *domtapv1.WatchDomResponse_Resync:
		w.seen++
	}
	text := render.Watch(m)
	if text != "" && m.GetSequence() > 1 {
		text = "\n" + text
	}
	if w.timestamps {
		return w.out.ShowDiffAt(m, text, m.GetObservedAt().AsTime())
	}
	return w.out.ShowDiff(m, text)
}
