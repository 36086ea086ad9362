package actor

import (
	"context"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/heal"
	"github.com/domtap/domtap/actor/target"
	"github.com/domtap/domtap/dom"
)

// promise is what a turn was asked with.
type promise struct {
	// told is what its caller knew of the page, nil when that is not known, and began is what the page was like when
	// the turn began: what the turn itself does to an element makes nothing else of it.
	told, began *dom.Snapshot
	// toldMark and beganMark are the marks of the reads that brought them.
	toldMark, beganMark uint64
	// heal allows healing.
	heal bool
}

// named reports whether the caller named the element of an action by its ref.
func (a TurnAction) named() bool {
	return !a.found && (a.Target.By == target.Ref || a.Target.By == target.None && a.Ref != dom.NoRef)
}

// known is what the element of an action must still be when that reaches it; nil for what does it no harm.
func (p promise) known(a TurnAction, at aimed) *driver.Known {
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
func (p promise) comparable() bool {
	return p.told != nil && p.told.Document == p.began.Document && p.told.Epoch == p.began.Epoch
}

// use says what an element has become since the caller was told of it, with the error of one that is something else.
func (p promise) use(ref dom.Ref, el *dom.Element) (heal.Use, error) {
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
func (p promise) other(was, el *dom.Element) error {
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

// heal returns the element that has the place of one that is gone; nil: none surely has. See package heal for what
// makes one the heir; the page has the last word.
func (t *Tab) heal(ctx context.Context, ref dom.Ref) (*dom.Element, error) {
	h := t.head.Load()
	gone, before := h.journal.lastSeen(h.Snapshot, ref)
	if gone == nil {
		return nil, nil
	}
	heir := heal.Heir(gone, before.Elements.Slice(), h.Snapshot.Elements.Slice())
	if heir == nil {
		return nil, nil
	}
	s := driver.Replacement{Gone: ref, Heir: heir.Ref}
	s.Frame, s.Document, _ = t.model.Where(heir.Ref)
	t.flush()
	inherits := false
	err := t.query(ctx, func(ctx context.Context) (err error) {
		inherits, err = t.page().Inherits(ctx, s)
		return err
	})
	if err != nil || !inherits {
		if t.fatal(ctx, err) {
			return nil, err
		}
		return nil, nil
	}
	return heir, nil
}

// maxEpitaphs is how many elements of earlier documents a tab remembers.
const maxEpitaphs = 1000

// epitaph is what is remembered of an element whose document is gone.
type epitaph struct{ role, text string }

// bury remembers what the elements of a document were that is left, the newest document first.
func (t *Tab) bury(s *dom.Snapshot) {
	if s.Elements.Len() == 0 {
		return
	}
	graves := make(map[dom.Ref]epitaph, min(maxEpitaphs, s.Elements.Len()+len(t.epitaphs)))
	for el := range s.Elements.All() {
		if len(graves) == maxEpitaphs {
			break
		}
		if el.Kind == dom.Interactive {
			graves[el.Ref] = epitaph{role: el.Role, text: target.Called(el)}
		}
	}
	for ref, e := range t.epitaphs {
		if len(graves) == maxEpitaphs {
			break
		}
		graves[ref] = e
	}
	t.epitaphs = graves
}

// lost is the error of a ref whose element is gone: what it was, and what is on the page that comes nearest.
func (t *Tab) lost(ref dom.Ref) error {
	h := t.head.Load()
	e := &apierr.Error{Kind: apierr.Stale, Detail: map[string]string{"ref": number(ref)}}
	was := h.journal.last(ref)
	if grave, known := t.epitaphs[ref]; was == nil && known {
		was = &dom.Element{Ref: ref, Role: grave.role, Text: grave.text}
	}
	e.Message = "the element of ref " + number(ref) + " is gone"
	if was != nil {
		e.Detail["was"] = target.Describe(was)
		e.Message += " (it was: " + e.Detail["was"] + ")"
		e.Candidates = target.Like(was, h.Snapshot.Elements.Slice(), 1)
	}
	if len(e.Candidates) > 0 {
		e.Message += "; the nearest now: " + target.List(e.Candidates, 1)
		e.Detail["nearest"] = number(e.Candidates[0].Ref)
	}
	e.Message += ": read the page again and use a ref from there"
	return e
}
