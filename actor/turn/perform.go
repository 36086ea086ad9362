package turn

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/internal/text"
	"github.com/domtap/domtap/actor/target"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/truncate"
)

// perform performs one action, waits until the page has settled and reads it.
func (t *run) perform(ctx context.Context, a Step) (Result, error) {
	start := t.x.State()
	t.live.Begin()
	at, done, err := t.performAt(ctx, a, start)
	for _, next := range a.Then {
		if err != nil || t.x.State().Dialog != nil || t.x.State().Commits != start.Commits {
			break
		}
		next.Ref = at.ref
		var then driver.DoResult
		then, err = t.dispatch(ctx, t.placed(next), start)
		done.Pointer = cmp.Or(done.Pointer, then.Pointer)
		if err != nil {
			err = t.live.During(err, "during the "+next.Kind.String(), ", so it may be done only in part")
			done.Delivered = driver.DeliveredPart // the rest of the step was not delivered
		}
	}
	if fatal(ctx, err) {
		t.done.breakOff(a.summary(), err)
		return Result{}, err
	}
	r := Result{Done: err == nil, Delivered: done.Delivered.OrDefault(err), Err: err, Ref: at.ref, Healed: at.healed && err == nil, Moved: done.Moved, Altered: done.Altered, TagAdded: done.TagAdded,
		Element: at.el, Pointer: done.Pointer}
	what, frame := a.summary(), dom.FrameID("")
	if at.el != nil {
		what, frame = summarize(a.Action, at.el), at.el.Frame
	}
	r.Summary = what + ": " + word(done, err)
	if r.Healed {
		r.Summary += " on [" + number(at.ref) + "], which was rendered in its place"
	}
	settleErr := t.settle(ctx, start, frame)
	if r.Done {
		r.Summary += describeHovered(at.over) + settleNote(ctx, settleErr)
	}
	if apierr.Is(settleErr, apierr.Unresponsive) {
		settleErr = nil // the turn ends with an answer that includes the tab's status
	}
	switch refused := t.refused(start); {
	case r.Done && refused != nil:
		r.Done, r.Err = false, refused
		r.Summary = what + ": done, but the page it opened was refused"
	case r.Done:
		r.Destination = t.destination(start)
		r.Summary += r.Destination
		r.FieldRequests = fieldRequests(a.Action, at.el, done.Detail)
	}
	return r, settleErr
}

// settleNote returns a note about a completed action after which the page did not settle. It is empty if the page settled.
func settleNote(ctx context.Context, err error) string {
	switch {
	case apierr.Is(err, apierr.Unresponsive):
		return ", but then the page stopped answering"
	case err != nil && isTimeUp(ctx):
		return ", but the call timed out before the page settled"
	}
	return ""
}

// resolveAgain limits how often an action whose element disappeared is resolved again.
const resolveAgain = 1

// performAt resolves an action and performs it. If the element disappeared between the last read and the action, it is resolved again.
func (t *run) performAt(ctx context.Context, a Step, start actor.State) (at resolved, done driver.DoResult, err error) {
	if err := t.x.Blocked(); err != nil {
		return at, done, err
	}
	var hidden error // error of the previous attempt: the element was listed, but is no longer visible
	for tries := 0; ; tries++ {
		known := a.Expected
		one := a.Action
		at, err = t.resolveShown(ctx, a, start, at, hidden)
		if t.later && apierr.Is(err, apierr.NoMatch) {
			at, err = t.awaitMatch(ctx, a)
		}
		if err == nil {
			one.Ref, one.Words = at.ref, a.pointedWords()
			one.Expected = t.base.known(a, at)
			one.Focused = a.toFocus()
			one.To, one.Waypoints, err = t.resolveWay(ctx, a)
		}
		if err != nil {
			return at, done, t.live.During(err, "before the "+a.Kind.String(), ", so nothing was done")
		}
		if a.named() && known != nil {
			one.Expected = known // the identity that the caller named, not the current one
		}
		done, err = t.dispatchAt(ctx, at, t.placed(one), start)
		if tries < resolveAgain && apierr.Is(err, apierr.NotActionable) && t.mayShowOnHover(a, err) {
			hidden = err
			continue
		}
		if !apierr.Is(err, apierr.Stale) || tries == resolveAgain || isOther(err) && one.Expected != nil && one.Expected.Seen > 0 {
			return at, done, t.live.During(err, "during the "+a.Kind.String(), "; whether its element received anything is unknown")
		}
		a.Expected = one.Expected
		if _, err := t.x.Read(ctx, actor.ReadOptions{}); err != nil {
			return at, done, err
		}
	}
}

// appearLimit limits how long the element of a step may take to appear, if an earlier step of the turn may have caused it.
const appearLimit = 2 * time.Second

