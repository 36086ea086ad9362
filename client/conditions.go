package client

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// These are the conditions that most programs need, for Tab.Wait and WaitUntil. A WaitCondition with several fields set holds when all of
// them hold.

// ForElement holds when an element with the ARIA role is visible and its accessible name contains name: ForElement("button", "Pay").
func ForElement(role, name string) *domtapv1.WaitCondition {
	return elementIs(domtapv1.ElementState_ELEMENT_STATE_VISIBLE, role, name)
}

// ForEnabled holds when the element that ForElement describes is also enabled.
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

// ForText holds when the page shows the text anywhere, ignoring case.
func ForText(text string) *domtapv1.WaitCondition { return &domtapv1.WaitCondition{Text: text} }

// ForURL holds when the URL contains the pattern. If the pattern contains "*", which matches any characters, it must match the whole URL.
func ForURL(pattern string) *domtapv1.WaitCondition { return &domtapv1.WaitCondition{Url: pattern} }

// ForNetworkIdle holds when the document is loaded and no request was in flight for the duration d, at most one minute. Zero means 500 ms.
// To cover the requests of an action, wait in the same turn: tab.Act(ctx, Click(t), WaitUntil(ForNetworkIdle(0))).
func ForNetworkIdle(d time.Duration) *domtapv1.WaitCondition {
	return &domtapv1.WaitCondition{NetworkIdle: durationpb.New(d)}
}

// ForQuiet holds when elements and texts did not change for the duration d, from 1 ms to one minute.
func ForQuiet(d time.Duration) *domtapv1.WaitCondition {
	return &domtapv1.WaitCondition{Quiet: durationpb.New(d)}
}

// ForChange holds when anything has changed since the wait started.
func ForChange() *domtapv1.WaitCondition { return &domtapv1.WaitCondition{Change: true} }

const (
	// longestPatience is the longest wait that the daemon accepts.
	longestPatience = 5 * time.Minute
	// deadlineMargin is the time kept free before the deadline of ctx, so that the daemon's own error can usually arrive before ctx ends.
	deadlineMargin = 200 * time.Millisecond
)

// timeLeft returns how long the daemon may wait. It returns false if ctx has no deadline, or if the deadline leaves no time for an answer.
func timeLeft(ctx context.Context) (time.Duration, bool) {
	end, ok := ctx.Deadline()
	if !ok {
		return 0, false
	}
	left := min(time.Until(end)-deadlineMargin, longestPatience)
	return left, left > 0
}
