package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// followEvery is how often a log that is followed is read. Reading asks the page nothing.
const followEvery = 500 * time.Millisecond

// logFlags say what to read of a log.
type logFlags struct {
	console, errors, network, problems, follow bool
	after                                      uint64
	max                                        int32
}

func logCommand(a *app) *cobra.Command {
	var l logFlags
	cmd := a.tabCommand(&cobra.Command{
		Use:   "log [TAB]",
		Short: "Print what a page said to its console, its errors, and its requests",
		Long: `Print the log of a tab: messages of the console, errors that no script caught, and requests with
how they ended. It is kept from the tab's first page on, bounded, and answers while the page hangs.
--console, --errors and --network choose kinds; without them all are printed.`,
		Example:           "  domtap log --problems\n  domtap log --network --max 1000\n  domtap log --after 120\n  domtap log --follow --timeout 0",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeTabs,
	})
	f := cmd.Flags()
	f.BoolVar(&l.console, "console", false, "messages of the console")
	f.BoolVar(&l.errors, "errors", false, "errors that no script caught, and rejected promises")
	f.BoolVar(&l.network, "network", false, "requests")
	f.BoolVar(&l.problems, "problems", false, "only warnings, errors, and requests that failed or were answered with 400 and above")
	f.Uint64Var(&l.after, "after", 0, "only what is behind this entry")
	f.Int32Var(&l.max, "max", 100, "the newest entries, 1 to 1000")
	f.BoolVarP(&l.follow, "follow", "f", false, "go on with what comes, until --timeout or Ctrl-C")
	cmd.RunE = a.calling(func(ctx context.Context, c *client, args []string) error {
		if len(args) == 1 {
			c.tab = args[0]
		}
		id, err := c.tabID(ctx)
		if err != nil {
			return err
		}
		return a.readLog(ctx, c, l.request(id, f.Changed("max")), l.follow)
	})
	return cmd
}

func (l *logFlags) request(tab string, limited bool) *domtapv1.ReadLogRequest {
	r := &domtapv1.ReadLogRequest{TabId: tab, After: l.after, ProblemsOnly: l.problems}
	if limited {
		r.MaxEntries = proto.Int32(l.max)
	}
	for _, kind := range []struct {
		wanted bool
		kind   domtapv1.LogKind
	}{
		{l.console, domtapv1.LogKind_LOG_KIND_CONSOLE},
		{l.errors, domtapv1.LogKind_LOG_KIND_ERROR},
		{l.network, domtapv1.LogKind_LOG_KIND_NETWORK},
	} {
		if kind.wanted {
			r.Kinds = append(r.Kinds, kind.kind)
		}
	}
	return r
}

// readLog prints a log, once or until ctx ends.
func (a *app) readLog(ctx context.Context, c *client, r *domtapv1.ReadLogRequest, follow bool) error {
	p := a.printer()
	for {
		answer, err := c.pages.ReadLog(ctx, r)
		if err != nil {
			return err
		}
		if !follow || len(answer.GetEntries()) > 0 || answer.GetDropped() > 0 {
			if err := p.show(answer, func() string { return render.Log(answer, !follow) }); err != nil {
				return err
			}
		}
		if !follow {
			return nil
		}
		r.After = answer.GetNextSequence()
		select {
		case <-time.After(followEvery):
		case <-ctx.Done():
			if context.Cause(ctx) == context.DeadlineExceeded { // its time is over, as it was asked for
				return nil
			}
			return exit.Errorf(exit.Interrupted, "", "interrupted")
		}
	}
}
