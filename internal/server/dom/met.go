package dom

import (
	"cmp"
	"context"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/turn"
	"github.com/domtap/domtap/compact"
	"github.com/domtap/domtap/compact/dense"
	"github.com/domtap/domtap/diff"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/dom/waits"
	"github.com/domtap/domtap/internal/server/rpc/connections"
	"github.com/domtap/domtap/internal/server/tabview"
	"github.com/domtap/domtap/internal/server/tabview/outcome"
	"github.com/domtap/domtap/internal/server/tabview/reading"
)

// printMet adds texts to the answer of a wait in the requested format. The line of the element is added, and the changes as text replace
// the structured ones.
func (s *Service) printMet(ctx context.Context, tab *actor.Tab, r *domtapv1.WaitForRequest, met *waits.Met) {
	m, now := met.Answer, met.Head.Snapshot
	if e := met.Element; e != nil {
		contexts := s.Views.Of(tab).Contexts(now, diff.Diff{Added: []diff.Added{{Element: e}}})
		line := compact.AppendLine(nil, e, compact.NewBase(now.URL))
		m.Line = string(compact.AppendContext(line, contexts[e.Ref]))
	}
	switch {
	case r.GetFormat() == domtapv1.Format_FORMAT_DENSE_DIFF:
		m.DiffText = s.denseSince(ctx, tab, r, met)
	case met.Change != nil:
		d := met.Change.Diff
		m.DiffText = compact.DiffWithin(d, len(d.Removed), tabview.MaxListed)
	}
	m.Diff = nil
}

// denseSince returns, as DENSE_DIFF, what changed between the page that the caller was last shown and the page on which the condition held.
func (s *Service) denseSince(ctx context.Context, tab *actor.Tab, r *domtapv1.WaitForRequest, met *waits.Met) string {
	shared, who, now := s.Views.Of(tab), connections.Caller(ctx, r.GetClientId()), met.Head.Snapshot
	e := s.Reader.Effect(ctx, tab, r.GetClientId(), reading.EffectForm{Structural: shared.ListsStructural(who, now, true), Brief: r.GetBrief()})
	o := &turn.Outcome{Before: met.From, After: now, Info: met.Head.Info, Replaced: met.From == nil && shared.LastShown(who, now) == nil}
	text := cmp.Or(e.Print(ctx, o), dense.None)
	if r.GetBrief() {
		met.Answer.Outcome = outcome.Unprinted(met.Answer.GetOutcome(), text, o.Replaced)
	}
	return text
}
