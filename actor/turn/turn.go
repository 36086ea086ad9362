package turn

import (
	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/target"
	"github.com/domtap/domtap/dom"
)

// Turn is a sequence of steps that Run performs as one call.
type Turn struct {
	// URL, if not empty, is opened first, waiting as specified by Wait.
	URL   string
	Wait  actor.Wait
	Steps []Step
	// StopOnError skips the steps after a failed one.
	StopOnError bool
	// Heal allows replacing an element that is gone by its re-rendered version; see package heal.
	Heal bool
	// LastSeen is the snapshot that the refs of the turn were read from, or nil if unknown. The turn does not act on an element that has
	// changed into a different one since then; see heal.Reused.
	LastSeen *dom.Snapshot
	// LastSeenMark is the mark of the read that returned LastSeen; see Reading.
	LastSeenMark uint64
	// ShotOnError takes a screenshot when a step fails.
	ShotOnError bool
	// Structural also reads structural elements before the first step.
	Structural bool
}

// answersFirst reports whether the turn answers the open dialog before anything else.
func (t Turn) answersFirst() bool { return t.URL == "" && len(t.Steps) > 0 && t.Steps[0].Dialog != nil }

// Step is one step of a turn. The tab fills in Frame and Document of its Action.
type Step struct {
	// Action is the action to perform, unless one of the fields below replaces it.
	driver.Action
	// Target, if not empty, names the element instead of Ref and Point. It is resolved right before the step.
	Target target.Target
	// Toward, if not empty, names the element at the end of a Drag. To.Ref is then dom.NoRef.
	Toward target.Target
	// Along names the elements of Waypoints; an entry has the same effect as Toward has for To. It has the same length as Waypoints.
	Along []target.Target
	// Then lists actions that follow on the same element, as a part of the same step.
	Then []driver.Action
	// Wait makes the step a wait.
	Wait *WaitStep
	// Read makes the step a read.
	Read *ReadStep
	// Shot makes the step a screenshot.
	Shot *ScreenshotStep
	// Back makes the step go back in the history.
	Back bool
	// Dialog makes the step answer the open dialog.
	Dialog *driver.DialogAnswer
	// Tool makes the step call a tool of the page.
	Tool *ToolStep
	// Field makes the step fill in a field of a form, of any kind.
	Field *Field
	// Submit makes the step submit a form, unless an earlier step failed.
	Submit *Form
	// found reports that the turn found Ref itself, because the caller named the element differently.
	found bool
}

// acts reports whether the step acts on the page by input.
func (a Step) acts() bool {
	return a.Dialog == nil && a.Tool == nil && a.Wait == nil && a.Read == nil && a.Shot == nil && !a.Back
}

// affects reports whether the page reacts to the step.
func (a Step) affects() bool { return a.Dialog != nil || a.Tool != nil || a.acts() }

// pressesAtFocus reports whether the step presses keys at the focused element.
func (a Step) pressesAtFocus() bool {
	return (a.Kind == driver.Press || a.Kind == driver.Type) && a.Target.By == target.None && a.Ref == dom.NoRef && a.Point == nil
}

// ReadStep reads the page between the actions of a turn.
type ReadStep struct {
	Options actor.ReadOptions
	// Format formats the reading as text. It runs on the tab's goroutine and must not block.
	Format func(actor.Reading) (string, error)
}

// ScreenshotStep takes a screenshot between the actions of a turn.
type ScreenshotStep struct {
	Shot driver.ScreenshotOptions
	// Options select what is read right before the screenshot, if Draw is set.
	Options actor.ReadOptions
	// Draw, if set, creates the resulting picture. It runs on the tab's goroutine and must not block.
	Draw func(actor.Reading, []byte) ([]byte, error)
}

// summary describes the step in a few words, before its element is known.
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
	case a.Dialog != nil:
		return dialogVerb(*a.Dialog) + " dialog"
	case a.Tool != nil:
		return a.Tool.summary()
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

