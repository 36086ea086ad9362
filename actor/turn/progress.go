package turn

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
)

// A turn reserves a part of its caller's time for the answer: a tenth, within these bounds.
const (
	minSpare = 20 * time.Millisecond
	maxSpare = 500 * time.Millisecond
)

// spare returns a context that ends shortly before the deadline of ctx, if it has one.
func spare(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	keep := min(max(time.Until(deadline)/10, minSpare), maxSpare)
	return context.WithDeadlineCause(ctx, deadline.Add(-keep), actor.ErrTimeUp)
}

// isTimeUp reports whether a turn ended because its time was up, and not because its caller or its tab is gone.
func isTimeUp(ctx context.Context) bool {
	return errors.Is(ctx.Err(), context.DeadlineExceeded)
}

// timeUp returns the error for an action that was not performed because the time was up.
func timeUp(ctx context.Context) error {
	return fmt.Errorf("not done, because %w; the tab stays usable: send the remaining steps with a longer timeout", context.Cause(ctx))
}

// progress records what a turn has done, in case it must end before its answer is complete.
type progress struct {
	mu   sync.Mutex
	done []string
	// partly is the action that was running when this process had to stop acting, or empty.
	partly string
}

// breakOff records the running action when an error ends the turn.
func (p *progress) breakOff(summary string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if apierr.Is(err, apierr.Fenced) {
		p.partly = summary
	}
}

func (p *progress) record(r Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.Done {
		p.done = append(p.done, r.Summary)
	}
}

// explain adds to the error of a turn what was done before.
func (p *progress) explain(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil || len(p.done) == 0 && p.partly == "" {
		return err
	}
	said := "done before: nothing"
	if len(p.done) > 0 {
		said = "done before: " + strings.Join(p.done, "; ")
	}
	if p.partly != "" {
		said += "; possibly done in part: " + p.partly
	}
	var known *apierr.Error
	if !errors.As(err, &known) {
		return fmt.Errorf("%w; %s", err, said)
	}
	more := *known
	more.Message += "; " + said
	more.Detail = map[string]string{"done": strconv.Itoa(len(p.done))}
	maps.Copy(more.Detail, known.Detail)
	return &more
}
