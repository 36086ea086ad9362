package browser

import (
	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/network"

	"github.com/domtap/domtap/internal/browser/console"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/telemetry/pagelog"
)

// Log implements driver.Page.
func (p *Page) Log() *pagelog.Log { return p.log }

// listen queues a session's events for the loop. What only the log is told of may be left out when the page says
// more than the loop can take in, so that a console that is flooded costs lines and not the tab.
func (p *Page) listen(s devtools.Session) {
	p.browser.conn.Listen(s.ID, func(msg *cdproto.Message) {
		kind, logged := console.Kind(string(msg.Method))
		if !logged {
			if !console.Useless(string(msg.Method)) {
				p.inbox.Push(inbound{session: s, msg: msg})
			}
			return
		}
		msg.Params = console.Shorten(msg.Params)
		if !p.inbox.Offer(inbound{session: s, msg: msg}) {
			p.missed[kind].Add(1)
		}
	})
}

// handleLog works on an event that the log is told of.
func (p *Page) handleLog(s devtools.Session, msg *cdproto.Message) error {
	kind, logged := console.Kind(string(msg.Method))
	if !logged {
		return nil
	}
	if n := p.missed[kind].Swap(0); n > 0 {
		p.log.Miss(kind, n)
		if kind == pagelog.Network { // the end of any of them may be among what was missed
			p.requests.Forget()
		}
	}
	switch kind {
	case pagelog.Console:
		p.record.Console(msg.Params)
	case pagelog.Failure:
		p.record.Failure(msg.Params)
	default:
		return p.requested(s, msg)
	}
	return nil
}

// requested works on one event of the network.
func (p *Page) requested(s devtools.Session, msg *cdproto.Message) error {
	p.context.store.Requested()
	r, err := p.record.Network(string(msg.Method), msg.Params)
	if err != nil {
		return err
	}
	if r.Gated != "" && r.Frame == string(p.id) && network.ResourceType(r.Type) == network.ResourceTypeDocument {
		p.navigator.Refuse(r.Document, r.Gated)
	}
	p.requests.Reported(s.ID, r)
	return nil
}
