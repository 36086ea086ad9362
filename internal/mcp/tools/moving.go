package tools

import (
	"context"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/mcp/args"
	"github.com/domtap/domtap/internal/mcp/session"
	"github.com/domtap/domtap/internal/mcp/text"
)

var waits = map[string]domtapv1.WaitUntil{
	"commit":             domtapv1.WaitUntil_WAIT_UNTIL_COMMIT,
	"dom_content_loaded": domtapv1.WaitUntil_WAIT_UNTIL_DOM_CONTENT_LOADED,
	"load":               domtapv1.WaitUntil_WAIT_UNTIL_LOAD,
	"network_idle":       domtapv1.WaitUntil_WAIT_UNTIL_NETWORK_IDLE,
}

// The values of show.
const (
	showElements = "elements"
	showContent  = "content"
	showNone     = "none"
)

var shows = map[string]string{showElements: showElements, showContent: showContent, showNone: showNone}

// navigationBudget is the token budget for the elements of a page after a navigation. A cursor continues them.
const navigationBudget = 2000

// navigateArgs holds the arguments of browser_navigate.
type navigateArgs struct {
	URL       string       `json:"url"`
	Tab       string       `json:"tab"`
	Show      string       `json:"show"`
	WaitUntil string       `json:"wait_until"`
	Timeout   args.Seconds `json:"timeout"`
}

func navigate(ctx context.Context, c *Call) error {
	a, err := read[navigateArgs](c)
	if err != nil {
		return err
	}
	if strings.TrimSpace(a.URL) == "" {
		return inputf("url is required")
	}
	show, err := pick("show", a.Show, shows)
	if err != nil {
		return err
	}
	until, err := pick("wait_until", a.WaitUntil, waits)
	if err != nil {
		return err
	}
	request := &domtapv1.NavigateRequest{TabId: a.Tab, Url: a.URL, WaitUntil: until, Timeout: c.Timeout(a.Timeout, maxTimeout)}
	ctx, cancel := withTimeout(ctx, request.GetTimeout().AsDuration())
	defer cancel()
	now, outcome, err := c.navigateTo(ctx, request)
	if err != nil {
		return err
	}
	c.status(now)
	if err := c.showPage(ctx, now, show); err != nil {
		return err
	}
	page := c.page.String()
	if c.page.Reset(); show != showNone && now.GetDialog() == nil {
		outcome = text.WithoutPrinted(outcome, page)
	}
	c.printOutcome(outcome, now)
	c.addPageText(page)
	return nil
}

// timeoutMargin is added to the daemon's time limit, because the daemon's own timeout error is more helpful.
const timeoutMargin = 10 * time.Second

// callTime is the daemon's time limit for a call without a timeout.
const callTime = 30 * time.Second

// withTimeout limits a call by its timeout plus timeoutMargin. A timeout of 0 means the daemon's default.
func withTimeout(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout <= 0 {
		timeout = callTime
	}
	return context.WithTimeout(ctx, timeout+timeoutMargin)
}

// navigateTo navigates the named tab or the current one. If no tab is open, it opens one. It also returns the outcome of the navigation.
func (c *Call) navigateTo(ctx context.Context, request *domtapv1.NavigateRequest) (*domtapv1.Tab, []*domtapv1.Outcome, error) {
	named := request.GetTabId()
	if request.TabId = named; named == "" {
		request.TabId = c.Session.Current()
	}
	if request.GetTabId() == "" {
		now, err := c.open(ctx, request)
		return now, nil, err
	}
	answer, err := c.Daemon.Tabs.Navigate(ctx, request)
	if status.Code(err) == codes.NotFound && named == "" {
		c.Session.Remove(request.GetTabId()) // another client has closed the tab
		now, err := c.open(ctx, request)
		return now, nil, err
	}
	if err == nil && c.Session.Current() == "" {
		c.Session.SetCurrent(request.GetTabId())
	}
	return answer.GetTab(), answer.GetOutcome(), err
}

// open opens a tab and makes it the current one.
func (c *Call) open(ctx context.Context, request *domtapv1.NavigateRequest) (*domtapv1.Tab, error) {
	answer, err := c.Daemon.Tabs.OpenTab(ctx, &domtapv1.OpenTabRequest{
		Url: request.GetUrl(), SessionId: c.Session.Browser, WaitUntil: request.GetWaitUntil(), Timeout: request.GetTimeout(),
	})
	if err != nil {
		return nil, err
	}
	id := answer.GetTab().GetId()
	c.Session.AddOpened(id)
	c.Session.SetCurrent(id)
	return answer.GetTab(), nil
}

// status adds a note about the state of a tab.
func (c *Call) status(now *domtapv1.Tab) {
	line := "tab " + now.GetId()
	if code := now.GetHttpStatus(); code >= 400 {
		line += ", HTTP " + count(code)
	}
	if now.GetDialog() != nil {
		line += ", a dialog is open; answer it with browser_tab, accept or dismiss"
	}
	c.addLine("%s", line)
}

