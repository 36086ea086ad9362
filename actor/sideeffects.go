package actor

import (
	"context"
	"time"

	"github.com/domtap/domtap/actor/apierr"
)

// SideEffects is what a page does by itself while a call acts on it. It is valid as long as the call's Exclusive.
type SideEffects struct{ t *loop }

// Tabs are the tabs that the page opened since there were so many. They are not to be written to.
func (s SideEffects) Tabs(since int) []string { return s.t.opened.Since(since) }

// ForgetTabs begins to count anew the tabs that the page opens.
func (s SideEffects) ForgetTabs() {
	s.t.opened.Reset()
	s.t.popupBudget.Reset()
}

// SettleTabs returns when Tabs has those that the browser has reported so far, without those that are gone again, as the window of a
// download is.
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

// AwaitTabs waits, for at most limit, until the tabs that were opened since there were so many have something to read, so that who
// reads them next does not find a blank page.
func (s SideEffects) AwaitTabs(ctx context.Context, since int, limit time.Duration) error {
	opened := s.Tabs(since)
	if len(opened) == 0 {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := s.t.pump.call(bounded, nil, func(ctx context.Context) error {
		for _, id := range opened {
			popup, err := s.t.owner.Tab(id)
			if err != nil {
				continue // it is closed again
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

// Notes takes what the page did by itself since ForgetNotes or the last Notes, in words; it begins with what separates these from
// the words before.
func (s SideEffects) Notes() string { return s.t.notes.Take(s.t.popupBudget.TakeRefused()) }

// ForgetNotes drops what the page did by itself so far.
func (s SideEffects) ForgetNotes() { s.t.notes.Reset() }
