package turn

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// Run performs a turn on a tab. No other call acts on the tab during the turn. Failures of single steps are in the results. If the caller's
// time ends after something was done, that is in the results, too; the turn ends a little earlier, so that the answer is in time. The turn
// as a whole fails with the errors of Tab.Navigate and Tab.Read. If it had done something before, the error reports that.
func Run(ctx context.Context, tab *actor.Tab, turn Turn) (Outcome, error) {
	turn.Steps = slices.Clone(turn.Steps)
	var done progress
	command := actor.Command{Name: "act", URL: turn.URL, Leaves: turn.URL != ""}
	out, err := actor.Do(ctx, tab, command, func(ctx context.Context, x *actor.Exclusive) (Outcome, error) {
		t := &run{resolver: resolver{x: x, live: x.Liveness()}, done: &done, offered: map[string]bool{}}
		return t.run(ctx, turn)
	})
	return out, done.explain(err)
}

// run is a running turn.
type run struct {
	resolver
	// done records what was done so far.
	done *progress
	// last reports that the last step is running. The answer then also waits for timers that it sets.
	last bool
	// later reports that the running step is not the first operation of the turn.
	later bool
	// next is the field that the next step fills in, or nil.
	next *Field
	// keepsFocus reports that the next step presses keys at the focused element.
	keepsFocus bool
	mouse      mouse
	// offered holds the texts of the options in lists that the turn opened.
	offered map[string]bool
}

func (t *run) run(ctx context.Context, turn Turn) (Outcome, error) {
	ctx, cancel := spare(ctx)
	defer cancel()
	t.x.SideEffects().ForgetTabs()
	waits, release := t.hold(turn)
	defer release()
	start := t.x.State()
	answers := start.Dialog != nil && turn.answersFirst()
	if !answers { // the turn in which the dialog opened has left the notices on
		t.x.Page().SetNoticeMode(ctx, driver.NoticesAll)
	}
	defer t.endNotices(ctx)
	lastNotice := t.x.Head().Notices().Last()
	if turn.URL != "" {
		if _, err := t.x.Navigate(ctx, turn.URL, turn.Wait); err != nil {
			return Outcome{}, err
		}
	}
	if t.x.State().Halts == start.Halts && !answers {
		if err := t.readFirst(ctx, turn, waits); err != nil {
			return Outcome{}, err
		}
	}
	if turn.URL == "" && !answers {
		lastNotice = t.x.Head().Notices().Last() // the read has reported earlier notices
	}
	out := Outcome{Before: t.x.Head().Snapshot, Results: make([]Result, len(turn.Steps))}
	structural := t.x.State().Structural
	t.base = baseline{seen: turn.LastSeen, seenMark: turn.LastSeenMark, start: out.Before, startMark: t.x.State().Mark, heal: turn.Heal}
	if slices.ContainsFunc(turn.Steps, Step.affects) {
		t.x.Page().SetActing(ctx, true)
		defer func() { t.x.Page().SetActing(context.WithoutCancel(ctx), false) }()
	}
	if err := t.performAndRelease(ctx, turn, out.Results); err != nil {
		return Outcome{}, err
	}
	if slices.ContainsFunc(turn.Steps, Step.affects) && t.x.Ready() == nil {
		t.awaitWork(ctx, lastNotice, &out)
	}
	t.x.SideEffects().SettleTabs(ctx)
	h := t.named(ctx, t.x.Publish(), lastNotice)
	out.Notices = t.withoutOfferedOptions(h.Notices().Since(lastNotice), h.Snapshot)
	out.After, out.Info, out.Mark = h.Snapshot, h.Info, t.x.State().Mark
	out.Structural = structural && t.x.State().Structural
	out.Replaced = out.Before.Document != out.After.Document || out.Before.Epoch != out.After.Epoch
	t.judge(&out, start)
	return out, nil
}

// readFirst reads the page before the first step. If the turn waits, the page also reports what the waits need.
func (t *run) readFirst(ctx context.Context, turn Turn, waits bool) error {
	if waits {
		if err := t.x.Subscribe(ctx); err != nil {
			return err
		}
	}
	_, err := t.x.Read(ctx, actor.ReadOptions{Structural: turn.Structural})
	return err
}

