package actor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/domtap/domtap/dom"
)

const (
	// settleLimit is how long the page may take to come to rest after an action.
	settleLimit = 2 * time.Second
	// parseLimit is how long a document that an action led to may take to be parsed.
	parseLimit = 10 * time.Second
)

// Turn is what Act does in one go.
type Turn struct {
	// URL, when set, is navigated to first, waiting as Wait says.
	URL     string
	Wait    Wait
	Actions []TurnAction
	// StopOnError skips the actions behind one that failed.
	StopOnError bool
}

// TurnAction is one action of a turn. Its Ref is set by the caller, dom.NoRef for a Press at the focus;
// Frame and Document are filled in by the tab.
type TurnAction struct {
	Action
	// Wait, when set, is done instead of the Action.
	Wait *TurnWait
}

// summary names it in a few words.
func (a TurnAction) summary() string {
	if a.Wait != nil {
		return a.Wait.Summary
	}
	return summarize(a.Action, nil)
}

// Verdict is what a turn did to the page, in one word. When several hold, the first of DialogShown,
// NewTab, Navigated and Changed counts.
type Verdict uint8

// The verdicts.
const (
	// NoChange: nothing in the DOM is different.
	NoChange Verdict = iota
	// Changed: elements, or the title, are different.
	Changed
	// Navigated: another document or another URL.
	Navigated
	// DialogShown: a dialog opened; while it is open, Info.Dialog is set.
	DialogShown
	// NewTab: a tab was opened; Outcome.NewTab is its id.
	NewTab
)

// ActionResult is how one action went.
type ActionResult struct {
	// Done says that the action was performed.
	Done bool
	// Err is why it was not: an *Error of kind Stale, NotActionable, Invalid or DialogOpen, or what the
	// page said. It is nil for actions that were skipped.
	Err error
	// Summary is a few words, such as: click "Submit": ok.
	Summary string
}

// Outcome is what a turn did.
type Outcome struct {
	// Before is the state right before the first action, After the one right after the last. While a
	// dialog is open After is the last state that the page reported.
	Before, After *dom.Snapshot
	// Results stands parallel to the turn's actions.
	Results []ActionResult
	Verdict Verdict
	NewTab  string
	Info    Info
}

// Act performs one turn; nothing else happens to the tab in between. Failures of single actions are in
// the results. The turn as a whole fails as Navigate and Read do.
func (t *Tab) Act(ctx context.Context, turn Turn) (Outcome, error) {
	if turn.URL != "" {
		if err := t.policy.allow(turn.URL); err != nil {
			return Outcome{}, err
		}
	}
	turn.Actions = slices.Clone(turn.Actions)
	return do(ctx, t, "act", func(ctx context.Context) (Outcome, error) { return t.act(ctx, turn) })
}

// marks is what had happened to a tab at one moment.
type marks struct {
	commits, dialogs, tabs int
}

func (t *Tab) mark() marks {
	return marks{commits: t.commits, dialogs: t.dialogs, tabs: len(t.newTabs)}
}

func (t *Tab) act(ctx context.Context, turn Turn) (Outcome, error) {
	t.newTabs = nil
	waits, release := t.expect(turn)
	defer release()
	start := t.mark()
	if turn.URL != "" {
		if _, err := t.navigate(ctx, turn.URL, turn.Wait); err != nil {
			return Outcome{}, err
		}
	}
	if t.dialogs == start.dialogs {
		if waits {
			if err := t.observe(ctx); err != nil {
				return Outcome{}, err
			}
		}
		if _, err := t.read(ctx, ReadOptions{}); err != nil {
			return Outcome{}, err
		}
	}
	out := Outcome{Before: t.head.Load().Snapshot, Results: make([]ActionResult, len(turn.Actions))}
	failed := false
	for i, a := range turn.Actions {
		if failed && turn.StopOnError {
			out.Results[i].Summary = a.summary() + ": skipped"
			continue
		}
		var err error
		if out.Results[i], err = t.performOne(ctx, a); err != nil {
			return Outcome{}, err
		}
		failed = failed || out.Results[i].Err != nil
	}
	t.settlePopups(ctx)
	h := t.head.Load()
	out.After, out.Info = h.Snapshot, h.Info
	t.judge(&out, start)
	return out, nil
}

// performOne does one action, or waits.
func (t *Tab) performOne(ctx context.Context, a TurnAction) (ActionResult, error) {
	if a.Wait != nil {
		return t.linger(ctx, a.Wait)
	}
	return t.perform(ctx, a.Action)
}

// settlePopups learns of the tabs that the browser has reported so far.
func (t *Tab) settlePopups(ctx context.Context) {
	t.owner.settlePopups(ctx)
	for {
		select {
		case id := <-t.popups:
			t.opened(id)
		default:
			return
		}
	}
}

// opened notes a tab that the page has opened; a turn hears of so many and no more.
func (t *Tab) opened(id string) {
	if len(t.newTabs) < cap(t.popups) {
		t.newTabs = append(t.newTabs, id)
	}
}

// judge finds the verdict.
func (t *Tab) judge(out *Outcome, start marks) {
	switch {
	case t.dialogs != start.dialogs:
		out.Verdict = DialogShown
	case len(t.newTabs) > 0:
		out.Verdict, out.NewTab = NewTab, t.newTabs[0]
	case t.commits != start.commits || out.Before.URL != out.After.URL:
		out.Verdict = Navigated
	case out.Before.Title != out.After.Title || differ(out.Before.Elements, out.After.Elements):
		out.Verdict = Changed
	}
}

