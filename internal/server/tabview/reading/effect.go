package reading

import (
	"context"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/turn"
	"github.com/domtap/domtap/compact/dense"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rpc/connections"
	"github.com/domtap/domtap/internal/server/rpc/metering"
	"github.com/domtap/domtap/internal/server/tabview"
	"github.com/domtap/domtap/internal/server/tabview/outcome"
	"github.com/domtap/domtap/internal/tokens"
)

const (
	// newPage is the budget of the page after a navigation. A cursor continues it.
	newPage = 2000
	// leastCost is the minimum cost of an element of a page in DENSE. leastElements is the minimum number of elements printed for a long
	// page.
	leastCost, leastElements = 3, 300
	// pageTime limits the time to read a page that is an optional part of the answer.
	pageTime = 5 * time.Second
)

// Effect prints the effect of an action on a tab as DENSE_DIFF, for one caller.
type Effect struct {
	reader *Reader
	tab    *actor.Tab
	shared *tabview.Tab
	who    tabview.Caller
	client string
	EffectForm
	again []*domtapv1.Outcome
}

// Again returns the outcomes that are visible on the page printed by Print, but not on the previous page. See outcome.Again.
func (e *Effect) Again() []*domtapv1.Outcome { return e.again }

// EffectForm controls how an Effect is printed.
type EffectForm struct {
	// Structural includes structural elements.
	Structural bool
	// Brief leaves out what the caller already knows. See InteractRequest.brief.
	Brief bool
}

// Effect returns the Effect of an action on a tab. client is the client ID in the request.
func (c *Reader) Effect(ctx context.Context, tab *actor.Tab, client string, form EffectForm) *Effect {
	return &Effect{reader: c, tab: tab, shared: c.Views.Of(tab), who: connections.Caller(ctx, client), client: client, EffectForm: form}
}

// Print returns the changes since the caller was last shown the page. It returns the whole page if the page is new or costs less than the
// changes. It returns "" if no listed element changed.
func (e *Effect) Print(ctx context.Context, o *turn.Outcome) string {
	from := o.Before
	if shown := e.shared.LastShown(e.who, o.After); shown != nil {
		from = shown
	}
	if o.Replaced {
		if page, now := e.page(ctx, o, newPage); page != "" {
			e.again = outcome.Again(o.Before, now, page)
			return page
		}
		from = &dom.Snapshot{URL: o.After.URL, Document: o.After.Document, Epoch: o.After.Epoch} // no element of the new page was shown yet
	}
	text := e.changes(from, o.After, o)
	if cost := tokens.Count(text); cost > leastCost*min(leastElements, turn.WithoutStructure(o.After.Elements).Len()) {
		page, now := e.page(ctx, o, 0)
		if page != "" && tokens.Count(page) < cost {
			return page
		}
		if now != nil && now != o.After { // now counts as shown
			text = e.changes(from, now, o)
		}
	}
	return text
}

// changes returns the changes between two states and records that the caller was shown the new one.
func (e *Effect) changes(from, to *dom.Snapshot, o *turn.Outcome) string {
	e.shared.SetShown(e.who, to)
	form := tabview.ChangesForm{Listed: e.listed, Limit: tabview.MaxListed, Brief: e.Brief}
	form.More = slices.ContainsFunc(o.Notices, func(n dom.Notice) bool { return n.Kind == dom.NoticeText })
	if asked := o.FieldRequests(); e.Brief && len(asked) > 0 {
		form.Expected = func(was, now *dom.Element) *dom.Element { return turn.Expected(asked, was, now) }
	}
	if text := tabview.Changes(from, to, form); text != dense.None {
		return text
	}
	return ""
}

// listed returns the elements of a page state that the diff compares.
func (e *Effect) listed(s *dom.Snapshot) dom.List {
	if e.Structural {
		return s.Elements
	}
	return turn.WithoutStructure(s.Elements)
}

// page returns the page in the same DENSE form as GetCompact, and the state that it shows. A budget of 0 selects the default. It returns ""
// if the page cannot be read now.
func (e *Effect) page(ctx context.Context, o *turn.Outcome, budget int32) (string, *dom.Snapshot) {
	if o.Info.Dialog != nil || o.Info.Status != actor.StatusReady && o.Info.Status != actor.StatusLoading {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(metering.WithoutRecord(ctx), pageTime)
	defer cancel()
	r := &domtapv1.GetCompactRequest{TabId: e.tab.ID(), ClientId: e.client, Format: domtapv1.Format_FORMAT_DENSE, Brief: e.Brief}
	if budget > 0 {
		r.MaxTokens = proto.Int32(budget)
	}
	if e.Brief {
		r.IncludeHistory = proto.Bool(false)
	}
	if e.Structural {
		r.InteractiveOnly = proto.Bool(false)
	}
	got, err := e.reader.Snapshot(ctx, r, nil, false)
	if err != nil || got.View.Snapshot.Document != o.After.Document {
		return "", nil
	}
	return got.Compact(ctx, r).GetText(), got.View.Snapshot
}
