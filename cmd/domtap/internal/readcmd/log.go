package readcmd

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// followEvery is the interval at which --follow reads the log. Reading does not involve the page.
const followEvery = 500 * time.Millisecond

// logFlags selects the entries to read from a log.
type logFlags struct {
	console, errors, network, problems, follow bool
	after                                      uint64
	max                                        int32
}

// Log returns the command log.
func Log(a *cli.App) *cobra.Command {
	var l logFlags
	cmd := a.TabCommand(&cobra.Command{
		Use:   "log [TAB]",
		Short: "Print a page's console messages, errors and requests",
		Long: `Print the log of a tab: console messages, uncaught errors, and requests with their results. The log starts
with the first page of the tab, keeps a limited number of entries, and can be read while the page hangs.
--console, --errors and --network select kinds of entries. By default, all kinds are printed.`,
		Example:           "  domtap log --problems\n  domtap log --network --max 1000\n  domtap log --after 120\n  domtap log --follow --timeout 0",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.CompleteTabs,
	})
	f := cmd.Flags()
	f.BoolVar(&l.console, "console", false, "print console messages")
	f.BoolVar(&l.errors, "errors", false, "print uncaught errors and rejected promises")
	f.BoolVar(&l.network, "network", false, "requests")
	f.BoolVar(&l.problems, "problems", false, "print only warnings, errors, and requests that failed or have a status of 400 or above")
	f.Uint64Var(&l.after, "after", 0, "print only entries after the entry with this number")
	f.Int32Var(&l.max, "max", 100, "maximum number of entries, 1 to 1000; the newest are printed")
	f.BoolVarP(&l.follow, "follow", "f", false, "print new entries until --timeout or Ctrl-C")
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, args []string) error {
		if len(args) == 1 {
			c.Tab = args[0]
		}
		id, err := c.TabID(ctx)
		if err != nil {
			return err
		}
		return readLog(ctx, a.Printer(), c, l.request(id, f.Changed("max")), l.follow)
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
func readLog(ctx context.Context, p *cli.Printer, c *cli.Client, r *domtapv1.ReadLogRequest, follow bool) error {
	for first := true; ; first = false {
		answer, err := c.Pages.ReadLog(ctx, r)
		switch {
		case err != nil && !first && exit.IsTimeUp(ctx, err): // a timeout is no failure here
			return nil
		case err != nil:
			return err
		}
		if !follow || len(answer.GetEntries()) > 0 || answer.GetDropped() > 0 {
			if err := p.Show(answer, func() string { return render.Log(answer, !follow) }); err != nil {
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
			if exit.IsTimeUp(ctx, nil) {
				return nil
			}
			return exit.Errorf(exit.Interrupted, "", "interrupted")
		}
	}
}
