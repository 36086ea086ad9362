package actor

import (
	"strconv"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/internal/observation"
	"github.com/domtap/domtap/actor/internal/revisions"
	"github.com/domtap/domtap/actor/target"
	"github.com/domtap/domtap/dom"
)

// Head is the newest state of a tab, immutable.
type Head struct {
	// Snapshot is never nil.
	Snapshot *dom.Snapshot
	Info     Info

	next chan struct{}
	// log leads back to earlier snapshots of the same document, without gaps.
	log revisions.Log
	// refs is how many refs were given so far.
	refs dom.Ref
	view observation.View
	// noticed is what was noticed on the page so far.
	noticed *Notices
	// past has earlier revisions of a recorded tab; nil: the tab is a live one.
	past Past
}

// Next is closed when a newer head replaces this one, and when the tab ends.
func (h *Head) Next() <-chan struct{} { return h.next }

// At returns the snapshot of a revision: this one, or an earlier one of the same document from the
// bounded log; nil when the log has dropped it.
func (h *Head) At(revision uint64) *dom.Snapshot {
	if revision == h.Snapshot.Revision {
		return h.Snapshot
	}
	if h.past != nil {
		if revision > h.Snapshot.Revision {
			return nil
		}
		if s := h.past.Snapshot(h.Snapshot.Epoch, revision); s != nil && s.Document == h.Snapshot.Document {
			return s
		}
		return nil
	}
	return h.log.At(h.Snapshot, revision)
}

// Element finds an element of the snapshot. It fails with an *Error: Invalid for a ref that was never
// given, Stale for an element that is gone; then Detail holds "ref" and, when the log remembers the
// element, "was", such as: button "Pay".
func (h *Head) Element(ref dom.Ref) (*dom.Element, error) {
	if el := h.Snapshot.Find(ref); el != nil {
		return el, nil
	}
	number := strconv.FormatUint(uint64(ref), 10)
	if ref >= h.refs {
		return nil, &apierr.Error{
			Kind: apierr.Invalid, Message: "unknown ref " + number + h.Named(number) + ": take a new snapshot and use one of its refs",
			Detail: map[string]string{"ref": number}, Field: "ref",
		}
	}
	e := &apierr.Error{Kind: apierr.Stale, Detail: map[string]string{"ref": number}}
	was := ""
	if el := h.log.Last(ref); el != nil {
		e.Detail["was"] = target.Describe(el)
		was = " (it was: " + e.Detail["was"] + ")"
	}
	e.Message = "the element of ref " + number + " is gone" + was + h.Named(number) + ": take a new snapshot and use one of its refs"
	return nil, e
}

// Named returns a part of a sentence that says which element has a number as its name, which a caller may have meant by it, such as the
// day of a calendar; empty: none has.
func (h *Head) Named(number string) string {
	for _, el := range h.Snapshot.Elements.Slice() {
		if el.Text == number && el.Kind == dom.Interactive {
			return "; ref " + strconv.FormatUint(uint64(el.Ref), 10) + " has the text " + strconv.Quote(number)
		}
	}
	return ""
}

// follow makes the head after h. The log goes on as long as the document stays the same.
func (h *Head) follow(s *dom.Snapshot, info Info, refs dom.Ref, lim revisions.Limits) *Head {
	info.Revision, info.Epoch = s.Revision, s.Epoch
	n := &Head{Snapshot: s, Info: info, next: make(chan struct{}), refs: refs, noticed: h.noticed}
	switch {
	case s == h.Snapshot:
		n.log = h.log
	case s.Document == h.Snapshot.Document && s.Epoch == h.Snapshot.Epoch:
		n.log = h.log.With(s, h.Snapshot, lim)
	}
	return n
}

// LastSeen returns the newest earlier state of an element that is gone, and the snapshot that had it; nil when the log does not
// know it.
func (h *Head) LastSeen(ref dom.Ref) (*dom.Element, *dom.Snapshot) {
	return h.log.LastSeen(h.Snapshot, ref)
}

// Network returns what is known of the page's requests.
func (h *Head) Network() Network { return h.view.Network }

// Selected returns what a selector matches in the whole page; false when the main document has not reported yet.
func (h *Head) Selected(s dom.Selector) (dom.Selection, bool) { return h.view.Selected(s) }

// Notices is what a person would have noticed on the page so far, while somebody asked; see WatchOptions.Notices and
// driver.Observer. It may be nil.
func (h *Head) Notices() *Notices { return h.noticed }

// LogBytes is what the log of earlier snapshots counts against its bound.
func (h *Head) LogBytes() int { return h.log.Bytes() }