// differ reports whether a client would see a difference.
func differ(a, b dom.List) bool {
	return slices.ContainsFunc(dom.Gaps(a, b), func(g dom.Gap) bool {
		return !slices.EqualFunc(g.Old, g.Now, (*dom.Element).Same)
	})
}

// perform does one action, waits until the page has come to rest and reads it. The error is that of the
// turn, not of the action.
func (t *Tab) perform(ctx context.Context, a Action) (ActionResult, error) {
	start := t.mark()
	el, err := t.locate(&a)
	if err == nil {
		err = t.blocked()
	}
	var deed Deed
	if err == nil {
		deed, err = t.strike(ctx, a, start)
	}
	if t.fatal(ctx, err) {
		return ActionResult{}, err
	}
	r := ActionResult{Done: err == nil, Err: err, Summary: summarize(a, el) + ": " + word(deed, err)}
	return r, t.rest(ctx, start)
}

// fatal reports whether an error ends the turn.
func (t *Tab) fatal(ctx context.Context, err error) bool {
	var e *Error
	return err != nil && (ctx.Err() != nil || errors.As(err, &e) && (e.Kind == Lost || e.Kind == Closed))
}

// locate fills in where the element of an action stands.
func (t *Tab) locate(a *Action) (*dom.Element, error) {
	if a.To != nil && a.To.Ref != dom.NoRef {
		if _, err := t.head.Load().Element(a.To.Ref); err != nil {
			return nil, err
		}
		to := *a.To
		to.Frame, to.Document, _ = t.model.Where(to.Ref)
		a.To = &to
	}
	if a.Ref == dom.NoRef && (a.Point != nil || a.Aimless()) {
		return nil, nil
	}
	el, err := t.head.Load().Element(a.Ref)
	if err != nil {
		return nil, err
	}
	a.Frame, a.Document, _ = t.model.Where(a.Ref)
	return el, nil
}

// strike performs an action. The page does not answer while a dialog that the action opened is there,
// and need not answer when the action led to another document.
func (t *Tab) strike(ctx context.Context, a Action, start marks) (deed Deed, err error) {
	t.flush()
	err = t.call(ctx, func() error {
		if t.dialogs != start.dialogs {
			return errStopped
		}
		return nil
	}, func(ctx context.Context) (err error) {
		deed, err = t.page.Do(ctx, a)
		return err
	})
	var e *Error
	if err == nil || errors.Is(err, errStopped) || t.commits != start.commits && ctx.Err() == nil && !errors.As(err, &e) {
		return deed, nil
	}
	return deed, err
}

// rest waits until the page has come to rest after an action and reads it. It follows the page to
// another document. A page that a dialog blocks is at rest.
func (t *Tab) rest(ctx context.Context, start marks) error {
	commits := start.commits
	for range readRounds {
		err := t.call(ctx, func() error {
			if now := t.mark(); now.commits != commits || now.dialogs != start.dialogs || now.tabs != start.tabs {
				return errStopped
			}
			return nil
		}, func(ctx context.Context) error { return t.page.Settle(ctx, settleLimit) })
		if t.fatal(ctx, err) {
			return err
		}
		if t.info.Dialog != nil {
			return nil
		}
		if t.commits != commits {
			commits = t.commits
			if err := t.parsed(ctx); err != nil {
				return err
			}
			continue
		}
		_, err = t.read(ctx, ReadOptions{})
		if t.fatal(ctx, err) || err == nil && t.commits == commits {
			return err
		}
	}
	return nil
}

// parsed waits until the document that an action led to is parsed. One that takes long is left to load.
func (t *Tab) parsed(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, parseLimit)
	defer cancel()
	err := t.load(bounded, t.main, PhaseDOMContentLoaded)
	if t.fatal(ctx, err) {
		return err
	}
	return nil
}

// summarize names an action in a few words: click "Submit".
func summarize(a Action, el *dom.Element) string {
	verb := a.Kind.String()
	switch {
	case a.Kind == Press:
		return verb + " " + strconv.Quote(clip(a.Text))
	case a.Point != nil && a.Ref == dom.NoRef:
		return fmt.Sprintf("%s %g,%g", verb, a.Point.X, a.Point.Y)
	case a.Aimless():
		return verb
	case el == nil:
		return verb + " " + strconv.FormatUint(uint64(a.Ref), 10)
	}
	for _, name := range []string{el.Text, el.Placeholder, el.Name} {
		if name != "" {
			return verb + " " + strconv.Quote(name)
		}
	}
	return verb + " " + describe(el) + " " + strconv.FormatUint(uint64(a.Ref), 10)
}

// word says in a word or two how an action went.
func word(deed Deed, err error) string {
	if err == nil {
		return cmp.Or(deed.Note, "ok")
	}
	var e *Error
	if errors.As(err, &e) {
		switch e.Kind {
		case Stale:
			return "gone"
		case NotActionable:
			return "not actionable"
		case Invalid:
			return "no such ref"
		case DialogOpen:
			return "a dialog is open"
		}
	}
	return "failed"
}
