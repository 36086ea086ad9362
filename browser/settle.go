package browser

import (
	"context"
	"time"

	"github.com/chromedp/cdproto/network"

	"github.com/domtap/domtap/browser/page"
	"github.com/domtap/domtap/dom"
)

const (
	// arrivalLimit bounds how long Settle waits for a navigation that an action set off, windowLimit how long for a window,
	// which a browser of somebody else may refuse to open.
	arrivalLimit = 10 * time.Second
	windowLimit  = 3 * time.Second
	// requestLimit bounds how long Settle waits for the requests that an action set off, and streamLimit how long for
	// the rest of an answer that has begun: one that streams has no end.
	requestLimit = 3 * time.Second
	streamLimit  = 500 * time.Millisecond
)

// Attend implements actor.Hands. The browser tells of requests always; they are counted while somebody cares.
func (p *Page) Attend(_ context.Context, on bool) {
	p.mu.Lock()
	p.attending = on
	if !p.attending && !p.heeding.Network {
		clear(p.requests.underWay) // whose ends are not counted from here on; nobody listens for this
	}
	p.mu.Unlock()
}

// Settle implements actor.Hands.
func (p *Page) Settle(ctx context.Context, frame dom.FrameID, limit time.Duration) error {
	until := time.Now().Add(requestLimit)
	for {
		if err := p.settleDocuments(ctx, frame, limit); err != nil {
			return err
		}
		if err := p.arrived(ctx, arrivalLimit, func() bool { return !p.navigating }); err != nil {
			return err
		}
		if err := p.arrived(ctx, windowLimit, func() bool { return len(p.opening) == 0 }); err != nil {
			return err
		}
		if err := p.barrier(ctx); err != nil {
			return err
		}
		waited, err := p.answeredBy(ctx, until)
		if err != nil || !waited {
			return err
		}
		// What was answered is about to be shown.
	}
}

// arrived waits for something that an action set off, but not for ever.
func (p *Page) arrived(ctx context.Context, limit time.Duration, ready func() bool) error {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := p.await(bounded, ready); err != nil && ctx.Err() != nil {
		return err
	}
	return nil
}

// settleDocuments waits for the main document, and for the one that was acted on.
func (p *Page) settleDocuments(ctx context.Context, frame dom.FrameID, limit time.Duration) error {
	main, err := p.waitAgent(ctx, "")
	if err != nil {
		return err
	}
	request := page.SettleRequest{Limit: limit.Milliseconds()}
	var inner chan struct{}
	if a := p.agentOf(frame); frame != "" && a != nil && !p.isLate(a) {
		inner = make(chan struct{})
		p.tasks.Go(func() {
			defer close(inner)
			bounded, cancel := context.WithTimeout(p.ctx, limit+frameGrace)
			defer cancel()
			_ = a.call(bounded, "settle", request, nil) // a frame that went away is at rest
		})
	}
	if err := main.call(ctx, "settle", request, nil); err != nil && !isGoneContext(err) {
		return err
	}
	if inner == nil {
		return nil
	}
	select {
	case <-inner:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// answeredBy waits until no request is under way that began while somebody acted, at most until a time. It reports
// whether there was one.
func (p *Page) answeredBy(ctx context.Context, until time.Time) (waited bool, err error) {
	for {
		p.mu.Lock()
		left, changed := p.requests.left(time.Now()), p.changed
		p.mu.Unlock()
		left = min(left, time.Until(until))
		if left <= 0 {
			return waited, nil
		}
		waited = true
		timer := time.NewTimer(left)
		select {
		case <-changed:
		case <-timer.C:
		case <-ctx.Done():
			err = context.Cause(ctx)
		case <-p.ctx.Done():
			err = p.gone()
		}
		timer.Stop()
		if err != nil {
			return waited, err
		}
	}
}

// left is how long the requests that matter may still take; 0: none is under way.
func (t *traffic) left(now time.Time) time.Duration {
	var most time.Duration
	for _, r := range t.underWay {
		switch {
		case !r.matters:
		case r.answered.IsZero():
			return requestLimit
		default:
			most = max(most, streamLimit-now.Sub(r.answered))
		}
	}
	return most
}

// matters reports whether what a request brings may change the page after it was acted on. Pictures and fonts change
// how it looks.
func matters(kind network.ResourceType) bool {
	switch kind {
	case network.ResourceTypeDocument, network.ResourceTypeXHR, network.ResourceTypeFetch, network.ResourceTypeScript, network.ResourceTypeStylesheet:
		return true
	}
	return false
}