// notDone returns the result of a step that was not performed. how is the reason in a few words.
func (a Step) notDone(err error, how string) Result {
	r := Result{Err: err, Summary: a.summary() + ": " + how}
	if a.acts() {
		r.Delivered = driver.DeliveredNone
	}
	return r
}

// Verdict is the effect of a turn on the page. If several apply, the first of DialogShown, NewTab, Navigated and Changed is used.
type Verdict uint8

// The values of Verdict.
const (
	// NoChange means that the DOM has not changed.
	NoChange Verdict = iota
	// Changed means that elements, or the title, have changed.
	Changed
	// Navigated means that the document or the URL has changed.
	Navigated
	// DialogShown means that a dialog opened. While it is open, Info.Dialog is set.
	DialogShown
	// NewTab means that a tab was opened. Outcome.NewTab is its ID.
	NewTab
)

// Result is the result of one step.
type Result struct {
	// Done reports whether the step was performed.
	Done bool
	// Delivered reports how much of the action its element received. A step that acts on an element is Done only with DeliveredAll.
	// DeliveredUnset is used for steps that act on no element.
	Delivered driver.Delivered
	// Moved reports whether the element was moved to another place on the page.
	Moved bool
	// Altered and TagAdded are as in driver.DoResult.
	Altered, TagAdded bool
	// Err is the reason why the step was not performed. If it was performed, but led to a document that the URL policy denies, Err is of
	// kind Refused. Otherwise it is an *Error of kind Stale, NotActionable, Ambiguous, NoMatch, Invalid, Aborted, NoHistory or DialogOpen,
	// an error of the page, or context.DeadlineExceeded when the time was up. It is nil for steps that were skipped after a failed one.
	Err error
	// Summary describes the result in a few words, such as: click "Submit": ok → Thanks (/done).
	Summary string
	// Healed reports that the element of the ref was gone, and that the action was performed on Ref instead, its re-rendered version.
	Healed bool
	Ref    dom.Ref
	// Element is the element of the action, as it was read before, or nil if there was none or none was found. Pointer is the pointer's
	// position, or nil if no pointer was used.
	Element *dom.Element
	Pointer *driver.PointerPosition
	// Destination is the end of Summary that describes where the action led, or empty.
	Destination string
	// FieldRequests lists what the action requested of fields that can show it.
	FieldRequests []FieldRequest
	// Text is the text of a ReadStep.
	Text string
	// Image is the picture of a ScreenshotStep or of a failure.
	Image []byte
	// Dialog is the dialog that the step answered, or nil.
	Dialog *driver.Dialog
	// Claim is what the page said about a ToolStep, or nil.
	Claim *driver.ToolClaim
}

// Outcome is the result of a turn.
type Outcome struct {
	// Before is the state right before the first step, and After the state right after the last one. While a dialog is open, After is the
	// last state that the page reported.
	Before, After *dom.Snapshot
	// Structural reports whether both states include structural elements. If not, structural elements in one of them do not count as a
	// change.
	Structural bool
	// Replaced reports whether the main document was replaced.
	Replaced bool
	// Results is parallel to the turn's steps.
	Results []Result
	Verdict Verdict
	NewTab  string
	Info    actor.Info
	// Mark is the mark of the last read; see Reading.
	Mark uint64
	// Notices lists what a person would have noticed during the turn, even if the stored DOM does not contain it.
	Notices []dom.Notice
}

// FieldRequests returns what the steps requested of fields, in order.
func (o *Outcome) FieldRequests() (all []FieldRequest) {
	for _, r := range o.Results {
		all = append(all, r.FieldRequests...)
	}
	return all
}

// Elements returns the elements of one of the two states that count in a comparison; see Structural.
func (o *Outcome) Elements(s *dom.Snapshot) dom.List {
	if o.Structural {
		return s.Elements
	}
	return WithoutStructure(s.Elements)
}

// ElementsDiffer reports whether the turn changed interactive elements in more than which of them has the focus.
func (o *Outcome) ElementsDiffer() bool {
	return differBesideFocus(WithoutStructure(o.Before.Elements), WithoutStructure(o.After.Elements))
}
