package browser

import (
	"testing"

	"github.com/domtap/domtap/internal/browser/console"
)

// TestActivityCountsWhatAnActionBegins checks what counts, and since when.
func TestActivityCountsWhatAnActionBegins(t *testing.T) {
	worker := console.Request{ID: "1", Type: "Script", Begun: true}
	for name, c := range map[string]struct {
		happens func(*activity)
		want    bool
	}{
		"nothing":                       {func(*activity) {}, false},
		"a request":                     {func(a *activity) { a.requested(console.Request{ID: "1", Document: "1", Type: "Image", Begun: true}) }, true},
		"the end of a request":          {func(a *activity) { a.requested(console.Request{ID: "1", Type: "Fetch", Ended: true}) }, false},
		"a beacon":                      {func(a *activity) { a.requested(console.Request{ID: "1", Type: "Ping", Begun: true}) }, false},
		"a message to a socket":         {func(a *activity) { a.arrived("Network.webSocketFrameSent") }, true},
		"a message of a socket":         {func(a *activity) { a.arrived("Network.webSocketFrameReceived") }, false},
		"a frame":                       {func(a *activity) { a.arrived("Page.frameAttached") }, true},
		"a navigation":                  {func(a *activity) { a.arrived("Page.frameStartedNavigating") }, true},
		"another URL":                   {func(a *activity) { a.arrived("Page.navigatedWithinDocument") }, false},
		"a second action":               {func(a *activity) { a.arrived("Page.frameAttached"); a.begin(true) }, true},
		"an event is left out":          {func(a *activity) { a.missed() }, true},
		"a worker before":               {func(a *activity) { a.requested(worker); a.renew() }, true},
		"a worker of the last document": {func(a *activity) { a.requested(worker); a.committed(); a.renew() }, false},
		"after what was awaited":        {func(a *activity) { a.arrived("Page.frameAttached"); a.renew() }, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := new(activity)
			a.arrived("Page.frameAttached") // before the action
			a.begin(true)
			c.happens(a)
			if got := a.any(); got != c.want {
				t.Errorf("any is %t, want %t", got, c.want)
			}
		})
	}
}

// TestAnActionIsFollowedWithThoseBeforeIt begins actions before the page settles: what one of them sets off that is not followed
// is not known, although the next one is.
func TestAnActionIsFollowedWithThoseBeforeIt(t *testing.T) {
	a := new(activity)
	for _, c := range []struct {
		begun []bool
		want  bool
	}{{nil, false}, {[]bool{true}, true}, {[]bool{true, true}, true}, {[]bool{false, true}, false}, {[]bool{true, false}, false}, {nil, false}, {[]bool{true}, true}} {
		for _, followed := range c.begun {
			a.begin(followed)
		}
		if got := a.end(); got != c.want {
			t.Errorf("after %v: followed is %t, want %t", c.begun, got, c.want)
		}
	}
}
