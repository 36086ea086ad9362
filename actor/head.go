package actor

import (
	"strconv"
	"time"

	"github.com/domtap/domtap/actor/apierr"
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
	attention
}

// Next is closed when a newer head replaces this one, and when the tab ends.
func (h *Head) Next() <-chan struct{} { return h.next }

// At returns the snapshot of a revision: this one, or an earlier one of the same document from the
// bounded log; nil when it is not kept.
func (h *Head) At(revision uint64) *dom.Snapshot {
	if revision == h.Snapshot.Revision {
		return h.Snapshot
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
			Kind: apierr.Invalid, Message: "ref " + number + " was never given in this tab: read the page and use a ref from there",
			Detail: map[string]string{"ref": number}, Field: "ref",
		}
	}
	e := &apierr.Error{Kind: apierr.Stale, Detail: map[string]string{"ref": number}}
	was := ""
	if el := h.log.Last(ref); el != nil {
		e.Detail["was"] = target.Describe(el)
		was = " (it was: " + e.Detail["was"] + ")"
	}
	e.Message = "the element of ref " + number + " is gone" + was + ": read the page again and use a ref from there"
	return nil, e
}

// follow makes the head after h. The log goes on as long as the document stays the same.
func (h *Head) follow(s *dom.Snapshot, info Info, refs dom.Ref, lim revisions.Limits) *Head {
	info.Revision, info.Epoch = s.Revision, s.Epoch
	n := &Head{Snapshot: s, Info: info, next: make(chan struct{}), refs: refs}
	switch {
	case s == h.Snapshot:
		n.log = h.log
	case s.Document == h.Snapshot.Document && s.Epoch == h.Snapshot.Epoch:
		n.log = h.log.With(s, h.Snapshot, lim)
	}
	return n
}

// publish replaces the head when something changed, and then reports what the tab has to tell.
func (t *Tab) publish() {
	if t.back.away() {
		t.publishAway()
		return
	}
	h := t.head.Load()
	info := t.info
	info.Status, info.Restore = t.status(), t.restore.Load()
	s := h.Snapshot
	elements, history := t.model.Elements(), *t.history.Load()
	if elements != s.Elements || !identical(history, s.History) || s.URL != info.URL || s.Title != info.Title ||
		s.Document != t.document || s.Epoch != t.epoch || s.Limited != (t.limited == t.document) {
		s = &dom.Snapshot{
			Epoch: t.epoch, Revision: s.Revision + 1, Document: t.document, URL: info.URL, Title: info.Title,
			Elements: elements, History: history, Limited: t.limited == t.document, PageTime: t.model.PageTime(), ObservedAt: time.Now(),
		}
		if t.meter != nil {
			t.meter.Published()
		}
	}
	info.Revision, info.Epoch = s.Revision, s.Epoch
	if told := t.attention(); s != h.Snapshot || info != h.Info || told != h.attention {
		next := h.follow(s, info, t.model.Next(), t.limits)
		next.attention = told
		t.head.Store(next)
		close(h.next)
		h = next
	}
	for _, e := range t.outbox {
		e.Info, e.At = h.Info, time.Now()
		t.owner.tell(e)
	}
	t.outbox = t.outbox[:0]
	t.gone.reach(t.shut)
	t.keep()
}

// heldEvents is how many events of a tab that is away are kept until it is back.
const heldEvents = 64

// publishAway says that the tab is away. What its pages do before it is back is nobody's business until then.
func (t *Tab) publishAway() {
	h := t.head.Load()
	info := h.Info
	info.Status, info.Restore, info.Dialog = StatusRestoring, t.restore.Load(), nil
	if info != h.Info {
		next := h.follow(h.Snapshot, info, h.refs, t.limits)
		next.attention = h.attention
		t.head.Store(next)
		close(h.next)
		h = next
	}
	held := t.outbox[:0]
	for _, e := range t.outbox {
		switch {
		case e.Kind == TabCrashed || e.Kind == TabRestoring:
			e.Info, e.At = h.Info, time.Now()
			t.owner.tell(e)
		case len(held) < heldEvents:
			held = append(held, e)
		}
	}
	t.outbox = held
	t.gone.reach(t.shut)
}

// identical reports whether two slices are one.
func identical[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// LastSeen returns the newest earlier state of an element that is gone, and the snapshot that had it; nil when the log does not
// know it.
func (h *Head) LastSeen(ref dom.Ref) (*dom.Element, *dom.Snapshot) {
	return h.log.LastSeen(h.Snapshot, ref)
}
