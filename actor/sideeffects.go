package actor

import (
	"context"
	"time"

	"github.com/domtap/domtap/actor/apierr"
)

// SideEffects reports what a page does by itself during a call. It is valid as long as the call's Exclusive.
type SideEffects struct{ t *loop }

// Tabs returns the tabs that the page opened after the first n ones. They must not be modified.
func (s SideEffects) Tabs(n int) []string { return s.t.opened.Since(n) }

// ForgetTabs resets the list of tabs that the page opened.
func (s SideEffects) ForgetTabs() {
	s.t.opened.Reset()
	s.t.popupBudget.Reset()
}

// SettleTabs returns when Tabs includes the tabs for all popups that the browser has reported so far. It drops tabs that are already gone,
// such as the window of a download.
func (s SideEffects) SettleTabs(ctx context.Context) {
	s.t.owner.SettlePopups(ctx)
	for {
		select {
		case id := <-s.t.popups:
			s.t.opened.Add(id)
		default:
			s.t.opened.Keep(func(id string) bool {
				_, err := s.t.owner.Tab(id)
				return err == nil
			})
			return
		}
	}
}

// AwaitTabs waits, for at most limit, until the tabs that were opened after the first n ones are readable, so that the next reader does not
// find a blank page.
func (s SideEffects) AwaitTabs(ctx context.Context, n int, limit time.Duration) error {
	opened := s.Tabs(n)
	if len(opened) == 0 {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := s.t.pump.call(bounded, nil, func(ctx context.Context) error {
		for _, id := range opened {
			popup, err := s.t.owner.Tab(id)
			if err != nil {
				continue // it is already closed
			}
			select {
			case <-popup.shown:
			case <-popup.done:
			case <-ctx.Done():
				return nil
			}
		}
		return nil
	})
	if err != nil && (ctx.Err() != nil || apierr.LostPage(err)) {
		return err
	}
	return nil
}

// TakeSummary returns and clears the descriptions of what the page did by itself since the last ResetSummary or TakeSummary. The text
// starts with a separator, so that it can be appended to other text.
func (s SideEffects) TakeSummary() string { return s.t.summary.Take(s.t.popupBudget.TakeRefused()) }

// ResetSummary clears the summary.
func (s SideEffects) ResetSummary() { s.t.summary.Reset() }
