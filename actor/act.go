package actor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/target"
	"github.com/domtap/domtap/dom"
)

// Turn is what Act does in one go.
type Turn struct {
	// URL, when set, is navigated to first, waiting as Wait says.
	URL     string
	Wait    Wait
	Actions []TurnAction
	// StopOnError skips the actions behind one that failed.
	StopOnError bool
	// Heal allows that a ref whose element was rendered anew is taken for the one that has its place; see package
	// heal.
	Heal bool
	// Told, when set, is the state of the page that the refs of the turn were read from, as far as that is known: an
	// element that is used for something else since then is not acted on; see heal.Reused.
	Told *dom.Snapshot
	// ToldMark is the mark of the read that brought Told; see Reading.
	ToldMark uint64
	// ShotOnError takes a picture when an action fails.
	ShotOnError bool
}

// TurnAction is one action of a turn. Frame and Document of its Action are filled in by the tab.
type TurnAction struct {
	// Action is what is done, unless one of Wait, Read, Shot and Back says something else.
	driver.Action
	// Target, when it is not empty, names the element instead of Ref and Point. It is looked for when the action's turn comes.
	Target target.Target
	// Toward, when it is not empty, names the element that a Drag ends at; To.Ref is dom.NoRef then.
	Toward target.Target
	// Then is done to the same element right after, as a part of the same action.
	Then []driver.Action
	// Wait waits.
	Wait *TurnWait
	// Read reads.
	Read *TurnRead
	// Shot takes a picture.
	Shot *TurnShot
	// Back goes back in the history.
	Back bool
	// Field fills in a field of a form, of whatever kind it is.
	Field *Field
	// Submit sends a form, unless an action before it failed.
	Submit *Form
	// found says that the turn found Ref itself: its caller named the element otherwise.
	found bool
}

// acts reports whether it does something to the page.
func (a TurnAction) acts() bool { return a.Wait == nil && a.Read == nil && a.Shot == nil && !a.Back }

// TurnRead lets a turn read between its actions.
type TurnRead struct {
	Options ReadOptions
	// Say makes the text of what was read. It runs on the tab's goroutine and must not wait.
	Say func(Reading) (string, error)
}

// TurnShot lets a turn take a picture between its actions.
type TurnShot struct {
	Shot driver.Shot
	// Options are what is read right before the picture is taken, when Draw is set.
	Options ReadOptions
	// Draw, when set, makes the picture to give back. It runs on the tab's goroutine and must not wait.
	Draw func(Reading, []byte) ([]byte, error)
}

// summary names it in a few words, before it is known what element it is about.
func (a TurnAction) summary() string {
	switch {
	case a.Wait != nil:
		return a.Wait.Summary
	case a.Read != nil:
		return "read"
	case a.Shot != nil:
		return "screenshot"
	case a.Back:
		return "back"
	case a.Field != nil:
		return "fill " + a.Field.name()
	case a.Submit != nil:
		return "submit"
	case a.Target.By != target.None && a.Target.By != target.Ref:
		return a.Kind.String() + " " + a.Target.String()
	case a.Target.By == target.Ref:
		a.Ref = a.Target.Ref
	}
	return summarize(a.Action, nil)
}

// notDone is the result of an action of which nothing was done; how says why in a few words.
func (a TurnAction) notDone(err error, how string) ActionResult {
	r := ActionResult{Err: err, Summary: a.summary() + ": " + how}
	if a.acts() {
		r.Delivered = driver.DeliveredNone
	}
	return r
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
	// Delivered says how much of the action its element received; Done only with DeliveredAll. DeliveredUnset for what acts
	// on no element.
	Delivered driver.Delivered
	// Moved says that the element stands elsewhere on the page than before.
	Moved bool
	// Err is why it was not, or of kind Refused when it was, but led to a document that the URL policy refuses: an *Error of kind Stale, NotActionable, Ambiguous, NoMatch, Invalid, Aborted, NoHistory
	// or DialogOpen, what the page said, or context.DeadlineExceeded when time ran out. It is nil for actions that
	// were skipped because of another's failure.
	Err error
	// Summary is a few words, such as: click "Submit": ok → Thanks (/done).
	Summary string
	// Healed says that the element of the ref was gone, and that the action was performed on Ref instead, which was
	// rendered in its place.
	Healed bool
	Ref    dom.Ref
	// Text is what a TurnRead said.
	Text string
	// Image is what a TurnShot took, or the picture of a failure.
	Image []byte
}

