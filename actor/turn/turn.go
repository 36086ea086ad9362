package turn

import (
	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/target"
	"github.com/domtap/domtap/dom"
)

// Turn is what Run does in one go.
type Turn struct {
	// URL, when set, is navigated to first, waiting as Wait says.
	URL   string
	Wait  actor.Wait
	Steps []Step
	// StopOnError skips the steps behind one that failed.
	StopOnError bool
	// Heal allows that a ref whose element was rendered anew is taken for the one that has its place; see package
	// heal.
	Heal bool
	// LastSeen, when set, is the state of the page that the refs of the turn were read from, as far as that is known: an
	// element that is used for something else since then is not acted on; see heal.Reused.
	LastSeen *dom.Snapshot
	// LastSeenMark is the mark of the read that brought LastSeen; see Reading.
	LastSeenMark uint64
	// ShotOnError takes a picture when an action fails.
	ShotOnError bool
	// Structural reads structural elements, too, before the first action.
	Structural bool
}

// Step is one action of a turn. Frame and Document of its Action are filled in by the tab.
type Step struct {
	// Action is what is done, unless one of Wait, Read, Shot and Back says something else.
	driver.Action
	// Target, when it is not empty, names the element instead of Ref and Point. It is looked for when the action's turn comes.
	Target target.Target
	// Toward, when it is not empty, names the element that a Drag ends at; To.Ref is dom.NoRef then.
	Toward target.Target
	// Along is to Waypoints what Toward is to To; it is as long.
	Along []target.Target
	// Then is done to the same element right after, as a part of the same action.
	Then []driver.Action
	// Wait waits.
	Wait *WaitStep
	// Read reads.
	Read *ReadStep
	// Shot takes a picture.
	Shot *ScreenshotStep
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
func (a Step) acts() bool { return a.Wait == nil && a.Read == nil && a.Shot == nil && !a.Back }

// ReadStep lets a turn read between its actions.
type ReadStep struct {
	Options actor.ReadOptions
	// Say makes the text of what was read. It runs on the tab's goroutine and must not wait.
	Say func(actor.Reading) (string, error)
}

// ScreenshotStep lets a turn take a picture between its actions.
type ScreenshotStep struct {
	Shot driver.Shot
	// Options are what is read right before the picture is taken, when Draw is set.
	Options actor.ReadOptions
	// Draw, when set, makes the picture to give back. It runs on the tab's goroutine and must not wait.
	Draw func(actor.Reading, []byte) ([]byte, error)
}

// summary names it in a few words, before it is known what element it is about.
func (a Step) summary() string {
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
		return verbOf(a.Action) + " " + a.Target.String()
	case a.Target.By == target.Ref:
		a.Ref = a.Target.Ref
	}
	return summarize(a.Action, nil)
}

// notDone is the result of an action of which nothing was done; how says why in a few words.
func (a Step) notDone(err error, how string) Result {
	r := Result{Err: err, Summary: a.summary() + ": " + how}
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

// Result is how one action went.
type Result struct {
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
	// Element is what the action was performed on, as it was read before; nil: on none, or none was found. Aim is where the pointer
	// was; nil: none was used.
	Element *dom.Element
	Aim     *driver.Aim
	// Led is the end of Summary that says where the action led; empty: nowhere.
	Led string
	// Asked is what the action asked of fields that can show it.
	Asked []Asked
	// Text is what a ReadStep said.
	Text string
	// Image is what a ScreenshotStep took, or the picture of a failure.
	Image []byte
}

// Outcome is what a turn did.
type Outcome struct {
	// Before is the state right before the first action, After the one right after the last. While a
	// dialog is open After is the last state that the page reported.
	Before, After *dom.Snapshot
	// Structural says that both states have structural elements, as far as the page has any: otherwise those that
	// one of them has are not a change.
	Structural bool
	// Replaced says that the main document is another.
	Replaced bool
	// Results stands parallel to the turn's actions.
	Results []Result
	Verdict Verdict
	NewTab  string
	Info    actor.Info
	// Mark is the mark of the last read; see Reading.
	Mark uint64
	// Notices is what a person would have noticed during the turn, whatever the stored DOM has of it.
	Notices []dom.Notice
}

// Asked returns what the actions asked of fields, in their order.
func (o *Outcome) Asked() (all []Asked) {
	for _, r := range o.Results {
		all = append(all, r.Asked...)
	}
	return all
}

// Elements returns what counts of one of the two states when they are compared; see Structural.
func (o *Outcome) Elements(s *dom.Snapshot) dom.List {
	if o.Structural {
		return s.Elements
	}
	return WithoutStructure(s.Elements)
}
