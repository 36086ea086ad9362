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

// A turn keeps a part of its caller's time for the answer: a tenth, within these bounds.
const (
	minSpare = 20 * time.Millisecond
	maxSpare = 500 * time.Millisecond
)

// spare ends a context a little before its deadline, if it has one.
func spare(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	keep := min(max(time.Until(deadline)/10, minSpare), maxSpare)
	return context.WithDeadlineCause(ctx, deadline.Add(-keep), actor.ErrTimeUp)
}

// isTimeUp reports whether a turn ended for want of time, and not because its caller or its tab is gone.
func isTimeUp(ctx context.Context) bool {
	return errors.Is(ctx.Err(), context.DeadlineExceeded)
}

// timeUp is why an action was not done.
func timeUp(ctx context.Context) error {
	return fmt.Errorf("not done, because %w; the tab stays usable: send what is left with more time", context.Cause(ctx))
}

// progress is what a turn has done, for whoever must end it before its answer comes.
type progress struct {
	mu   sync.Mutex
	done []string
	// partly is what was under way when this process had to stop acting; empty: nothing.
	partly string
}

// breakOff notes what was under way when an error ended the turn.
func (p *progress) breakOff(summary string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if apierr.Is(err, apierr.Fenced) {
		p.partly = summary
	}
}

func (p *progress) note(r Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.Done {
		p.done = append(p.done, r.Summary)
	}
}

// explain adds to the error of a turn what had been done by then.
func (p *progress) explain(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil || len(p.done) == 0 && p.partly == "" {
		return err
	}
	said := "what was done before: nothing"
	if len(p.done) > 0 {
		said = "what was done before: " + strings.Join(p.done, "; ")
	}
	if p.partly != "" {
		said += "; perhaps done in part: " + p.partly
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