// Outcome is what a turn did.
type Outcome struct {
	// Before is the state right before the first action, After the one right after the last. While a
	// dialog is open After is the last state that the page reported.
	Before, After *dom.Snapshot
	// Structural says that both states have structural elements, as far as the page has any: otherwise those that
	// one of them has are no change.
	Structural bool
	// Replaced says that the main document is another.
	Replaced bool
	// Results stands parallel to the turn's actions.
	Results []ActionResult
	Verdict Verdict
	NewTab  string
	Info    Info
	// Mark is the mark of the last read; see Reading.
	Mark uint64
}

// Act performs one turn; nothing else happens to the tab in between. Failures of single actions are in
// the results, and so is the end of the caller's time when something was done by then: the turn ends a little
// before it, so that the answer is in time. The turn as a whole fails as Navigate and Read do; when it had done
// something, the error says what.
func (t *Tab) Act(ctx context.Context, turn Turn) (Outcome, error) {
	if turn.URL != "" {
		if err := t.policy.allow(turn.URL); err != nil {
			return Outcome{}, err
		}
	}
	turn.Actions = slices.Clone(turn.Actions)
	var done progress
	run := do[Outcome]
	if turn.URL != "" {
		run = leaving[Outcome]
	}
	out, err := run(ctx, t, "act", func(ctx context.Context) (Outcome, error) { return t.act(ctx, turn, &done) })
	return out, done.explain(err)
}

// marks is what had happened to a tab at one moment.
type marks struct {
	commits, dialogs, halts, tabs int
	url                           string
}

func (t *Tab) mark() marks {
	return marks{commits: t.commits, dialogs: t.dialogs, halts: t.halts, tabs: len(t.newTabs), url: t.info.URL}
}