// endNotices ends the reporting of notices. If a dialog blocks the page, the notices stay on for the turn that answers it, because the page
// continues to handle the input before it receives any message.
func (t *run) endNotices(ctx context.Context) {
	if t.x.State().Dialog == nil {
		t.x.Page().SetNoticeMode(context.WithoutCancel(ctx), driver.NoticesOff)
	}
}

// nameBound limits how long the page may take to report which elements its notices are about.
const nameBound = 200 * time.Millisecond

// named returns the head in which the notices since a change have the refs of their elements. This includes elements that were inserted
// during the turn, which the page notices before it knows their refs. It returns h if all notices have a ref, or if a dialog is open.
func (t *run) named(ctx context.Context, h *actor.Head, since uint64) *actor.Head {
	unnamed := func(n dom.Notice) bool {
		return n.Ref == dom.NoRef && !n.Gone && (n.Kind == dom.NoticeDialog || n.Kind == dom.NoticeInvalid)
	}
	if !slices.ContainsFunc(h.Notices().Since(since), unnamed) || t.x.State().Dialog != nil {
		return h
	}
	ctx, cancel := context.WithTimeout(ctx, nameBound)
	defer cancel()
	return t.collected(ctx)
}

// collected collects the notices of the page and returns the head with them. It returns the current head if the page cannot answer.
func (t *run) collected(ctx context.Context) *actor.Head {
	if t.live.Hung() || t.x.Ready() != nil {
		return t.x.Head()
	}
	err := t.x.Query(ctx, func(ctx context.Context, page driver.Page) error { return page.CollectNotices(ctx, false) })
	if err == nil {
		err = t.x.Drain()
	}
	if err != nil {
		t.x.Debug("the page did not report its notices", err)
	}
	return t.x.Publish()
}

// withoutOfferedOptions removes the texts of options that were offered during the turn and are not on the page any more.
func (t *run) withoutOfferedOptions(all []dom.Notice, now *dom.Snapshot) []dom.Notice {
	if len(t.offered) == 0 {
		return all
	}
	for el := range now.Elements.All() {
		delete(t.offered, el.WholeText())
	}
	return slices.DeleteFunc(slices.Clone(all), func(n dom.Notice) bool { return n.Kind == dom.NoticeText && t.offered[n.Text] })
}

// performAll performs the steps in order and fills in the results. The error is for the whole turn.
func (t *run) performAll(ctx context.Context, turn Turn, results []Result) error {
	defer t.live.Watch()()
	var over error // the reason why no further step is performed
	failed := false
	for i, a := range turn.Steps {
		switch {
		case failed && (turn.StopOnError || a.Submit != nil):
			results[i] = a.notDone(nil, "skipped")
			continue
		case over == nil && a.Dialog == nil && t.x.State().Dialog != nil:
			over = t.x.Blocked()
		case over == nil && t.live.Hung():
			over = t.live.Stop()
		}
		if over != nil {
			results[i] = a.notDone(over, "not done, "+word(driver.DoResult{}, over))
			continue
		}
		t.last, t.later = i == len(turn.Steps)-1, i > 0 || turn.URL != ""
		if t.keepsFocus, t.next = false, nil; !t.last {
			t.keepsFocus, t.next = turn.Steps[i+1].pressesAtFocus(), turn.Steps[i+1].Field
		}
		r, err := t.performWithSideEffects(ctx, a)
		t.done.record(r)
		t.mouse.record(a, r)
		if err != nil && isTimeUp(ctx) && (i > 0 || turn.URL != "" || r.Done) {
			// The answer reports what was done so far.
			over = timeUp(ctx)
			if !r.Done {
				r = a.notDone(over, word(driver.DoResult{}, over))
			}
			results[i] = r
			continue
		}
		if err != nil {
			return err
		}
		if failed = failed || r.Err != nil; r.Err != nil && turn.ShotOnError {
			r.Image = t.errorScreenshot(ctx)
		}
		results[i] = r
		if i > 0 && a.Field != nil && t.wasDropped(ctx, &results[i-1]) {
			failed = true
		}
	}
	if t.live.Hung() {
		return t.x.Drain() // a late report of a crash
	}
	return nil
}

