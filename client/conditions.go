package client

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// The conditions that most programs wait for, for Tab.Wait and WaitUntil. A WaitCondition with several fields set holds
// when all of them do.

// ForElement holds when a visible element has an ARIA role and a part of an accessible name: ForElement("button", "Pay").
func ForElement(role, name string) *domtapv1.WaitCondition {
	return elementIs(domtapv1.ElementState_ELEMENT_STATE_VISIBLE, role, name)
}

// ForEnabled is ForElement for an element that is not disabled.
func ForEnabled(role, name string) *domtapv1.WaitCondition {
	return elementIs(domtapv1.ElementState_ELEMENT_STATE_ENABLED, role, name)
}

// ForGone holds when no element has the role and the name.
func ForGone(role, name string) *domtapv1.WaitCondition {
	return elementIs(domtapv1.ElementState_ELEMENT_STATE_GONE, role, name)
}

func elementIs(state domtapv1.ElementState, role, name string) *domtapv1.WaitCondition {
	return &domtapv1.WaitCondition{Element: &domtapv1.ElementCondition{Role: role, Name: name, State: state}}
}

// ForText holds when the page shows a text, in any case, anywhere.
func ForText(text string) *domtapv1.WaitCondition { return &domtapv1.WaitCondition{Text: text} }

// ForURL holds when the URL has a part; with a "*" in it, which stands for any characters, when it is the whole URL.
func ForURL(pattern string) *domtapv1.WaitCondition { return &domtapv1.WaitCondition{Url: pattern} }

// ForNetworkIdle holds when the document is loaded and no request was under way for a time of at most a minute; 0: 500
// ms. To cover the requests of an action, wait in the same turn: tab.Act(ctx, Click(t), WaitUntil(ForNetworkIdle(0))).
func ForNetworkIdle(d time.Duration) *domtapv1.WaitCondition {
	return &domtapv1.WaitCondition{NetworkIdle: durationpb.New(d)}
}

// ForQuiet holds when elements and texts did not change for a time of 1 ms to a minute.
func ForQuiet(d time.Duration) *domtapv1.WaitCondition {
	return &domtapv1.WaitCondition{Quiet: durationpb.New(d)}
}

// ForChange holds when anything changed since the wait began.
func ForChange() *domtapv1.WaitCondition { return &domtapv1.WaitCondition{Change: true} }

const (
	// longestPatience is the longest wait that the daemon takes.
	longestPatience = 5 * time.Minute
	// reserve is what the daemon's own error needs to arrive before ctx ends, in the best case.
	reserve = 200 * time.Millisecond
)

// timeLeft returns how long the daemon may wait; false: ctx has no deadline, or none that leaves time for an answer.
func timeLeft(ctx context.Context) (time.Duration, bool) {
	end, ok := ctx.Deadline()
	if !ok {
		return 0, false
	}
	left := min(time.Until(end)-reserve, longestPatience)
	return left, left > 0
}