func (t *Tab) act(ctx context.Context, turn Turn, done *progress) (Outcome, error) {
	ctx, cancel := spare(ctx)
	defer cancel()
	t.newTabs = nil
	t.windows.reset()
	waits, release := t.expect(turn)
	defer release()
	start := t.mark()
	if turn.URL != "" {
		if _, err := t.navigate(ctx, turn.URL, turn.Wait); err != nil {
			return Outcome{}, err
		}
	}
	if t.halts == start.halts {
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
	structural := t.isStructural()
	t.promised = promise{told: turn.Told, toldMark: turn.ToldMark, began: out.Before, beganMark: t.lastMark, heal: turn.Heal}
	defer func() { t.promised = promise{} }()
	if slices.ContainsFunc(turn.Actions, TurnAction.acts) {
		t.page().Attend(ctx, true)
		defer t.page().Attend(t.ctx, false)
	}
	if err := t.performAll(ctx, turn, out.Results, done); err != nil {
		return Outcome{}, err
	}
	t.settlePopups(ctx)
	t.publish()
	h := t.head.Load()
	out.After, out.Info, out.Mark = h.Snapshot, h.Info, t.lastMark
	out.Structural = structural && t.isStructural()
	out.Replaced = out.Before.Document != out.After.Document || out.Before.Epoch != out.After.Epoch
	t.judge(&out, start)
	return out, nil
}

// performAll does the actions in order and fills in the results. The error is that of the whole turn.
func (t *Tab) performAll(ctx context.Context, turn Turn, results []ActionResult, done *progress) error {
	defer t.keepWatch()()
	var over error // why nothing more is done
	failed := false
	for i, a := range turn.Actions {
		switch {
		case failed && (turn.StopOnError || a.Submit != nil):
			results[i] = a.notDone(nil, "skipped")
			continue
		case over == nil && t.info.Dialog != nil:
			over = t.blocked()
		case over == nil && t.liveness.hung:
			over = t.stopAnswering()
		}
		if over != nil {
			results[i] = a.notDone(over, "not done, "+word(driver.DoResult{}, over))
			continue
		}
		r, err := t.performNoting(ctx, a)
		done.note(r)
		if err != nil && isTimeUp(ctx) && (i > 0 || turn.URL != "" || r.Done) {
			// The answer says what was done until now.
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
			r.Image = t.evidence(ctx)
		}
		results[i] = r
	}
	if t.liveness.hung {
		if t.drain(); t.crashed { // which took long to be told
			return t.crash()
		}
	}
	return nil
}

// performOne does one action, or whatever else it asks for. A result that is Done counts although there is an
// error, which is that of the turn.
func (t *Tab) performOne(ctx context.Context, a TurnAction) (ActionResult, error) {
	switch {
	case a.Wait != nil:
		return t.linger(ctx, a.Wait)
	case a.Read != nil:
		return t.readNow(ctx, a.Read)
	case a.Shot != nil:
		return t.shootNow(ctx, a.Shot)
	case a.Back:
		return t.backNow(ctx)
	case a.Field != nil:
		return t.fillIn(ctx, a.Field)
	case a.Submit != nil:
		return t.submit(ctx, a.Submit)
	}
	return t.perform(ctx, a)
}

// settlePopups learns of the tabs that the browser has reported so far.
func (t *Tab) settlePopups(ctx context.Context) {
	t.owner.settlePopups(ctx)
	for {
		select {
		case id := <-t.popups:
			t.opened(id)
		default:
			t.newTabs = slices.DeleteFunc(t.newTabs, t.vanished)
			return
		}
	}
}

// vanished reports whether a tab is gone again, as the window of a download is.
func (t *Tab) vanished(id string) bool {
	_, err := t.owner.Tab(id)
	return err != nil
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
	case slices.ContainsFunc(out.Results, func(r ActionResult) bool { return r.Moved }):
		out.Verdict = Changed
	case out.Before.Title != out.After.Title || differ(out.Elements(out.Before), out.Elements(out.After)):
		out.Verdict = Changed
	}
}

// differ reports whether a client would see a difference.
func differ(a, b dom.List) bool {
	return slices.ContainsFunc(dom.Gaps(a, b), func(g dom.Gap) bool {
		return !slices.EqualFunc(g.Old, g.Now, (*dom.Element).Same)
	})
}

// Elements returns what counts of one of the two states when they are compared; see Structural.
func (o *Outcome) Elements(s *dom.Snapshot) dom.List {
	shown := func(el *dom.Element) bool { return el.Kind == dom.Structural }
	if o.Structural || !slices.ContainsFunc(s.Elements.Slice(), shown) {
		return s.Elements
	}
	return dom.ListOf(slices.DeleteFunc(slices.Clone(s.Elements.Slice()), shown))
}

