package client

import (
	"context"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// OpenWith opens a tab with all options, for example in a session, with a viewport, or restored after a crash. If r is nil, it opens a
// blank tab.
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

// List returns the open tabs, oldest first. Client.Tab returns a Tab for an id.
func (c *Client) List(ctx context.Context) ([]*domtapv1.Tab, error) {
	answer, err := c.Tabs.ListTabs(ctx, &domtapv1.ListTabsRequest{})
	return answer.GetTabs(), err
}

// Info returns the URL, title, status, revision and open dialog of the tab. It works while the page hangs.
func (t *Tab) Info(ctx context.Context) (*domtapv1.Tab, error) {
	answer, err := t.client.Tabs.GetTab(ctx, &domtapv1.GetTabRequest{TabId: t.id})
	return answer.GetTab(), err
}

// Navigate loads a URL in the tab. When the page is loaded, it returns the changes that a person would notice. The page has 30 s, or less
// if ctx ends earlier. Client.Tabs has Navigate with all options.
func (t *Tab) Navigate(ctx context.Context, url string) (*domtapv1.NavigateResponse, error) {
	return t.client.Tabs.Navigate(ctx, &domtapv1.NavigateRequest{TabId: t.id, Url: url})
}

// Back goes back one entry in the history of the tab and returns as Navigate does. At the start of the history the error has the reason
// NO_HISTORY.
func (t *Tab) Back(ctx context.Context) (*domtapv1.GoBackResponse, error) {
	return t.client.Tabs.GoBack(ctx, &domtapv1.GoBackRequest{TabId: t.id})
}

// Forward goes forward one entry. At the end of the history the error has the reason NO_HISTORY.
func (t *Tab) Forward(ctx context.Context) (*domtapv1.GoForwardResponse, error) {
	return t.client.Tabs.GoForward(ctx, &domtapv1.GoForwardRequest{TabId: t.id})
}

// Reload loads the URL of the tab again. It also recovers a crashed tab.
func (t *Tab) Reload(ctx context.Context) (*domtapv1.ReloadResponse, error) {
	return t.client.Tabs.Reload(ctx, &domtapv1.ReloadRequest{TabId: t.id})
}

// Wait returns as soon as the condition holds, immediately if it already does. It waits until the deadline of ctx, but at most 5 minutes;
// without a deadline it waits 30 s. After that time the error has the reason WAIT_TIMEOUT and describes the closest match.
func (t *Tab) Wait(ctx context.Context, until *domtapv1.WaitCondition) (*domtapv1.WaitForResponse, error) {
	r := &domtapv1.WaitForRequest{TabId: t.id, Until: until}
	if left, ok := timeLeft(ctx); ok {
		r.Timeout = durationpb.New(left)
	}
	return t.client.Dom.WaitFor(ctx, r)
}

// AcceptDialog presses OK or Leave in the open dialog. A prompt gets its default text. Without a dialog the error has the reason NO_DIALOG.
func (t *Tab) AcceptDialog(ctx context.Context) (*domtapv1.Dialog, error) {
	return answerDialog(ctx, t, &domtapv1.AnswerDialogRequest{Accept: true})
}

// AnswerPrompt enters a text of at most 100,000 characters into the open prompt, and presses OK.
func (t *Tab) AnswerPrompt(ctx context.Context, text string) (*domtapv1.Dialog, error) {
	return answerDialog(ctx, t, &domtapv1.AnswerDialogRequest{Accept: true, PromptText: proto.String(text)})
}

// DismissDialog presses Cancel or Stay in the open dialog.
func (t *Tab) DismissDialog(ctx context.Context) (*domtapv1.Dialog, error) {
	return answerDialog(ctx, t, &domtapv1.AnswerDialogRequest{})
}

func answerDialog(ctx context.Context, t *Tab, r *domtapv1.AnswerDialogRequest) (*domtapv1.Dialog, error) {
	r.TabId = t.id
	answer, err := t.client.Tabs.AnswerDialog(ctx, r)
	return answer.GetDialog(), err
}

// Downloads returns the downloads of the tab, newest first, among the last 100 of its session. The path of a completed download is on the
// daemon's machine.
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
