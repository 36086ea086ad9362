package client

import (
	"context"
	"fmt"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Tab refers to a tab of the daemon's browser by its id. Calls on a closed tab fail with NOT_FOUND.
type Tab struct {
	client *Client
	id     string
}

// Open opens a tab and loads a URL in it. It returns when the page is loaded. The tab stays open until
// this program, its page or another client closes it.
func (c *Client) Open(ctx context.Context, url string) (*Tab, error) {
	return c.OpenWith(ctx, &domtapv1.OpenTabRequest{Url: url})
}

// Tab returns a Tab with the given id. The tab need not be open.
func (c *Client) Tab(id string) *Tab { return &Tab{c, id} }

// ID returns the id of the tab.
func (t *Tab) ID() string { return t.id }

// Close closes the tab.
func (t *Tab) Close(ctx context.Context) error {
	_, err := t.client.Tabs.CloseTab(ctx, &domtapv1.CloseTabRequest{TabId: t.id})
	return err
}

// Read returns the page as text, one line for each interactive element, with its ref. The default limits of 300 elements and 8,000 tokens
// apply. Client.Dom has GetCompact and GetDom with all options.
func (t *Tab) Read(ctx context.Context) (string, error) {
	answer, err := t.client.Dom.GetCompact(ctx, &domtapv1.GetCompactRequest{TabId: t.id})
	return answer.GetText(), err
}

// Find returns the elements that match the words of a query, best match first, each with its ref and its line of text. An empty result is
// not an error. Client.Dom has Find with all options.
func (t *Tab) Find(ctx context.Context, query string) (*domtapv1.FindResponse, error) {
	return t.client.Dom.Find(ctx, &domtapv1.FindRequest{TabId: t.id, Query: query})
}

// Act performs up to 32 steps as one turn of the tab. When the page has settled, it returns the changes that the steps caused. If a step
// fails, the later steps are skipped and the error states the reason. If an earlier step was done, Act also returns the answer, and the
// error is a *StepError.
func (t *Tab) Act(ctx context.Context, steps ...*domtapv1.Step) (*domtapv1.InteractResponse, error) {
	answer, err := t.client.Actions.Interact(ctx, &domtapv1.InteractRequest{TabId: t.id, Steps: steps})
	if err != nil {
		return nil, err
	}
	return answer, failure(answer.GetResults())
}

// StepError reports that a step failed after earlier steps were done.
type StepError struct {
	// Step counts from 0.
	Step int
	// Reason is the reason, such as NOT_ACTIONABLE.
	Reason string
	// Message describes the failure and how to continue.
	Message string
}

// Error implements error.
func (e *StepError) Error() string { return fmt.Sprintf("step %d: %s", e.Step+1, e.Message) }