// perform does one action, waits until the page has come to rest and reads it.
func (t *Tab) perform(ctx context.Context, a TurnAction) (ActionResult, error) {
	start := t.mark()
	t.watched()
	at, deed, err := t.performAt(ctx, a, start)
	for _, next := range a.Then {
		if err != nil || t.info.Dialog != nil || t.commits != start.commits {
			break
		}
		next.Ref = at.ref
		if _, err = t.strike(ctx, t.placed(next), start); err != nil {
			err = t.during(err, "during the "+next.Kind.String(), ", so it may be done in part only")
			deed.Delivered = driver.DeliveredPart // of all that was to be done
		}
	}
	if t.fatal(ctx, err) {
		return ActionResult{}, err
	}
	r := ActionResult{Done: err == nil, Delivered: deed.Delivered.OrDefault(err), Err: err, Ref: at.ref, Healed: at.healed && err == nil, Moved: deed.Moved}
	what := a.summary()
	if at.el != nil {
		what = summarize(a.Action, at.el)
	}
	r.Summary = what + ": " + word(deed, err)
	if r.Healed {
		r.Summary += " on [" + number(at.ref) + "], which was rendered in its place"
	}
	frame := dom.FrameID("")
	if at.el != nil {
		frame = at.el.Frame
	}
	restless := t.rest(ctx, start, frame)
	if r.Done && isHung(restless) {
		r.Summary += ", but then the page stopped answering"
	} else if r.Done && restless != nil && isTimeUp(ctx) {
		r.Summary += ", but the time was up before the page came to rest"
	}
	if isHung(restless) {
		restless = nil // the turn ends with an answer, which has the tab's status
	}
	switch refused := t.ledAstray(start); {
	case r.Done && refused != nil:
		r.Done, r.Err = false, refused
		r.Summary = what + ": done, but where it led is refused"
	case r.Done:
		r.Summary += t.led(start)
	}
	return r, restless
}

// aimAgain is how often an action whose element went away is aimed anew.
const aimAgain = 1

// performAt aims an action and performs it. Whatever went away between the last read and the action is aimed at anew.
func (t *Tab) performAt(ctx context.Context, a TurnAction, start marks) (at aimed, deed driver.DoResult, err error) {
	if err := t.blocked(); err != nil {
		return at, deed, err
	}
	for tries := 0; ; tries++ {
		known := a.Known
		one := a.Action
		if at, err = t.aim(ctx, a); err == nil {
			one.Ref = at.ref
			one.Known = t.promised.known(a, at)
			one.To, err = t.aimTo(ctx, a)
		}
		if err != nil {
			return at, deed, t.during(err, "before the "+a.Kind.String(), ", so nothing was done")
		}
		if a.named() && known != nil {
			one.Known = known // it is what the caller named, and not what became of that since
		}
		if deed, err = t.strikeAt(ctx, at, t.placed(one), start); !isStale(err) || tries == aimAgain || isOther(err) && one.Known != nil && one.Known.Told > 0 {
			return at, deed, t.during(err, "during the "+a.Kind.String(), "; whether its element received anything is not known")
		}
		a.Known = one.Known
		if _, err := t.read(ctx, ReadOptions{}); err != nil {
			return at, deed, err
		}
	}
}

// strikeAt performs an action. Where the page knows no better than what was doubtful, the doubt is the error.
func (t *Tab) strikeAt(ctx context.Context, at aimed, a driver.Action, start marks) (driver.DoResult, error) {
	deed, err := t.strike(ctx, a, start)
	var e *apierr.Error
	if errors.As(err, &e) && e.Detail["cause"] == driver.Beside && at.doubt != nil {
		err = at.doubt
	}
	return deed, err
}

// aimTo finds where a drag ends; nil for an action that does not say.
func (t *Tab) aimTo(ctx context.Context, a TurnAction) (*driver.Spot, error) {
	if a.To == nil || a.To.Ref == dom.NoRef && a.Toward.By == target.None {
		return a.To, nil
	}
	at, err := t.aim(ctx, TurnAction{Action: driver.Action{Ref: a.To.Ref}, Target: a.Toward})
	if err != nil {
		return nil, err
	}
	to := driver.Spot{Ref: at.ref, Known: t.promised.known(TurnAction{Action: driver.Action{Kind: driver.Drag, Ref: a.To.Ref}, Target: a.Toward}, at)}
	to.Frame, to.Document, _ = t.model.Where(at.ref)
	return &to, nil
}

// placed fills in where the element of an action stands.
func (t *Tab) placed(a driver.Action) driver.Action {
	a.Frame, a.Document = "", ""
	if a.Ref != dom.NoRef {
		a.Frame, a.Document, _ = t.model.Where(a.Ref)
	}
	return a
}