// showPage shows the page of a tab.
func (c *Call) showPage(ctx context.Context, now *domtapv1.Tab, show string) error {
	if d := now.GetDialog(); d != nil {
		c.addPageText(text.Page(now) + text.Dialog(d) + "\n")
		return nil
	}
	switch show {
	case showNone:
		c.addPageText(text.Page(now))
		return nil
	case showContent:
		return c.readPage(ctx, &domtapv1.ReadPageRequest{TabId: now.GetId(), Mode: domtapv1.ReadMode_READ_MODE_CONTENT}, false)
	}
	answer, err := c.Daemon.Dom.GetCompact(ctx, &domtapv1.GetCompactRequest{
		TabId: now.GetId(), MaxTokens: proto.Int32(navigationBudget), ClientId: c.Session.ClientID, Format: domtapv1.Format_FORMAT_DENSE,
		IncludeHistory: proto.Bool(false), Brief: true,
	})
	if err != nil {
		return err
	}
	c.Session.SetSeen(now.GetId(), session.Point{Epoch: answer.GetEpoch(), Revision: answer.GetRevision()})
	c.addMetadata(answer.GetMetadata())
	c.addPageText(answer.GetText())
	return nil
}

// tabArgs holds the arguments of browser_tab.
type tabArgs struct {
	Action string  `json:"action"`
	Tab    string  `json:"tab"`
	URL    string  `json:"url"`
	Value  *string `json:"value"`
}

// tabActions maps the values of action to functions. Each acts on the named tab or the current one. list and open need no tab.
var tabActions = map[string]func(ctx context.Context, c *Call, a *tabArgs, id string) error{
	"select":  selectTab,
	"close":   closeTab,
	"back":    moveBack,
	"forward": moveForward,
	"reload":  reload,
	"accept": func(ctx context.Context, c *Call, a *tabArgs, id string) error {
		return answerDialog(ctx, c, a, id, true)
	},
	"dismiss": func(ctx context.Context, c *Call, a *tabArgs, id string) error {
		return answerDialog(ctx, c, a, id, false)
	},
	"list": nil,
	"open": nil,
}

func tab(ctx context.Context, c *Call) error {
	a, err := read[tabArgs](c)
	if err != nil {
		return err
	}
	if a.Action == "" {
		return inputf("action is required: one of %s", strings.Join(args.Names(tabActions), ", "))
	}
	action, err := pick("action", a.Action, tabActions)
	if err != nil {
		return err
	}
	if action == nil {
		if strings.EqualFold(a.Action, "open") {
			return openTab(ctx, c, a)
		}
		return listTabs(ctx, c)
	}
	id, err := c.tab(a.Tab)
	if err != nil {
		return err
	}
	return action(ctx, c, a, id)
}

func listTabs(ctx context.Context, c *Call) error {
	answer, err := c.Daemon.Tabs.ListTabs(ctx, &domtapv1.ListTabsRequest{SessionId: c.Session.Browser})
	if err != nil {
		return err
	}
	if len(answer.GetTabs()) == 0 {
		c.addLine("no tab is open")
	}
	if current := c.Session.Current(); current != "" {
		c.addLine("current: %s", current)
	}
	for _, one := range answer.GetTabs() {
		c.addPageText(one.GetId() + " " + text.Tab(one) + "\n")
	}
	return nil
}

func openTab(ctx context.Context, c *Call, a *tabArgs) error {
	now, err := c.open(ctx, &domtapv1.NavigateRequest{Url: a.URL})
	if err != nil {
		return err
	}
	return c.showTab(now)
}

// showTab shows the state and the URL of a tab.
func (c *Call) showTab(now *domtapv1.Tab) error {
	c.status(now)
	c.addPageText(text.Page(now))
	return nil
}

func selectTab(ctx context.Context, c *Call, _ *tabArgs, id string) error {
	answer, err := c.Daemon.Tabs.GetTab(ctx, &domtapv1.GetTabRequest{TabId: id})
	if err != nil {
		return err
	}
	c.Session.SetCurrent(id)
	return c.showTab(answer.GetTab())
}

func closeTab(ctx context.Context, c *Call, _ *tabArgs, id string) error {
	if _, err := c.Daemon.Tabs.CloseTab(ctx, &domtapv1.CloseTabRequest{TabId: id}); err != nil {
		return err
	}
	c.Session.Remove(id)
	c.addLine("closed %s", id)
	if current := c.Session.Current(); current != "" {
		c.addLine("current: %s", current)
	}
	return nil
}

func moveBack(ctx context.Context, c *Call, _ *tabArgs, id string) error {
	answer, err := c.Daemon.Tabs.GoBack(ctx, &domtapv1.GoBackRequest{TabId: id})
	if err != nil {
		return err
	}
	return c.showTab(answer.GetTab())
}

func moveForward(ctx context.Context, c *Call, _ *tabArgs, id string) error {
	answer, err := c.Daemon.Tabs.GoForward(ctx, &domtapv1.GoForwardRequest{TabId: id})
	if err != nil {
		return err
	}
	return c.showTab(answer.GetTab())
}

func reload(ctx context.Context, c *Call, _ *tabArgs, id string) error {
	answer, err := c.Daemon.Tabs.Reload(ctx, &domtapv1.ReloadRequest{TabId: id})
	if err != nil {
		return err
	}
	return c.showTab(answer.GetTab())
}

func answerDialog(ctx context.Context, c *Call, a *tabArgs, id string, accept bool) error {
	step := &domtapv1.DialogStep{Accept: accept, PromptText: a.Value}
	answer, err := c.Daemon.Actions.Interact(ctx, &domtapv1.InteractRequest{
		TabId: id, Steps: []*domtapv1.Step{{Action: &domtapv1.Step_Dialog{Dialog: step}}}, ClientId: c.Session.ClientID,
		Format: domtapv1.Format_FORMAT_DENSE_DIFF, Brief: true,
	})
	if err != nil {
		return err
	}
	c.outcome(answer)
	return nil
}
