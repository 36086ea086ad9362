package actor

import (
	"strconv"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/internal/observation"
	"github.com/domtap/domtap/actor/internal/revisions"
	"github.com/domtap/domtap/actor/target"
	"github.com/domtap/domtap/dom"
)

// Head is an immutable snapshot of a tab's newest state.
type Head struct {
	// Snapshot is never nil.
	Snapshot *dom.Snapshot
	Info     Info

	next chan struct{}
	// log leads to earlier snapshots of the same document, without gaps.
	log revisions.Log
	// refs is the number of refs assigned so far.
	refs dom.Ref
	view observation.View
	// notices holds the notices of the page so far.
	notices *Notices
	// past holds the earlier revisions of a recorded tab. It is nil for a live tab.
	past RecordedStates
}

// Next returns a channel that is closed when a newer head replaces this one, or when the tab ends.
func (h *Head) Next() <-chan struct{} { return h.next }

// At returns the snapshot of a revision: the current one, or an earlier one of the same document from the bounded log. It returns nil if
// the log has dropped the revision.
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

// Element returns the element of a ref in the snapshot. It fails with an *Error of kind Invalid for a ref that was never assigned, or Stale
// for an element that is gone. For Stale, Detail holds "ref" and, if the log remembers the element, "was", such as: button "Pay".
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

// Named returns a phrase for an error message that names the element whose text is number, such as a day in a calendar, because the caller
// may have meant that element. It returns an empty string if there is none.
func (h *Head) Named(number string) string {
	for _, el := range h.Snapshot.Elements.Slice() {
		if el.Text == number && el.Kind == dom.Interactive {
			return "; ref " + strconv.FormatUint(uint64(el.Ref), 10) + " has the text " + strconv.Quote(number)
		}
	}
	return ""
}

// follow creates the successor of h. The log continues while the document stays the same.
func (h *Head) follow(s *dom.Snapshot, info Info, refs dom.Ref, lim revisions.Limits) *Head {
	info.Revision, info.Epoch = s.Revision, s.Epoch
	n := &Head{Snapshot: s, Info: info, next: make(chan struct{}), refs: refs, notices: h.notices}
	switch {
	case s == h.Snapshot:
		n.log = h.log
	case s.Document == h.Snapshot.Document && s.Epoch == h.Snapshot.Epoch:
		n.log = h.log.With(s, h.Snapshot, lim)
	}
	return n
}

// LastSeen returns the last state of an element that is gone, and the snapshot that contained it. It returns nil if the log does not have
// the element.
func (h *Head) LastSeen(ref dom.Ref) (*dom.Element, *dom.Snapshot) {
	return h.log.LastSeen(h.Snapshot, ref)
}

// Network returns the state of the page's requests.
func (h *Head) Network() Network { return h.view.Network }

// Selected returns the elements of the whole page that match a selector. It returns false if the main document has not reported yet.
func (h *Head) Selected(s dom.Selector) (dom.Selection, bool) { return h.view.Selected(s) }

// Notices returns the notices that a person would have seen on the page so far, while notices were requested; see WatchOptions.Notices and
// driver.Observer. It may be nil.
func (h *Head) Notices() *Notices { return h.notices }

// LogBytes returns the size of the log of earlier snapshots, as counted against its bound.
func (h *Head) LogBytes() int { return h.log.Bytes() }
