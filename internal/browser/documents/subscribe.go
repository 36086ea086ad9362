package documents

import (
	"context"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/browser/frames"
	"github.com/domtap/domtap/internal/browser/observer"
)

// The commands of the script that a subscription needs.
const (
	commandObserve      = "observe"
	commandSetInterests = "setInterests"
)

// Subscribe says what all documents push and report; see driver.Observer. It sends what differs from the subscription before.
// A subscription that is repeated is sent as a whole: the caller does not know whether the last call took effect.
func (r *Reader) Subscribe(ctx context.Context, s driver.Subscription) {
	r.m.Lock()
	before := r.subscription
	r.subscription = s
	r.m.Unlock()
	again := s.Equal(before)
	push := again || s.Push != before.Push || s.Geometry != before.Geometry
	interests, old := interestsOf(s), interestsOf(before)
	for _, o := range r.m.Readable() {
		if push {
			o.Agent.Post(ctx, commandObserve, observer.ObserveRequest{Push: s.Push, Geometry: s.Geometry})
		}
		if again || !interests.Equal(old) {
			o.Agent.Post(ctx, commandSetInterests, interests)
		}
	}
}

// OnAgent tells a new agent what it is to push and report.
func (r *Reader) OnAgent(a *frames.Agent) {
	r.m.Lock()
	s := r.subscription
	r.m.Unlock()
	if s.Push {
		a.Post(r.m.Life, commandObserve, observer.ObserveRequest{Push: s.Push, Geometry: s.Geometry})
	}
	if interests := interestsOf(s); !interests.Equal(interestsOf(driver.Subscription{})) {
		a.Post(r.m.Life, commandSetInterests, interests)
	}
}

// interestsOf is what a document reports beside its changes. The network is none of its business.
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
