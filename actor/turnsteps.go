package actor

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// readNow reads as a turn wants.
func (t *Tab) readNow(ctx context.Context, r *TurnRead) (ActionResult, error) {
	reading, err := t.read(ctx, r.Options)
	if t.fatal(ctx, err) {
		return ActionResult{}, err
	}
	var text string
	if err == nil {
		text, err = r.Say(reading)
	}
	return ActionResult{Done: err == nil, Err: err, Summary: "read: " + word(driver.DoResult{}, err), Text: text, Ref: dom.NoRef}, nil
}

// shootNow takes a picture as a turn wants.
func (t *Tab) shootNow(ctx context.Context, s *TurnShot) (ActionResult, error) {
	var reading Reading
	var err error
	if s.Draw != nil {
		reading, err = t.read(ctx, s.Options)
	}
	var image []byte
	if err == nil {
		image, err = t.picture(ctx, s.Shot)
	}
	if t.fatal(ctx, err) {
		return ActionResult{}, err
	}
	if err == nil && s.Draw != nil {
		image, err = s.Draw(reading, image)
	}
	return ActionResult{Done: err == nil, Err: err, Summary: "screenshot: " + word(driver.DoResult{}, err), Image: image, Ref: dom.NoRef}, nil
}

// backNow goes back in the history.
func (t *Tab) backNow(ctx context.Context) (ActionResult, error) {
	start := t.mark()
	err := t.unwatched(func() error {
		_, err := t.stepHistory(ctx, -1, WaitLoad)
		return err
	})
	if t.fatal(ctx, err) {
		return ActionResult{}, err
	}
	r := ActionResult{Done: err == nil, Err: err, Summary: "back: " + word(driver.DoResult{}, err), Ref: dom.NoRef}
	if err != nil || t.info.Dialog != nil {
		return r, nil
	}
	_, err = t.read(ctx, ReadOptions{})
	r.Summary += t.led(start)
	if !t.fatal(ctx, err) {
		err = nil
	}
	return r, err
}

// evidence is what the page looks like after an action failed; nil when it cannot be seen.
func (t *Tab) evidence(ctx context.Context) []byte {
	image, err := t.picture(ctx, driver.Shot{Format: "png"})
	if err != nil {
		t.log.Debug("no picture of a failure", "err", err)
		return nil
	}
	return image
}

// A turn keeps a part of its caller's time for the answer: a tenth, within these bounds.
const (
	minSpare = 20 * time.Millisecond
	maxSpare = 500 * time.Millisecond
)

// errTimeUp is why the context of a turn ends before the caller's.
var errTimeUp = fmt.Errorf("the call's time is up: %w", context.DeadlineExceeded)

// spare ends a context a little before its deadline, if it has one.
func spare(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	keep := min(max(time.Until(deadline)/10, minSpare), maxSpare)
	return context.WithDeadlineCause(ctx, deadline.Add(-keep), errTimeUp)
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
}

func (p *progress) note(r ActionResult) {
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
	if err == nil || len(p.done) == 0 {
		return err
	}
	said := fmt.Sprintf("what was done before: %s", strings.Join(p.done, "; "))
	var known *apierr.Error
	if !errors.As(err, &known) {
		return fmt.Errorf("%w; %s", err, said)
	}
	more := *known
	more.Message += "; " + said
	more.Detail = map[string]string{"done": strconv.Itoa(len(p.done))}
	for key, value := range known.Detail {
		more.Detail[key] = value
	}
	return &more
}

// maxPlace bounds how much of a title or URL a summary shows, in bytes.
const maxPlace = 80

// place names a page in a few words: Thanks (/done). A URL of the site that was left is shown as its path.
func place(title, now, before string) string {
	at := now
	to, err := url.Parse(now)
	from, bad := url.Parse(before)
	if err == nil && bad == nil && to.Host != "" && to.Host == from.Host && to.Scheme == from.Scheme {
		to.Scheme, to.Host, to.User = "", "", nil
		if at = to.String(); at == "" {
			at = "/"
		}
	}
	at = "(" + short(dom.MaskCredentials(at)) + ")"
	if title == "" {
		return at
	}
	return short(title) + " " + at
}

// short cuts a text of the page.
func short(s string) string {
	if len(s) <= maxPlace {
		return s
	}
	end := maxPlace
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
