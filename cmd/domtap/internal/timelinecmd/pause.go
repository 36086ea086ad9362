package timelinecmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Pause returns the command pause.
func Pause(a *cli.App) *cobra.Command {
	var flags pauseFlags
	cmd := a.TabCommand(&cobra.Command{
		Use:   "pause [CLIENT]",
		Short: "Pause the actions of a client, or of all other clients",
		Long: `Pause the actions of a client on a tab, or with --session on all tabs of a session. Paused calls wait until
domtap resume. Shortly before their deadline, they fail with CLIENT_PAUSED and your --reason. With --fail, they
fail immediately. Without CLIENT, all clients of the tab except this terminal are paused, and you take over the
tab. Running calls finish, and clients can still read. domtap timeline lists the clients of a tab.`,
		Example: "  domtap pause mcp-4XQ2 --reason 'wait, I sign in'\n  domtap pause --reason 'my turn'\n  domtap pause --list",
		Args:    cobra.MaximumNArgs(1),
	})
	f := cmd.Flags()
	f.StringVar(&flags.session, "session", "", "pause on all tabs of this session, including new tabs")
	f.StringVar(&flags.reason, "reason", "", "the reason that the client receives")
	f.BoolVar(&flags.fail, "fail", false, "fail calls immediately instead of letting them wait")
	f.BoolVar(&flags.list, "list", false, "list the paused clients")
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, args []string) error {
		return flags.pause(ctx, c, a.Printer(), args)
	})
	return cmd
}

// pauseFlags holds the flags of pause.
type pauseFlags struct {
	session, reason string
	fail, list      bool
}

// pause lists the pauses, pauses the client named by args, or takes over the tab.
func (o *pauseFlags) pause(ctx context.Context, c *cli.Client, p *cli.Printer, args []string) error {
	at, err := placeOf(ctx, c, o.session)
	if err != nil {
		return err
	}
	service := domtapv1.NewTimelineServiceClient(c.Conn)
	mode := domtapv1.PauseMode_PAUSE_MODE_WAIT
	if o.fail {
		mode = domtapv1.PauseMode_PAUSE_MODE_FAIL
	}
	switch {
	case o.list:
		answer, err := service.ListPauses(ctx, &domtapv1.ListPausesRequest{TabId: at.tab, SessionId: at.session})
		if err != nil {
			return err
		}
		return p.Show(answer, func() string { return pauses(answer.GetPauses()) })
	case len(args) == 1:
		answer, err := service.PauseClient(ctx, &domtapv1.PauseClientRequest{
			TabId: at.tab, SessionId: at.session, Client: args[0], Reason: o.reason, Mode: mode, ClientId: c.ID})
		return showPause(p, answer, err)
	case o.session != "":
		return exit.Errorf(exit.Usage, "name the client to pause in the session", "--session needs a CLIENT")
	}
	answer, err := service.TakeOver(ctx, &domtapv1.TakeOverRequest{TabId: at.tab, Reason: o.reason, Mode: mode, ClientId: c.ID})
	return showPause(p, answer, err)
}

// showPause prints the new pause, unless there is an error.
func showPause(p *cli.Printer, answer interface {
	proto.Message
	GetPause() *domtapv1.Pause
}, err error) error {
	if err != nil {
		return err
	}
	return p.Show(answer, func() string { return pauses([]*domtapv1.Pause{answer.GetPause()}) })
}

// Resume returns the command resume.
func Resume(a *cli.App) *cobra.Command {
	var session string
	cmd := a.TabCommand(&cobra.Command{
		Use:   "resume [CLIENT]",
		Short: "Resume a paused client, or hand the tab back",
		Long: `Resume a client that domtap pause has paused. Its waiting calls start. Without CLIENT, end the takeover of the tab by
domtap pause without CLIENT.`,
		Example: "  domtap resume mcp-4XQ2\n  domtap resume",
		Args:    cobra.MaximumNArgs(1),
	})
	cmd.Flags().StringVar(&session, "session", "", "resume in this session")
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, args []string) error {
		at, err := placeOf(ctx, c, session)
		if err != nil {
			return err
		}
		service, p := domtapv1.NewTimelineServiceClient(c.Conn), a.Printer()
		if len(args) == 1 {
			answer, err := service.ResumeClient(ctx, &domtapv1.ResumeClientRequest{TabId: at.tab, SessionId: at.session, Client: args[0], ClientId: c.ID})
			if err != nil {
				return err
			}
			return p.Show(answer, func() string { return "resumed " + render.Line(args[0]) + "\n" })
		}
		if session != "" {
			return exit.Errorf(exit.Usage, "name the client to resume in the session", "--session needs a CLIENT")
		}
		answer, err := service.HandBack(ctx, &domtapv1.HandBackRequest{TabId: at.tab, ClientId: c.ID})
		if err != nil {
			return err
		}
		return p.Show(answer, func() string { return "handed the tab back\n" })
	})
	return cmd
}

// place is a tab or a session.
type place struct{ tab, session string }

func placeOf(ctx context.Context, c *cli.Client, session string) (at place, err error) {
	if at.session = session; session == "" {
		at.tab, err = c.TabID(ctx)
	}
	return at, err
}

// pauses returns the pauses, one per line.
func pauses(all []*domtapv1.Pause) string {
	if len(all) == 0 {
		return "nothing is paused\n"
	}
	out := ""
	for _, one := range all {
		who, where, how := "all other clients", "tab "+one.GetTabId(), "calls wait"
		if one.GetClient() != "" {
			who = one.GetClient()
		}
		if one.GetSessionId() != "" {
			where = "session " + one.GetSessionId()
		}
		if one.GetMode() == domtapv1.PauseMode_PAUSE_MODE_FAIL {
			how = "calls fail"
		}
		text := fmt.Sprintf("paused %s on %s by %s, %s", who, where, one.GetBy(), how)
		if one.GetWaiting() > 0 {
			text += fmt.Sprintf(" (%d now)", one.GetWaiting())
		}
		if one.GetReason() != "" {
			text += ": " + one.GetReason()
		}
		out += render.Line(text) + "\n"
	}
	return out
}