// led says where an action led to; empty: nowhere.
func (t *Tab) led(start marks) string {
	switch now := t.mark(); {
	case t.info.Dialog != nil:
		return ", and a dialog is open: " + t.info.Dialog.Type + " " + strconv.Quote(clip(t.info.Dialog.Message))
	case now.tabs > start.tabs:
		return ", and tab " + t.newTabs[start.tabs] + " was opened"
	case now.commits != start.commits || now.url != start.url:
		return " → " + place(t.info.Title, t.info.URL, start.url)
	}
	return ""
}

// ledAstray is the error of an action that led to a document that the URL policy refuses.
func (t *Tab) ledAstray(start marks) error {
	if t.commits == start.commits || t.cause == nil || t.cause.Kind != apierr.Refused {
		return nil
	}
	return t.cause
}

func isStale(err error) bool {
	var e *apierr.Error
	return errors.As(err, &e) && e.Kind == apierr.Stale
}

// isOther reports whether an error says that an element is another thing than the one that was meant.
func isOther(err error) bool {
	var e *apierr.Error
	return errors.As(err, &e) && e.Kind == apierr.Stale && e.Detail["cause"] != ""
}

// fatal reports whether an error ends the turn.
func (t *Tab) fatal(ctx context.Context, err error) bool {
	var e *apierr.Error
	return err != nil && (ctx.Err() != nil || errors.As(err, &e) && (e.Kind == apierr.Lost || e.Kind == apierr.Closed || e.Kind == apierr.Restoring))
}

// strike performs an action. The page does not answer while a dialog that the action opened is there,
// and need not answer when the action led to another document.
func (t *Tab) strike(ctx context.Context, a driver.Action, start marks) (deed driver.DoResult, err error) {
	t.flush()
	err = t.call(ctx, func() error {
		if t.halts != start.halts {
			return errStopped
		}
		return nil
	}, func(ctx context.Context) (err error) {
		deed, err = t.page().Do(ctx, a)
		return err
	})
	var e *apierr.Error
	if err == nil || errors.Is(err, errStopped) || t.commits != start.commits && ctx.Err() == nil && !errors.As(err, &e) {
		return deed, nil
	}
	return deed, err
}

// summarize names an action in a few words: click "Submit".
func summarize(a driver.Action, el *dom.Element) string {
	verb := a.Kind.String()
	switch {
	case a.Kind == driver.Press:
		return verb + " " + strconv.Quote(clip(a.Text))
	case a.Point != nil && a.Ref == dom.NoRef:
		return fmt.Sprintf("%s %g,%g", verb, a.Point.X, a.Point.Y)
	case a.Aimless():
		return verb
	case el == nil:
		return verb + " " + number(a.Ref)
	}
	if name := target.Called(el); name != "" {
		return verb + " " + strconv.Quote(name)
	}
	return verb + " " + target.Describe(el) + " " + number(el.Ref)
}

func number(ref dom.Ref) string { return strconv.FormatUint(uint64(ref), 10) }

// word says in a word or two how an action went.
func word(deed driver.DoResult, err error) string {
	if err == nil {
		return cmp.Or(deed.Note, "ok")
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "time ran out"
	}
	var e *apierr.Error
	if errors.As(err, &e) {
		switch e.Kind {
		case apierr.Stale:
			if isOther(err) {
				return "something else now"
			}
			return "gone"
		case apierr.NotActionable:
			return "not actionable"
		case apierr.NotDelivered:
			return "not delivered"
		case apierr.Ambiguous:
			return "ambiguous"
		case apierr.NoMatch:
			return "not found"
		case apierr.Invalid:
			return "no such ref"
		case apierr.Aborted:
			return "the page went elsewhere"
		case apierr.DialogOpen:
			return "a dialog is open"
		case apierr.Unresponsive:
			return "the page stopped answering"
		}
	}
	return "failed"
}
