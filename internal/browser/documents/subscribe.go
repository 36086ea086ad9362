package documents

import (
	"context"

	"github.com/chromedp/cdproto/cdp"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/browser/frames"
	"github.com/domtap/domtap/internal/browser/observer"
)

// Commands of the script that subscriptions use.
const (
	commandObserve        = "observe"
	commandSetInterests   = "setInterests"
	commandNotice         = "notice"
	commandCollectNotices = "collectNotices"
)

// Subscribe sets what all documents push and report; see driver.Observer. It sends only the differences to the previous subscription. An
// identical subscription is sent completely, because the caller does not know whether the last call took effect.
func (r *Reader) Subscribe(ctx context.Context, s driver.Subscription) {
	r.m.Lock()
	before := r.subscription
	r.subscription = s
	r.m.Unlock()
	again := s.Equal(before)
	push := again || s.Push != before.Push || s.Geometry != before.Geometry || s.Notices != before.Notices
	interests, old := interestsOf(s), interestsOf(before)
	for _, o := range r.m.Readable() {
		if push {
			o.Agent.Post(ctx, commandObserve, observer.ObserveRequest{Push: s.Push, Geometry: s.Geometry, Notices: s.Notices})
		}
		if again || !interests.Equal(old) {
			o.Agent.Post(ctx, commandSetInterests, interests)
		}
	}
}

// OnAgent sends the subscription to a new agent.
func (r *Reader) OnAgent(a *frames.Agent) {
	r.m.Lock()
	s, collecting := r.subscription, r.collecting
	r.m.Unlock()
	if s.Push {
		a.Post(r.m.Life, commandObserve, observer.ObserveRequest{Push: s.Push, Geometry: s.Geometry, Notices: s.Notices, Fresh: s.Notices})
	}
	if collecting {
		a.Post(r.m.Life, commandNotice, observer.NoticeRequest{On: true, Fresh: true})
	}
	if interests := interestsOf(s); !interests.Equal(interestsOf(driver.Subscription{})) {
		a.Post(r.m.Life, commandSetInterests, interests)
	}
}

// interestsOf returns what a document must report besides its changes. Network interests do not concern documents.
func interestsOf(s driver.Subscription) observer.Interests {
	r := observer.Interests{Structural: s.Structural, Attributes: s.Attributes, Selectors: []observer.Selector{}}
	if r.Attributes == nil {
		r.Attributes = []string{}
	}
	for _, one := range s.Selectors {
		r.Selectors = append(r.Selectors, observer.Selector{CSS: one.CSS, Shown: one.Shown})
	}
	return r
}

// SetNoticeMode starts or ends the collection of notices for a call; see driver.Observer.
func (r *Reader) SetNoticeMode(ctx context.Context, n driver.NoticeMode) {
	r.m.Lock()
	told := r.ended
	r.collecting, r.ended = n != driver.NoticesOff, false
	r.m.Unlock()
	if n == driver.NoticesNew || n == driver.NoticesOff && told {
		return
	}
	for _, o := range r.m.Readable() {
		o.Agent.Post(ctx, commandNotice, observer.NoticeRequest{On: n == driver.NoticesAll})
	}
}

// CollectNotices makes the documents report pending notices; see driver.Observer.
func (r *Reader) CollectNotices(ctx context.Context, last bool) error {
	if last { // before the lookup, so that documents that appear later do not collect notices
		r.m.Lock()
		r.collecting = false
		r.m.Unlock()
	}
	collect := observer.CollectRequest{Last: last}
	for _, o := range r.m.Readable() {
		switch {
		case o.ID == cdp.FrameID(r.m.ID):
			continue
		case r.m.IsMain(o.Agent.Session): // it responds before the main document, because both share a process
			o.Agent.Post(ctx, commandCollectNotices, collect)
		case last:
			o.Agent.Post(ctx, commandNotice, observer.NoticeRequest{})
		}
	}
	main, err := r.m.Agent(ctx, "")
	if err != nil {
		return err
	}
	if err := main.Call(ctx, commandCollectNotices, collect, nil); err != nil && !frames.IsGoneContext(err) {
		return r.m.Failed(err)
	}
	r.m.Lock()
	r.ended = last
	r.m.Unlock()
	return r.m.Barrier(ctx)
}