// performOne performs one step. A result that is Done counts even if there is an error; the error is for the turn.
func (t *run) performOne(ctx context.Context, a Step) (Result, error) {
	switch {
	case a.Wait != nil:
		return t.wait(ctx, a.Wait)
	case a.Read != nil:
		return t.readNow(ctx, a.Read)
	case a.Shot != nil:
		return t.shootNow(ctx, a.Shot)
	case a.Back:
		return t.backNow(ctx)
	case a.Dialog != nil:
		return t.answerDialog(ctx, *a.Dialog)
	case a.Tool != nil:
		return t.callTool(ctx, a.Tool)
	case a.Field != nil:
		return filler{t}.fill(ctx, a.Field)
	case a.Submit != nil:
		return filler{t}.submit(ctx, a.Submit)
	}
	return filler{t}.performOrDraw(ctx, a)
}

// forgetClosed removes from the summaries the tabs that were opened but are already closed, such as the window of a download.
func forgetClosed(results []Result, open []string) {
	for i := range results {
		r := &results[i]
		if strings.HasPrefix(r.Destination, tabOpened) && !slices.ContainsFunc(open, func(id string) bool { return r.Destination == openedTab(id) }) {
			r.Summary, r.Destination = strings.Replace(r.Summary, r.Destination, "", 1), ""
		}
	}
}

// judge determines the verdict.
func (t *run) judge(out *Outcome, start actor.State) {
	forgetClosed(out.Results, t.x.SideEffects().Tabs(0))
	out.Notices = withoutMinor(out)
	switch {
	case t.x.State().Dialogs != start.Dialogs:
		out.Verdict = DialogShown
	case t.x.State().Tabs > 0:
		out.Verdict, out.NewTab = NewTab, t.x.SideEffects().Tabs(0)[0]
	case t.x.State().Commits != start.Commits || out.Before.URL != out.After.URL:
		out.Verdict = Navigated
	case slices.ContainsFunc(out.Results, func(r Result) bool { return r.Moved || r.Altered }):
		out.Verdict = Changed
	case out.Before.Title != out.After.Title || differ(out.Elements(out.Before), out.Elements(out.After)):
		out.Verdict = Changed
	case slices.ContainsFunc(out.Notices, isChange):
		out.Verdict = Changed
	}
}

// withoutMinor returns the notices of an outcome, without the minor ones if anything other than the focus has changed.
func withoutMinor(out *Outcome) []dom.Notice {
	isMinor := func(n dom.Notice) bool { return n.Minor }
	isMajor := func(n dom.Notice) bool { return !n.Minor && isChange(n) }
	if !slices.ContainsFunc(out.Notices, isMinor) {
		return out.Notices
	}
	if out.Before.URL == out.After.URL && !slices.ContainsFunc(out.Notices, isMajor) && !out.ElementsDiffer() {
		return out.Notices
	}
	return slices.DeleteFunc(slices.Clone(out.Notices), isMinor)
}

// differBesideFocus reports whether elements differ in more than which of them has the focus.
func differBesideFocus(a, b dom.List) bool {
	return slices.ContainsFunc(dom.Gaps(a, b), func(g dom.Gap) bool {
		return !slices.EqualFunc(g.Old, g.Now, func(old, now *dom.Element) bool {
			same := *now
			same.States.Focused = old.States.Focused
			return old.Same(&same)
		})
	})
}

// isChange reports whether a notice is about a change of the page, possibly in texts and styles that the stored DOM does not contain.
func isChange(n dom.Notice) bool {
	return n.Kind != dom.NoticeBusy && (n.Kind != dom.NoticeAppearance || !n.Gone)
}

// differ reports whether a client would see a difference.
func differ(a, b dom.List) bool {
	return slices.ContainsFunc(dom.Gaps(a, b), func(g dom.Gap) bool {
		return !slices.EqualFunc(g.Old, g.Now, (*dom.Element).Same)
	})
}
