package turn

import (
	"context"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/heal"
	"github.com/domtap/domtap/actor/target"
	"github.com/domtap/domtap/dom"
)

// heal returns the replacement of an element that is gone, or nil if none is certain. See package heal for the criteria. The page must
// confirm the replacement.
func (t *resolver) heal(ctx context.Context, ref dom.Ref) (*dom.Element, error) {
	h := t.x.Head()
	gone, before := h.LastSeen(ref)
	if gone == nil {
		return nil, nil
	}
	replacement := heal.Replacement(gone, before.Elements.Slice(), h.Snapshot.Elements.Slice())
	if replacement == nil {
		return nil, nil
	}
	was := t.x.Where(replacement.Ref)
	was.Ref = ref
	replaces := false
	err := t.x.Query(ctx, func(ctx context.Context, page driver.Page) (err error) {
		replaces, err = page.Replaces(ctx, driver.Replacement{Old: was, New: replacement.Ref})
		return err
	})
	if err != nil || !replaces {
		if fatal(ctx, err) {
			return nil, err
		}
		return nil, nil
	}
	return replacement, nil
}

// lost returns the error for a ref whose element is gone. It describes the element and the most similar one on the page.
func (t *resolver) lost(ref dom.Ref) error {
	h := t.x.Head()
	e := &apierr.Error{Kind: apierr.Stale, Detail: map[string]string{"ref": number(ref)}}
	was := t.x.GoneElement(ref)
	e.Message = "the element of ref " + number(ref) + " is gone"
	if was != nil {
		e.Detail["was"] = target.Describe(was)
		e.Message += " (it was: " + e.Detail["was"] + ")"
		e.Candidates = target.Similar(was, h.Snapshot.Elements.Slice(), 1)
	}
	if len(e.Candidates) > 0 {
		e.Message += "; the nearest now: " + target.List(e.Candidates, 1)
		e.Detail["nearest"] = number(e.Candidates[0].Ref)
	}
	e.Message += h.Named(number(ref)) + ": take a new snapshot and use one of its refs"
	return e
}
