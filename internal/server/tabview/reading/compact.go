package reading

import (
	"context"
	"sync"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rpc/metering"
	"github.com/domtap/domtap/internal/server/tabview"
	"github.com/domtap/domtap/internal/tokens"
)

// Compact returns the answer of GetCompact. It contains the changes if the request wants them and they may be sent, and the view otherwise.
func (s *Snapshot) Compact(ctx context.Context, r *domtapv1.GetCompactRequest) *domtapv1.GetCompactResponse {
	history := r.IncludeHistory == nil || r.GetIncludeHistory()
	settled := s.View.Settled(history)
	resp := &domtapv1.GetCompactResponse{Revision: s.View.Snapshot.Revision, Epoch: s.View.Snapshot.Epoch}
	header := s.View.Header(history)
	header.Next = s.Next
	whole := sync.OnceValue(func() string { return s.View.Print(header, settled) })
	var changes string
	var cost int
	switch r.GetFormat() {
	case domtapv1.Format_FORMAT_DIFF:
		changes, cost = s.diffText()
	case domtapv1.Format_FORMAT_DENSE_DIFF:
		changes, cost = s.denseDiffText(whole)
	default:
		resp.Text = whole()
		resp.Metadata = s.Metadata(settled)
		return resp
	}
	resp.Resync = s.resyncMessage()
	metering.FromContext(ctx).Changed(changes != "", s.resync)
	if changes != "" {
		resp.Text, settled.Tokens = changes, cost
	} else {
		resp.Text = whole()
	}
	resp.Metadata = s.Metadata(settled)
	return resp
}

// diffText returns the diff as text and its tokens. It returns "" if the whole view must be sent instead, for example because the diff
// exceeds the budget.
func (s *Snapshot) diffText() (text string, cost int) {
	if s.change == nil {
		return "", 0
	}
	text = s.change.Text()
	budget := s.View.Selection.Budget()
	if budget == 0 {
		return text, 0
	}
	if cost = tokens.Count(text); cost > budget {
		s.resync = tabview.MostlyChanged
		return "", 0
	}
	return text, cost
}

// denseDiffText returns the diff as DENSE_DIFF and its tokens. It returns "" if the whole view must be sent instead. That is also the case
// if the diff costs more than the view that printWhole prints.
func (s *Snapshot) denseDiffText(printWhole func() string) (text string, cost int) {
	if s.change == nil {
		return "", 0
	}
	text = s.change.Dense(s.from.View, s.View)
	cost = tokens.Count(text)
	if least := leastCost * len(s.View.Elements()); cost > least && cost > tokens.Count(printWhole()) {
		s.resync = tabview.MostlyChanged
		return "", 0
	}
	if s.View.Selection.Budget() == 0 {
		cost = 0 // answers without a budget have no token count
	}
	return text, cost
}
