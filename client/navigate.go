package client

import (
	"context"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// OpenWith opens a tab with all options: in a session, with a viewport, restored after a crash. Nil: a blank tab.
func (c *Client) OpenWith(ctx context.Context, r *domtapv1.OpenTabRequest) (*Tab, error) {
	if r == nil {
		r = &domtapv1.OpenTabRequest{}
	}
	answer, err := c.Tabs.OpenTab(ctx, r)
	if err != nil {
		return nil, err
	}
	return c.Tab(answer.GetTab().GetId()), nil
}

// List returns the open tabs, oldest first. Client.Tab makes a Tab of an id.
func (c *Client) List(ctx context.Context) ([]*domtapv1.Tab, error) {
	answer, err := c.Tabs.ListTabs(ctx, &domtapv1.ListTabsRequest{})
	return answer.GetTabs(), err
}

// Info returns the URL, title, status, revision and open dialog of the tab. It works while the page hangs.
func (t *Tab) Info(ctx context.Context) (*domtapv1.Tab, error) {
	answer, err := t.client.Tabs.GetTab(ctx, &domtapv1.GetTabRequest{TabId: t.id})
	return answer.GetTab(), err
}

// Navigate loads a URL in the tab, and returns when the page is loaded, with what a person would notice on it. The page
// has 30 s, or less if ctx ends before. Client.Tabs has Navigate with all options.
func (t *Tab) Navigate(ctx context.Context, url string) (*domtapv1.NavigateResponse, error) {
	return t.client.Tabs.Navigate(ctx, &domtapv1.NavigateRequest{TabId: t.id, Url: url})
}

// Back goes one entry back in the history of the tab, as Navigate does. At its start the error has the reason NO_HISTORY.
func (t *Tab) Back(ctx context.Context) (*domtapv1.GoBackResponse, error) {
	return t.client.Tabs.GoBack(ctx, &domtapv1.GoBackRequest{TabId: t.id})
}

// Forward goes one entry forward. At the end of the history the error has the reason NO_HISTORY.
func (t *Tab) Forward(ctx context.Context) (*domtapv1.GoForwardResponse, error) {
	return t.client.Tabs.GoForward(ctx, &domtapv1.GoForwardRequest{TabId: t.id})
}

// Reload loads the URL of the tab again. It brings a crashed tab back.
func (t *Tab) Reload(ctx context.Context) (*domtapv1.ReloadResponse, error) {
	return t.client.Tabs.Reload(ctx, &domtapv1.ReloadRequest{TabId: t.id})
}

// Wait returns as soon as a condition holds, at once if it holds already. It waits until the deadline of ctx, at most 5
// minutes; without one, 30 s. After that the error has the reason WAIT_TIMEOUT, and says what comes closest.
func (t *Tab) Wait(ctx context.Context, until *domtapv1.WaitCondition) (*domtapv1.WaitForResponse, error) {
	r := &domtapv1.WaitForRequest{TabId: t.id, Until: until}
	if left, ok := timeLeft(ctx); ok {
		r.Timeout = durationpb.New(left)
	}
	return t.client.Dom.WaitFor(ctx, r)
}

// AcceptDialog presses OK, or Leave, in the open dialog; a prompt gets its default text. Without a dialog the error has
// the reason NO_DIALOG.
func (t *Tab) AcceptDialog(ctx context.Context) (*domtapv1.Dialog, error) {
	return answerDialog(ctx, t, &domtapv1.AnswerDialogRequest{Accept: true})
}

// AnswerPrompt enters a text of at most 100,000 characters into the open prompt, and presses OK.
func (t *Tab) AnswerPrompt(ctx context.Context, text string) (*domtapv1.Dialog, error) {
	return answerDialog(ctx, t, &domtapv1.AnswerDialogRequest{Accept: true, PromptText: proto.String(text)})
}

// DismissDialog presses Cancel, or Stay, in the open dialog.
func (t *Tab) DismissDialog(ctx context.Context) (*domtapv1.Dialog, error) {
	return answerDialog(ctx, t, &domtapv1.AnswerDialogRequest{})
}

func answerDialog(ctx context.Context, t *Tab, r *domtapv1.AnswerDialogRequest) (*domtapv1.Dialog, error) {
	r.TabId = t.id
	answer, err := t.client.Tabs.AnswerDialog(ctx, r)
	return answer.GetDialog(), err
}

// Downloads returns the downloads of the tab, newest first, among the last 100 of its session. The path of a completed
// one is on the daemon's machine.
func (t *Tab) Downloads(ctx context.Context) ([]*domtapv1.Download, error) {
	tab, err := t.Info(ctx)
	if err != nil {
		return nil, err
	}
	answer, err := t.client.Sessions.ListDownloads(ctx, &domtapv1.ListDownloadsRequest{SessionId: tab.GetSessionId()})
	if err != nil {
		return nil, err
	}
	var mine []*domtapv1.Download
	for _, one := range answer.GetDownloads() {
		if one.GetTabId() == t.id {
			mine = append(mine, one)
		}
	}
	return mine, nil
}
