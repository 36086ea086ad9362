package turn

import (
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/heal"
	"github.com/domtap/domtap/actor/target"
	"github.com/domtap/domtap/dom"
)

// baseline is the state that the caller's turn is based on.
type baseline struct {
	// seen is the snapshot that the caller has read, or nil if unknown. start is the snapshot at the start of the turn. Changes that the
	// turn itself makes to an element are not compared with it.
	seen, start *dom.Snapshot
	// seenMark and startMark are the marks of the reads that returned them.
	seenMark, startMark uint64
	// heal allows healing.
	heal bool
}

// named reports whether the caller named the element of a step by its ref.
func (a Step) named() bool {
	return !a.found && (a.Target.By == target.Ref || a.Target.By == target.None && a.Ref != dom.NoRef)
}

// known returns the expected identity of an action's element. It is nil for actions that cannot do harm.
func (p baseline) known(a Step, at resolved) *driver.ExpectedElement {
	if at.el == nil || a.Kind == driver.Hover || a.Kind == driver.Scroll {
		return nil
	}
	known := &driver.ExpectedElement{Name: at.el.Text, Start: p.startMark, Doubtful: at.doubt != nil}
	if a.named() && !at.healed && p.comparable() {
		known.Seen = p.seenMark
	}
	return known
}

// comparable reports whether the caller has read the document that was current at the start of the turn.
func (p baseline) comparable() bool {
	return p.seen != nil && p.seen.Document == p.start.Document && p.seen.Epoch == p.start.Epoch
}

// use compares an element with its state when the caller read it. It returns an error if the element has changed into a different one.
func (p baseline) use(ref dom.Ref, el *dom.Element) (heal.ReuseKind, error) {
	if !p.comparable() {
		return heal.Same, nil
	}
	was, use := heal.Reused(ref, p.seen.Elements.Slice(), p.start.Elements.Slice())
	if use == heal.Same {
		return use, nil
	}
	return use, p.other(was, el)
}

// other returns the error for an element that has changed into a different one since the caller read it.
func (p baseline) other(was, el *dom.Element) error {
	ref := was.Ref
	e := &apierr.Error{
		Kind: apierr.Stale, Detail: map[string]string{"ref": number(ref), "cause": "reused", "was": target.Describe(was), "is": target.Describe(el)},
		Candidates: target.Similar(was, p.start.Elements.Slice(), 1),
	}
	e.Message = "the element of ref " + number(ref) + " was " + target.Describe(was) + " when it was read, and the page uses it for something else now"
	if el != nil && target.Describe(el) != target.Describe(was) {
		e.Message += " (" + target.Describe(el) + ")"
	}
	if len(e.Candidates) > 0 && e.Candidates[0].Ref != ref {
		e.Message += "; the nearest now: " + target.List(e.Candidates, 1)
	}
	e.Message += ": read the page again, or repeat the step to act on it anyway"
	return e
}
