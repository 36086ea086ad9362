package browser

import (
	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/network"

	"github.com/domtap/domtap/internal/browser/console"
	"github.com/domtap/domtap/internal/browser/devtools"
)

// listen queues a session's events for the loop. It may drop events that concern only the log if the page sends more than the loop can
// handle. A flooded console then loses lines, and the tab survives.
func (p *Page) listen(s devtools.Session) {
	p.browser.conn.Listen(s.ID, func(msg *cdproto.Message) {
		p.activity.Arrived(string(msg.Method))
		kind, logged := console.Kind(string(msg.Method))
		if !logged {
			if !console.Ignorable(string(msg.Method)) {
				p.inbox.Push(inbound{session: s, msg: msg})
			}
			return
		}
		msg.Params = console.Shorten(msg.Params)
		if !p.inbox.Offer(inbound{session: s, msg: msg}) {
			p.activity.Missed()
			p.CountDropped(kind)
		}
	})
}

// handleLog handles an event that concerns the log.
func (p *Page) handleLog(s devtools.Session, msg *cdproto.Message) error {
	h, err := p.Handle(string(msg.Method), msg.Params)
	if h.MissedNetwork {
		p.requests.RecordDropped()
	}
	if h.Network {
		p.context.store.Requested()
	}
	if err != nil || !h.Network {
		return err
	}
	r := h.Request
	if r.Gated != "" && r.Frame == string(p.id) && network.ResourceType(r.Type) == network.ResourceTypeDocument {
		p.navigator.Refuse(r.Document, r.Gated)
	}
	p.activity.Requested(r)
	p.requests.Reported(s, r)
	return nil
}
