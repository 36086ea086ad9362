package browser

import (
	"context"

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
	was := p.heeding
	p.heeding = h
	p.mu.Unlock()
	request := heedRequest(h)
	for _, o := range p.agents() {
		o.agent.post(ctx, "heed", request)
	}
	if was.Network == h.Network {
		return nil
	}
	for _, s := range p.sessions() {
		if err := p.tellTraffic(ctx, s, h.Network); err != nil && s.ID == p.main.ID {
			p.mu.Lock()
			p.heeding.Network = was.Network
			p.mu.Unlock()
			return p.failed(err)
		}
	}
	return nil
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

// sessions lists the page's own session and those of its frames in other processes.
func (p *Page) sessions() []link.Session {
	all := []link.Session{p.main}
	seen := map[target.SessionID]bool{p.main.ID: true}
	for _, o := range p.agents() {
		if s := o.agent.session; !seen[s.ID] {
			seen[s.ID] = true
			all = append(all, s)
		}
	}
	return all
}

// tellTraffic lets the browser tell of a session's requests, or no longer. It keeps no bodies for it.
func (p *Page) tellTraffic(ctx context.Context, s link.Session, on bool) error {
	if !on {
		_, err := cdp.Call(ctx, s, network.Disable, cdp.Empty{})
		p.traffic(func(t *traffic) bool { return t.drop(func(r request) bool { return r.session == s.ID }) })
		return err
	}
	none := int64(0)
	return s.Call(ctx, network.CommandEnable, network.EnableParams{MaxTotalBufferSize: &none, MaxResourceBufferSize: &none, MaxPostDataSize: &none}, nil)
}

// heedFrame is Heed for a frame whose session has just come.
func (p *Page) heedFrame(ctx context.Context, s link.Session) {
	p.mu.Lock()
	on := p.heeding.Network
	p.mu.Unlock()
	if !on {
		return
	}
	if err := p.tellTraffic(ctx, s, true); err != nil {
		p.logger.Debug("the requests of a frame are not counted", "error", err)
	}
}

// request is one that is under way.
type request struct {
	session  target.SessionID
	frame    cdp.FrameID
	document cdp.LoaderID
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
	busy := len(p.requests.underWay) > 0
	p.mu.Unlock()
	if news {
		p.emit(actor.Traffic{Busy: busy})
	}
}

// handleTraffic works on one event of the network. Of a request that began before the browser told of any there
// are only signs of life.
func (p *Page) handleTraffic(s link.Session, msg *cdproto.Message) error {
	switch string(msg.Method) {
	case network.RequestWillBeSent.Method:
		return on(msg, network.RequestWillBeSent, func(e network.EventRequestWillBeSent) { p.requested(s, e) })
	case network.ResponseReceived.Method:
		return on(msg, network.ResponseReceived, func(e network.EventResponseReceived) {
			if lasts(e.Type) { // only now the browser knows it
				p.answered(e.RequestID)
				return
			}
			p.requested(s, network.EventRequestWillBeSent{RequestID: e.RequestID, LoaderID: e.LoaderID, FrameID: e.FrameID})
		})
	case network.LoadingFinished.Method:
		return on(msg, network.LoadingFinished, func(e network.EventLoadingFinished) { p.answered(e.RequestID) })
	case network.LoadingFailed.Method:
		return on(msg, network.LoadingFailed, func(e network.EventLoadingFailed) { p.answered(e.RequestID) })
	}
	return nil
}

func (p *Page) requested(s link.Session, e network.EventRequestWillBeSent) {
	if lasts(e.Type) {
		return
	}
	p.traffic(func(t *traffic) bool {
		if len(t.underWay) >= maxRequests {
			return false
		}
		was := len(t.underWay)
		t.underWay[e.RequestID] = request{session: s.ID, frame: e.FrameID, document: e.LoaderID}
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
