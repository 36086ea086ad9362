package dom

import (
	"context"
	"maps"
	"slices"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/target"
	"github.com/domtap/domtap/compact"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/content/injection"
	"github.com/domtap/domtap/internal/elementcontext"
	"github.com/domtap/domtap/internal/find"
	"github.com/domtap/domtap/internal/server/messages"
	"github.com/domtap/domtap/internal/server/rpc/connections"
	"github.com/domtap/domtap/internal/server/rpc/metering"
	"github.com/domtap/domtap/internal/server/tabview"
	"github.com/domtap/domtap/internal/telemetry/usage"
	"github.com/domtap/domtap/internal/tokens"
	"github.com/domtap/domtap/view"
)

const (
	// defaultResults and defaultFinding are the defaults of max_results and max_tokens in Find.
	defaultResults = 10
	defaultFinding = 500
	// maxNearest limits how many similar elements Find returns when no element matches.
	maxNearest = 3
)

// Find returns the elements that match a query, with their lines.
func (s *Service) Find(ctx context.Context, r *domtapv1.FindRequest) (*domtapv1.FindResponse, error) {
	tab, err := s.Access.Tab(ctx, r.GetTabId())
	if err != nil {
		return nil, err
	}
	reading, err := tab.Read(ctx, actor.ReadOptions{Structural: true, Geometry: true, MaxAge: r.GetMaxAge().AsDuration(), At: s.Reader.Moment(r.GetAt())})
	if err != nil {
		return nil, err
	}
	f := findIn(reading, r)
	shared := s.Views.Of(tab)
	signals := shared.Signals(f.page)
	f.print(r, signals)
	if len(f.found) > 0 {
		// Without a match, the caller received no part of the page, and its baseline stays.
		seen := tabview.State{Snapshot: f.page, Mark: reading.Mark}
		shared.SetState(connections.Caller(ctx, r.GetClientId()), seen)
		shared.SetState(connections.Caller(ctx, ""), seen) // the caller's turns may omit the client ID
	}
	accountFind(ctx, shared, f.page)
	resp := f.message()
	resp.Metadata.Signals, resp.Metadata.PageLimited = messages.Signals(signals), f.page.Limited
	for _, frame := range reading.Late {
		resp.Metadata.LateFrames = append(resp.Metadata.LateFrames, string(frame))
	}
	return resp, nil
}

// accountFind records a read of the page in the usage figures.
func accountFind(ctx context.Context, shared *tabview.Tab, page *dom.Snapshot) {
	note := metering.FromContext(ctx)
	if note == nil {
		return
	}
	reads := usage.Reads{Pages: 1}
	if shared.Seen(page) {
		reads.HeadHits = 1
	}
	note.Reads(reads)
	note.SetPageCost(shared.Whole(page), false)
}

// finding holds the result of a search.
type finding struct {
	page   *dom.Snapshot
	layout *dom.Layout
	// found holds all matches, best first. nearest holds similar elements if there are no matches.
	found, nearest []find.Match
	// limit is the maximum number of matches to return. printed holds the printed ones.
	limit   int
	printed compact.Printed
	// distinct maps elements that share role and name to the contexts that distinguish them.
	distinct compact.Contexts
}

// findIn searches the page of a reading.
func findIn(reading actor.Reading, r *domtapv1.FindRequest) *finding {
	f := &finding{page: reading.Head.Snapshot, layout: reading.Layout, limit: defaultResults}
	if r.MaxResults != nil {
		f.limit = int(r.GetMaxResults())
	}
	elements := f.page.Elements.Slice()
	f.distinct = elementcontext.Distinguish(elements, elements)
	query := find.Parse(r.GetQuery()).WithContexts(f.distinct)
	if f.found = query.Within(r.GetWithin()).Match(elements, f.page.URL); len(f.found) > 0 {
		return f
	}
	if r.GetWithin() != "" {
		if elsewhere := query.Match(elements, f.page.URL); len(elsewhere) > 0 {
			f.nearest = elsewhere[:min(len(elsewhere), maxNearest)]
			return f
		}
	}
	near := target.Nearest(target.Target{By: target.Text, Words: r.GetQuery()}, elements, maxNearest)
	for _, e := range near {
		f.nearest = append(f.nearest, find.Match{Element: e, Index: slices.Index(elements, e)})
	}
	return f
}

// contexts returns the contexts to print: those that distinguish elements, and for each printed table cell its row.
func (f *finding) contexts() compact.Contexts {
	all := compact.Contexts{}
	maps.Copy(all, f.distinct)
	elements := f.page.Elements.Slice()
	for _, m := range f.found[:min(len(f.found), f.limit)] {
		if row, ok := elementcontext.Row(elements, m.Index); ok {
			all[m.Element.Ref] = row
		}
	}
	return all
}

// print writes the matches as text within the token budget.
func (f *finding) print(r *domtapv1.FindRequest, signals []injection.Signal) {
	budget := defaultFinding
	if r.MaxTokens != nil {
		budget = int(r.GetMaxTokens())
	}
	f.printed = compact.Found{
		Header: compact.Header{URL: f.page.URL, Title: f.page.Title, Signals: injection.Line(signals)},
		Query:  r.GetQuery(), Within: r.GetWithin(), Total: len(f.found),
		Contexts: f.contexts(),
		Matches:  elementsOf(f.found[:min(len(f.found), f.limit)]), Nearest: elementsOf(f.nearest),
	}.Print(budget, tokens.Count)
}

func elementsOf(found []find.Match) []*dom.Element {
	out := make([]*dom.Element, len(found))
	for i, m := range found {
		out[i] = m.Element
	}
	return out
}

// message converts the finding to the response.
func (f *finding) message() *domtapv1.FindResponse {
	resp := &domtapv1.FindResponse{Text: f.printed.Text, Revision: f.page.Revision, Epoch: f.page.Epoch}
	if len(f.found) == 0 {
		resp.Nearest = f.messages(f.nearest)
	} else {
		resp.Matches = f.messages(f.found)
	}
	shown := len(resp.GetMatches())
	v := view.View{Elements: dom.ListOf(elementsOf(f.found[:shown])), Total: len(f.found), Tokens: f.printed.Tokens}
	switch {
	case shown == len(f.found):
	case shown == f.limit:
		v.Reason = view.ElementLimit
	default:
		v.Reason = view.TokenBudget
	}
	if v.Reason != view.NotTruncated {
		v.OmittedByRole = map[string]int{}
		for _, m := range f.found[shown:] {
			v.OmittedByRole[m.Element.Role]++
		}
	}
	resp.Metadata = messages.Metadata(v, tokens.Name)
	return resp
}

// messages converts the first matches, one for each printed line.
func (f *finding) messages(found []find.Match) []*domtapv1.FindMatch {
	found = found[:len(f.printed.Lines)]
	var boxes []dom.Box
	if f.layout != nil {
		for _, m := range found {
			boxes = append(boxes, f.layout.Boxes[m.Index])
		}
	}
	out := make([]*domtapv1.FindMatch, len(found))
	converted := messages.Elements(elementsOf(found), boxes)
	messages.Within(converted, f.distinct)
	for i, e := range converted {
		e.Attributes = nil // set by requests of other callers
		out[i] = &domtapv1.FindMatch{Element: e, Line: f.printed.Lines[i]}
	}
	return out
}