// awaitMatch resolves a step repeatedly while the page changes, because an earlier step may bring its element, such as the results of a
// search.
func (t *run) awaitMatch(ctx context.Context, a Step) (at resolved, err error) {
	defer t.x.Hold(actor.WatchOptions{Structural: t.x.State().Structural})()
	if err := t.x.Subscribe(ctx); err != nil {
		return at, err
	}
	bounded, cancel := context.WithTimeout(ctx, appearLimit)
	defer cancel()
	for {
		before := t.x.Head()
		at, err = t.resolve(ctx, a)
		if !apierr.Is(err, apierr.NoMatch) || t.x.State().Dialog != nil || bounded.Err() != nil {
			return at, err
		}
		// A head that was published while the step was resolved is new, too.
		if t.x.Head() == before && !t.x.AwaitHead(bounded) {
			return at, err
		}
	}
}

// dispatchAt performs an action. If the page cannot dispel the doubt about the element, the doubt is the error.
func (t *run) dispatchAt(ctx context.Context, at resolved, a driver.Action, start actor.State) (driver.DoResult, error) {
	done, err := t.dispatch(ctx, a, start)
	if e, ok := errors.AsType[*apierr.Error](err); ok && e.Detail["cause"] == driver.ContextChanged && at.doubt != nil {
		err = at.doubt
	}
	return done, err
}

// resolveWay resolves the waypoints and the end of a drag. The end is nil if the action has none.
func (t *run) resolveWay(ctx context.Context, a Step) (to *driver.Location, waypoints []driver.Location, err error) {
	for i, one := range a.Waypoints {
		var by target.Target
		if i < len(a.Along) {
			by = a.Along[i]
		}
		if one, err = t.resolvePlace(ctx, one, by); err != nil {
			return nil, nil, err
		}
		waypoints = append(waypoints, one)
	}
	if a.To == nil {
		return nil, waypoints, nil
	}
	end, err := t.resolvePlace(ctx, *a.To, a.Toward)
	return &end, waypoints, err
}

// resolvePlace resolves the element of a place on the way of a drag. A place without an element is returned unchanged.
func (t *run) resolvePlace(ctx context.Context, place driver.Location, by target.Target) (driver.Location, error) {
	if place.Ref == dom.NoRef && by.By == target.None {
		return place, nil
	}
	named := Step{Action: driver.Action{Kind: driver.Drag, Location: driver.At(place.Ref)}, Target: by}
	at, err := t.resolve(ctx, named)
	if err != nil {
		return place, err
	}
	return driver.Location{Element: t.x.Where(at.ref), Expected: t.base.known(named, at)}, nil
}

// placed fills in the frame and document of an action's element, and the pointer's position.
func (t *run) placed(a driver.Action) driver.Action {
	a.Element, a.From = t.x.Where(a.Ref), t.mouse.at
	return a
}

// tabOpened starts the note in a summary about a tab that an action opened.
const tabOpened = ", and tab "

func openedTab(id string) string { return tabOpened + id + " was opened" }

// destination describes where an action led to. It is empty if the action led nowhere.
func (t *run) destination(start actor.State) string {
	switch now := t.x.State(); {
	case t.x.State().Dialog != nil:
		return ", and a dialog is open: " + t.x.State().Dialog.Type + " " + strconv.Quote(truncate.Runes(t.x.State().Dialog.Message, text.Long))
	case now.Tabs > start.Tabs:
		return openedTab(t.x.SideEffects().Tabs(start.Tabs)[0])
	case now.Commits != start.Commits || now.URL != start.URL:
		return DestinationMark + place(t.x.State().Title, t.x.State().URL, start.URL)
	}
	return ""
}

// refused returns the error for an action that led to a document that the URL policy denies.
func (t *run) refused(start actor.State) error {
	if t.x.State().Commits == start.Commits {
		return nil
	}
	return t.x.Refusal()
}

// isOther reports whether an error means that the element has changed into a different one.
func isOther(err error) bool {
	var e *apierr.Error
	return errors.As(err, &e) && e.Kind == apierr.Stale && e.Detail["cause"] != ""
}

// fatal reports whether an error ends the turn.
func fatal(ctx context.Context, err error) bool {
	return err != nil && (ctx.Err() != nil || apierr.LostPage(err))
}

// dispatch performs an action. The page does not answer while a dialog that the action opened is open, and need not answer if the action
// led to another document.
func (t *run) dispatch(ctx context.Context, a driver.Action, start actor.State) (done driver.DoResult, err error) {
	err = t.x.Call(ctx, t.untilHalted(start), func(ctx context.Context, page driver.Page) (err error) {
		done, err = page.Do(ctx, a)
		return err
	})
	var e *apierr.Error
	if err == nil || errors.Is(err, errStopped) || t.x.State().Commits != start.Commits && ctx.Err() == nil && !errors.As(err, &e) {
		return done, nil
	}
	return done, err
}

// untilHalted returns a function that stops a call when a dialog that stops the page has opened.
func (t *run) untilHalted(start actor.State) func() error {
	return func() error {
		if t.x.State().Halts != start.Halts {
			return errStopped
		}
		return nil
	}
}

// errStopped ends a call to the page whose result is no longer needed.
var errStopped = errors.New("the call was stopped")
