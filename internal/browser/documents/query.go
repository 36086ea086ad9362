package documents

import (
	"context"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/frames"
)

// Query reads data that patches do not contain from the documents of a page.
type Query struct {
	documents
	prober prober
}

// NewQuery returns the Query of a page whose documents run the script.
func NewQuery(m *frames.Manager, script string) *Query {
	return &Query{documents{m, script}, prober{m}}
}

// refArgument is the argument of commands about one element.
type refArgument struct {
	Ref uint32 `json:"ref"`
}

// Reveal scrolls an element into view; see driver.Input.
func (q *Query) Reveal(ctx context.Context, e driver.Element) error {
	a, err := q.m.Agent(ctx, e.Frame)
	if err != nil {
		return err
	}
	shown := false
	if e.Document == "" || a.Document == e.Document {
		err = a.Call(ctx, "reveal", refArgument{Ref: uint32(e.Ref)}, &shown)
	}
	switch {
	case err != nil:
		return q.m.Failed(err)
	case !shown:
		return stale(e.Ref)
	}
	return nil
}

func stale(ref dom.Ref) error {
	return apierr.Errorf(apierr.Stale, "ref %d is gone from the page: read the page again and use a new ref", ref)
}

// Probe probes agents before a query, so that they know the closed shadow trees of their documents.
func (q *Query) Probe(ctx context.Context, list []frames.Readable) { q.prober.probeAll(ctx, list) }
