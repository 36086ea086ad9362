package browser

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/navigation"
)

// popupAdopter turns targets that pages open into pages.
type popupAdopter struct {
	browser *Browser

	mu sync.Mutex
	// deliver receives popups: the browser's own channel, unless DeliverTo has replaced it.
	deliver chan<- driver.Popup
}

// created adopts pages that our pages open in a remote browser.
func (o *popupAdopter) created(ctx context.Context, info *target.Info) {
	opener := o.browser.opener(info)
	if opener == nil || o.browser.process.Owned() {
		return
	}
	o.adopt(ctx, opener, info.TargetID, func(ctx context.Context) (target.SessionID, error) {
		attached, err := o.browser.root.Attach(ctx, info.TargetID)
		return attached.ID, err
	})
}

// attached adopts pages that our pages open in a browser that we started, which holds them until they are prepared. It releases all others,
// because pages of NewPage have their own session. A target that does not wait was attached to on request.
func (o *popupAdopter) attached(ctx context.Context, e target.EventAttachedToTarget) {
	if !e.WaitingForDebugger {
		return
	}
	if opener := o.browser.opener(e.TargetInfo); opener != nil {
		o.adopt(ctx, opener, e.TargetInfo.TargetID, func(context.Context) (target.SessionID, error) { return e.SessionID, nil })
		return
	}
	if e.TargetInfo != nil && e.TargetInfo.Type != "page" && o.workerCame(ctx, e) {
		return
	}
	devtools.Session{Conn: o.browser.conn, ID: e.SessionID}.Post(ctx, runtime.CommandRunIfWaitingForDebugger, struct{}{})
	if e.TargetInfo != nil && e.TargetInfo.Type != "page" {
		return // a worker that is detached right after its release does not run
	}
	o.browser.root.Post(ctx, target.CommandDetachFromTarget, target.DetachFromTargetParams{SessionID: e.SessionID})
}

// workerCame applies the session's overrides to a worker that waits for them. It returns false if the worker belongs to none of our
// sessions.
func (o *popupAdopter) workerCame(ctx context.Context, e target.EventAttachedToTarget) bool {
	c := o.browser.contextOf(e.TargetInfo)
	if c == nil {
		return false
	}
	o.browser.held.listen(e.SessionID)
	o.browser.workers.Start(ctx, devtools.Session{Conn: o.browser.conn, ID: e.SessionID}, c.id, c.overrides)
	return true
}

// adopt creates a page for a popup.
func (o *popupAdopter) adopt(ctx context.Context, opener *Page, id target.ID, attach func(context.Context) (target.SessionID, error)) {
	o.browser.wg.Go(func() {
		actx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		session, err := attach(actx)
		var p *Page
		if err == nil {
			err = o.browser.targets.Uncover(actx, id)
		}
		if err == nil {
			p, err = o.browser.add(actx, newPageConfig{context: opener.context, id: id, session: session, takenOver: opener.takenOver})
		}
		if errors.Is(err, errAlreadyPage) {
			return // the browser announced the popup twice
		}
		defer opener.navigator.Change((*navigation.State).WindowOpened)
		if err != nil && opener.takenOver {
			o.browser.logger.Warn("a popup of a tab that was taken over could not become a tab", "error", err)
			if session != "" {
				o.browser.detach(session)
			}
			return
		}
		if err != nil {
			o.browser.logger.Warn("a popup could not become a tab and was closed", "error", err)
			<-o.browser.targets.Discard(id) // the opener hangs while the popup is held
			return
		}
		select {
		case o.delivery() <- driver.Popup{Page: p, Opener: string(opener.id), Session: opener.context.name, Bound: opener.navigator.WindowBound()}:
		case <-ctx.Done():
			p.end(devtools.ErrLost)
			p.drain() // the page has no other reader
		}
	})
}

// DeliverTo sets the channel that receives the pages opened by other pages, in place of Pages. The channel may outlive the browser.
// DeliverTo must be called before the first page is opened.
func (o *popupAdopter) DeliverTo(popups chan<- driver.Popup) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.deliver = popups
}

// delivery returns the channel for popups.
func (o *popupAdopter) delivery() chan<- driver.Popup {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.deliver
}
