package turn

import (
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/heal"
	"github.com/domtap/domtap/actor/target"
	"github.com/domtap/domtap/dom"
)

// baseline is what a turn was asked with.
type baseline struct {
	// told is what its caller knew of the page, nil when that is not known, and began is what the page was like when
	// the turn began: what the turn itself does to an element makes nothing else of it.
	told, began *dom.Snapshot
	// toldMark and beganMark are the marks of the reads that brought them.
	toldMark, beganMark uint64
	// heal allows healing.
	heal bool
}

// named reports whether the caller named the element of an action by its ref.
func (a Step) named() bool {
	return !a.found && (a.Target.By == target.Ref || a.Target.By == target.None && a.Ref != dom.NoRef)
}

// known is what the element of an action must still be when that reaches it; nil for what does it no harm.
func (p baseline) known(a Step, at resolved) *driver.Known {
	if at.el == nil || a.Kind == driver.Hover || a.Kind == driver.Scroll {
		return nil
	}
	known := &driver.Known{Name: at.el.Text, Began: p.beganMark, Doubtful: at.doubt != nil}
	if a.named() && !at.healed && p.comparable() {
		known.Told = p.toldMark
	}
	return known
}

// comparable reports whether the caller was told of the document that the turn began with.
func (p baseline) comparable() bool {
	return p.told != nil && p.told.Document == p.began.Document && p.told.Epoch == p.began.Epoch
}

// use says what an element has become since the caller was told of it, with the error of one that is something else.
func (p baseline) use(ref dom.Ref, el *dom.Element) (heal.Use, error) {
	if !p.comparable() {
		return heal.Same, nil
	}
	was, use := heal.Reused(ref, p.told.Elements.Slice(), p.began.Elements.Slice())
	if use == heal.Same {
		return use, nil
	}
	return use, p.other(was, el)
}

// other is the error of an element that has become something else since the caller was told of it.
func (p baseline) other(was, el *dom.Element) error {
	ref := was.Ref
	e := &apierr.Error{
		Kind: apierr.Stale, Detail: map[string]string{"ref": number(ref), "cause": "reused", "was": target.Describe(was), "is": target.Describe(el)},
		Candidates: target.Like(was, p.began.Elements.Slice(), 1),
	}
	e.Message = "the element of ref " + number(ref) + " was " + target.Describe(was) + " when it was read, and the page uses it for something else now"
	if el != nil && target.Describe(el) != target.Describe(was) {
		e.Message += " (" + target.Describe(el) + ")"
	}
	if len(e.Candidates) > 0 && e.Candidates[0].Ref != ref {
		e.Message += "; the nearest now: " + target.List(e.Candidates, 1)
	}
	e.Message += ": read the page again, or send the step again if it is meant nevertheless"
	return e
}
