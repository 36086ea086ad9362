package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/grpc"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	"github.com/domtap/domtap/cmd/domtap/internal/terminal"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Client holds a connection to the daemon and the tab to work on.
type Client struct {
	Conn     *grpc.ClientConn
	Tabs     domtapv1.TabServiceClient
	DOM      domtapv1.DomServiceClient
	Actions  domtapv1.ActionServiceClient
	Pages    domtapv1.PageServiceClient
	Sessions domtapv1.SessionServiceClient
	// Tab is the value of --tab or DOMTAP_TAB. If empty, TabID selects the tab that this terminal opened last, or the only one.
	Tab string
	// Memory holds the tabs that this terminal opened.
	Memory *terminal.Memory
	// ID identifies the terminal in calls that read or act, because a ref identifies an element that was shown to this terminal.
	ID string
	// shared means that other commands use the connection, too.
	shared bool
}

// Close closes the connection, unless other commands use it.
func (c *Client) Close() error {
	if c.shared {
		return nil
	}
	return c.Conn.Close()
}

func newClient(conn *grpc.ClientConn) *Client {
	return &Client{
		Conn:     conn,
		Tabs:     domtapv1.NewTabServiceClient(conn),
		DOM:      domtapv1.NewDomServiceClient(conn),
		Actions:  domtapv1.NewActionServiceClient(conn),
		Pages:    domtapv1.NewPageServiceClient(conn),
		Sessions: domtapv1.NewSessionServiceClient(conn),
	}
}

// TabID returns the tab to work on: the tab of --tab or DOMTAP_TAB, the tab that this terminal opened last, or the only tab. If there is a
// choice, TabID never picks a tab that another program may use.
func (c *Client) TabID(ctx context.Context) (string, error) {
	if c.Tab != "" {
		return c.Tab, nil
	}
	answer, err := c.Tabs.ListTabs(ctx, &domtapv1.ListTabsRequest{})
	if err != nil {
		return "", err
	}
	tabs := answer.GetTabs()
	if len(tabs) == 0 {
		return "", exit.Errorf(exit.NotFound, "open one with domtap open URL", "no tab is open")
	}
	own := c.Memory.Load()
	if last, opened := own.Last(); opened {
		return ownTab(last, own.Daemon == answer.GetDaemonId(), tabs)
	}
	if len(tabs) > 1 {
		return "", exit.Errorf(exit.Usage, otherTab(tabs), "missing --tab: %d tabs are open, and this terminal opened none of them: %s", len(tabs), tabList(tabs))
	}
	return tabs[0].GetId(), nil
}

// ownTab returns the tab that a terminal opened last, if the tab is still open.
func ownTab(last terminal.Tab, sameDaemon bool, tabs []*domtapv1.Tab) (string, error) {
	open := slices.ContainsFunc(tabs, func(tab *domtapv1.Tab) bool {
		return tab.GetId() == last.ID && (sameDaemon || last.Restored && tab.GetRestore())
	})
	switch {
	case open:
		return last.ID, nil
	case sameDaemon:
		return "", exit.Errorf(exit.NotFound, otherTab(tabs), "tab %s, which this terminal opened last, is closed; open: %s", last.ID, tabList(tabs))
	}
	return "", exit.Errorf(exit.NotFound, "open a new tab with domtap open URL", "tab %s, which this terminal opened last, ended with its daemon; tabs of others: %s", last.ID, tabList(tabs))
}

// otherTab returns a hint that explains how to work on a tab that the terminal did not open last.
func otherTab(tabs []*domtapv1.Tab) string {
	id := tabs[len(tabs)-1].GetId()
	return fmt.Sprintf("pass --tab %s, set DOMTAP_TAB=%s for all commands, or open a new tab with domtap open URL", id, id)
}

// maxListed limits how many tabs an error lists.
const maxListed = 10

// tabList lists the newest tabs by ID and title.
func tabList(tabs []*domtapv1.Tab) string {
	var words []string
	if more := len(tabs) - maxListed; more > 0 {
		words = append(words, fmt.Sprintf("%d older ones", more))
		tabs = tabs[more:]
	}
	for _, tab := range tabs {
		name := render.Cell(tab.GetUrl(), 60)
		if tab.GetTitle() != "" {
			name = fmt.Sprintf("%q", render.Cell(tab.GetTitle(), 40))
		}
		words = append(words, tab.GetId()+" "+name)
	}
	return strings.Join(words, ", ")
}

// Remember stores a new tab as the tab of this terminal.
func (c *Client) Remember(ctx context.Context, tab *domtapv1.Tab) error {
	if c.Memory == nil {
		return nil
	}
	answer, err := c.Tabs.ListTabs(ctx, &domtapv1.ListTabsRequest{})
	if err != nil {
		return err
	}
	return c.Memory.Opened(answer.GetDaemonId(), terminal.Tab{ID: tab.GetId(), Restored: tab.GetRestore()})
}
