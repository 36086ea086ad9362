package browser

import (
	"context"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/target"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/browser/link"
	"github.com/domtap/domtap/browser/page"
)

// Heed implements actor.Observer.
func (p *Page) Heed(ctx context.Context, h actor.Heed) error {
	p.mu.Lock()
	was, attending := p.heeding, p.attending
	p.heeding = h
	p.mu.Unlock()
	request := heedRequest(h)
	for _, o := range p.agents() {
		o.agent.post(ctx, "heed", request)
	}
	if was.Network && !h.Network && !attending {
		p.forgetTraffic()
	}
	return nil
}

// forgetTraffic lets no request be under way.
func (p *Page) forgetTraffic() {
	p.traffic(func(t *traffic) bool { return t.drop(func(request) bool { return true }) })
}

func heedRequest(h actor.Heed) page.HeedRequest {
	r := page.HeedRequest{Structural: h.Structural, Attributes: h.Attributes, Selectors: []page.Selector{}}
	if r.Attributes == nil {
		r.Attributes = []string{}
	}
	for _, s := range h.Selectors {
		r.Selectors = append(r.Selectors, page.Selector{CSS: s.CSS, Shown: s.Shown})
	}
	return r
}

// heeds reports whether there is anything to tell an agent of.
func heeds(h actor.Heed) bool {
	return h.Structural || len(h.Attributes) > 0 || len(h.Selectors) > 0
}

// request is one that is under way.
type request struct {
	session  target.SessionID
	frame    cdp.FrameID
	document cdp.LoaderID
	// matters says that it began while the browser told of requests, and that those who act wait for it; answered is
	// when its answer began.
	matters  bool
	answered time.Time
}

// traffic counts the requests of a page while somebody waits for their end.
type traffic struct {
	underWay map[network.RequestID]request
}

// maxRequests bounds what is remembered; requests beyond it are not waited for.
const maxRequests = 10_000

// lasts tells the requests that are not waited for, because they last by their nature or because nothing of the
// page waits for them.
func lasts(kind network.ResourceType) bool {
	switch kind {
	case network.ResourceTypeWebSocket, network.ResourceTypeEventSource, network.ResourceTypePing, network.ResourceTypeCSPViolationReport:
		return true
	}
	return false
}

// drop forgets requests; it reports whether there were any.
func (t *traffic) drop(which func(request) bool) bool {
	before := len(t.underWay)
	for id, r := range t.underWay {
		if which(r) {
			delete(t.underWay, id)
		}
	}
	return len(t.underWay) != before
}

// traffic changes what is counted and, when that is news, says so.
func (p *Page) traffic(change func(*traffic) bool) {
	p.mu.Lock()
	if p.requests.underWay == nil {
		p.requests.underWay = map[network.RequestID]request{}
	}
	news := change(&p.requests)
	if p.attending {
		p.touch()
	}
	busy := len(p.requests.underWay) > 0
	p.mu.Unlock()
	if news {
		p.emit(actor.Traffic{Busy: busy})
	}
}

// handleTraffic works on one event of the network. Of a request that began before somebody waited there are only
// signs of life.
func (p *Page) handleTraffic(s link.Session, msg *cdproto.Message) error {
	p.context.stirs.Add(1)
	r, err := p.record.Network(string(msg.Method), msg.Params)
	if err != nil {
		return err
	}
	if r.Gated != "" && r.Frame == string(p.id) && network.ResourceType(r.Type) == network.ResourceTypeDocument {
		p.deny(r.Document, r.Gated)
	}
	p.mu.Lock()
	heeded := p.heeding.Network || p.attending
	p.mu.Unlock()
	switch kind := network.ResourceType(r.Type); {
	case !heeded || r.ID == "":
	case r.Ended || !r.Begun && lasts(kind): // only the answer may tell that it lasts
		p.answered(network.RequestID(r.ID))
	case !lasts(kind):
		one := request{session: s.ID, frame: cdp.FrameID(r.Frame), document: cdp.LoaderID(r.Document), matters: r.Begun && matters(kind)}
		if !r.Begun {
			one.answered = time.Now()
		}
		p.requested(network.RequestID(r.ID), one)
	}
	return nil
}

func (p *Page) requested(id network.RequestID, r request) {
	p.traffic(func(t *traffic) bool {
		if len(t.underWay) >= maxRequests {
			return false
		}
		was := len(t.underWay)
		r.matters = r.matters || t.underWay[id].matters
		t.underWay[id] = r
		return was == 0
	})
}

func (p *Page) answered(id network.RequestID) {
	p.traffic(func(t *traffic) bool {
		delete(t.underWay, id)
		return len(t.underWay) == 0
	})
}

// leftBehind forgets the requests of documents that a frame showed before; all others go with the main frame.
func (p *Page) leftBehind(frame cdp.FrameID, document cdp.LoaderID) {
	main := frame == cdp.FrameID(p.id)
	p.mu.Lock()
	idle := len(p.requests.underWay) == 0
	p.mu.Unlock()
	if idle {
		return
	}
	p.traffic(func(t *traffic) bool {
		return t.drop(func(r request) bool { return r.document != document && (main || r.frame == frame) })
	})
}
