// Package timelinecmd provides the commands that show the events of a tab and pause clients.
package timelinecmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/plural"
	"github.com/domtap/domtap/internal/timeline"
)

// flags selects what to show of a timeline.
type flags struct {
	client string
	kinds  []string
	after  uint64
	max    int32
	follow bool
}

// Timeline returns the command timeline.
func Timeline(a *cli.App) *cobra.Command {
	var l flags
	cmd := a.TabCommand(&cobra.Command{
		Use:   "timeline [TAB]",
		Short: "Print what clients and the page did on a tab",
		Long: `Print the timeline of a tab, one line per entry, in order of their start.

Entries are calls that act, with their steps, verdict and cost, calls that read, navigations, dialogs, downloads,
new tabs, script errors, failed requests, and pauses. Below the entries are the clients of the tab and the cost of
each. Typed text is not included. A tab keeps 1,000 entries, and its timeline can be read for 10 minutes after the
tab was closed.`,
		Example:           "  domtap timeline\n  domtap timeline --kind turn,problem,request\n  domtap timeline --follow --timeout 0\n  domtap timeline -o json | jq '.entries[].turn.steps'",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.CompleteTabs,
	})
	f := cmd.Flags()
	f.StringVar(&l.client, "client", "", "only calls of this client")
	f.StringSliceVar(&l.kinds, "kind", nil, "only entries of these kinds: "+strings.Join(kindNames(), ", "))
	f.Uint64Var(&l.after, "after", 0, "only entries after the entry with this number")
	f.Int32Var(&l.max, "max", 100, "maximum number of entries, 1 to 1000")
	f.BoolVarP(&l.follow, "follow", "f", false, "print new entries until the tab is closed, --timeout or Ctrl-C")
	cli.MarkRare(f, "after", "client")
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, args []string) error {
		if len(args) == 1 {
			c.Tab = args[0]
		}
		id, err := c.TabID(ctx)
		if err != nil {
			return err
		}
		kinds, err := l.wanted()
		if err != nil {
			return err
		}
		r := &domtapv1.GetTimelineRequest{TabId: id, AfterId: l.after, Kinds: kinds, Client: l.client}
		if f.Changed("max") {
			r.Limit = proto.Int32(l.max)
		}
		return show(ctx, a.Printer(), domtapv1.NewTimelineServiceClient(c.Conn), r, l.follow)
	})
	return cmd
}

func kindNames() []string {
	var out []string
	for i := range len(domtapv1.TimelineKind_name) - 1 {
		out = append(out, nameOf(domtapv1.TimelineKind(i+1)))
	}
	return out
}

func nameOf(kind domtapv1.TimelineKind) string {
	return strings.ToLower(strings.TrimPrefix(kind.String(), "TIMELINE_KIND_"))
}

// wanted returns the kinds that the flag selects.
func (l *flags) wanted() ([]domtapv1.TimelineKind, error) {
	var out []domtapv1.TimelineKind
	for _, name := range l.kinds {
		kind, known := domtapv1.TimelineKind_value["TIMELINE_KIND_"+strings.ToUpper(name)]
		if !known || kind == 0 {
			return nil, exit.Errorf(exit.Usage, "", "--kind: there is no kind %q: use %s", name, strings.Join(kindNames(), ", "))
		}
		out = append(out, domtapv1.TimelineKind(kind))
	}
	return out, nil
}

// show prints a timeline, once or until the tab or ctx ends.
func show(ctx context.Context, p *cli.Printer, service domtapv1.TimelineServiceClient, r *domtapv1.GetTimelineRequest, follow bool) error {
	answer, err := service.GetTimeline(ctx, r)
	if err != nil {
		return err
	}
	if !follow || len(answer.GetEntries()) > 0 {
		if err := p.Show(answer, func() string { return text(answer, follow) }); err != nil || !follow {
			return err
		}
	}
	stream, err := service.WatchTimeline(ctx, &domtapv1.WatchTimelineRequest{TabId: r.GetTabId(), AfterVersion: answer.GetVersion(), Kinds: r.GetKinds(), Client: r.GetClient()})
	for err == nil {
		var m *domtapv1.WatchTimelineResponse
		if m, err = stream.Recv(); err == nil {
			err = p.Show(m, func() string { return ended(m.GetEntries()) })
		}
	}
	switch {
	case errors.Is(err, io.EOF) || status.Code(err) == codes.Aborted: // the tab is closed
		return nil
	case exit.IsTimeUp(ctx, err): // a timeout is no failure here
		return nil
	case ctx.Err() != nil:
		return exit.Errorf(exit.Interrupted, "", "interrupted")
	}
	return err
}

// ended returns the text of entries, without calls in flight, which appear again when they end.
func ended(entries []*domtapv1.TimelineEntry) string {
	var b strings.Builder
	for _, e := range entries {
		if s := e.GetState(); s != domtapv1.TimelineState_TIMELINE_STATE_RUNNING {
			b.WriteString(line(e) + "\n")
		}
	}
	return b.String()
}

func line(e *domtapv1.TimelineEntry) string {
	return render.Line(e.GetTime().AsTime().Local().Format("15:04:05.000") + " " + timeline.Text(e))
}

// text returns a timeline and, unless it is followed, its clients.
func text(r *domtapv1.GetTimelineResponse, follow bool) string {
	var b strings.Builder
	if n := r.GetDropped(); n > 0 {
		fmt.Fprintf(&b, "-- %d earlier entries were dropped\n", n)
	}
	for _, e := range r.GetEntries() {
		b.WriteString(line(e) + "\n")
	}
	if follow {
		return b.String()
	}
	for _, c := range r.GetClients() {
		about, paused := "", ""
		if c.GetTokensEstimated() {
			about = "about "
		}
		if c.GetPaused() {
			paused = ", paused"
		}
		b.WriteString(render.Line(fmt.Sprintf("-- %s: %d acted, %d read, %d failed, %s%s%s", c.GetClient(), c.GetTurns(), c.GetReads(), c.GetFailed(),
			about, plural.Of(c.GetTokens(), "token"), paused)) + "\n")
	}
	if by := r.GetTakenOverBy(); by != "" {
		b.WriteString(render.Line("-- taken over by "+by) + "\n")
	}
	return b.String()
}
