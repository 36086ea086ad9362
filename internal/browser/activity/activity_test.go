package activity

import (
	"testing"

	"github.com/domtap/domtap/internal/browser/console"
)

// TestActivityCountsWhatAnActionBegins checks which events count, and from when.
func TestActivityCountsWhatAnActionBegins(t *testing.T) {
	worker := console.Request{ID: "1", Type: "Script", Begun: true}
	for name, c := range map[string]struct {
		happens func(*Activity)
		want    bool
	}{
		"nothing":                       {func(*Activity) {}, false},
		"a request":                     {func(a *Activity) { a.Requested(console.Request{ID: "1", Document: "1", Type: "Image", Begun: true}) }, true},
		"the end of a request":          {func(a *Activity) { a.Requested(console.Request{ID: "1", Type: "Fetch", Ended: true}) }, false},
		"a beacon":                      {func(a *Activity) { a.Requested(console.Request{ID: "1", Type: "Ping", Begun: true}) }, false},
		"a message to a socket":         {func(a *Activity) { a.Arrived("Network.webSocketFrameSent") }, true},
		"a message of a socket":         {func(a *Activity) { a.Arrived("Network.webSocketFrameReceived") }, false},
		"a frame":                       {func(a *Activity) { a.Arrived("Page.frameAttached") }, true},
		"a navigation":                  {func(a *Activity) { a.Arrived("Page.frameStartedNavigating") }, true},
		"another URL":                   {func(a *Activity) { a.Arrived("Page.navigatedWithinDocument") }, false},
		"a second action":               {func(a *Activity) { a.Arrived("Page.frameAttached"); a.Begin(true) }, true},
		"an event is left out":          {func(a *Activity) { a.Missed() }, true},
		"a worker before":               {func(a *Activity) { a.Requested(worker); a.Renew() }, true},
		"a worker of the last document": {func(a *Activity) { a.Requested(worker); a.Committed(); a.Renew() }, false},
		"after what was awaited":        {func(a *Activity) { a.Arrived("Page.frameAttached"); a.Renew() }, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := new(Activity)
			a.Arrived("Page.frameAttached") // before the action
			a.Begin(true)
			c.happens(a)
			if got := a.Any(); got != c.want {
				t.Errorf("any is %t, want %t", got, c.want)
			}
		})
	}
}

// TestAnActionIsFollowedWithThoseBeforeIt starts several actions before the page settles. If one of them is not followed, the effects of
// all are unknown.
func TestAnActionIsFollowedWithThoseBeforeIt(t *testing.T) {
	a := new(Activity)
	for _, c := range []struct {
		begun []bool
		want  bool
	}{{nil, false}, {[]bool{true}, true}, {[]bool{true, true}, true}, {[]bool{false, true}, false}, {[]bool{true, false}, false}, {nil, false}, {[]bool{true}, true}} {
		for _, followed := range c.begun {
			a.Begin(followed)
		}
		if got := a.End(); got != c.want {
			t.Errorf("after %v: followed is %t, want %t", c.begun, got, c.want)
		}
	}
}
