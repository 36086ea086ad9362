package actor

import (
	"context"
	"fmt"
	"time"

	"github.com/domtap/domtap/actor/apierr"
)

const (
	// queryLimit is how long the page may take to answer a query, however much time the caller has.
	queryLimit = 30 * time.Second
	// queryPatience is how long a query may take until it is asked whether the page answers at all.
	queryPatience = time.Second
)

// query asks the page for something that a dialog would keep it from telling. When the page does not answer, and a call waits
// that navigates the tab elsewhere, the query ends at once: what it asks for is about to go away. Other errors are those of call.
func (t *Tab) query(ctx context.Context, work func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, queryLimit, ErrTimeUp)
	defer cancel()
	return t.yielding(ctx, work)
}

// yielding is query without its limit.
func (t *Tab) yielding(ctx context.Context, work func(ctx context.Context) error) error {
	begun := time.Now()
	nudge := time.AfterFunc(queryPatience, t.stir)
	defer nudge.Stop()
	var suspected [2]bool // once in any case, and once more for who waits
	return t.call(ctx, func() error {
		if err := t.blocked(); err != nil {
			return err
		}
		awaited := min(t.leavers.Load(), 1)
		if awaited > 0 && t.unresponsive {
			return apierr.Errorf(apierr.Aborted, "tab %s did not answer, and another call navigates it elsewhere: try again when that has ended", t.id)
		}
		if asked := &suspected[awaited]; !*asked && time.Since(begun) >= queryPatience {
			*asked = true
			t.suspect()
		}
		return nil
	}, work)
}

// ErrTimeUp is why the context of a call's work ends before the caller's does.
var ErrTimeUp = fmt.Errorf("the call's time is up: %w", context.DeadlineExceeded)
