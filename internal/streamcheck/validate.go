package streamcheck

import (
	"fmt"
	"slices"
	"time"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// faults collects violations.
type faults []error

func (f *faults) add(r *Reader, m Message, format string, args ...any) {
	*f = append(*f, fmt.Errorf("%s (view %s), message %d at %s/%d: %s", r.Name, r.View, m.GetSequence(),
		m.GetEpoch(), m.GetRevision(), fmt.Sprintf(format, args...)))
}

// replay visits the messages of a reader and records a violation if a diff cannot be applied.
func (f *faults) replay(r *Reader, visit func(i int, m Message, elements []*domtapv1.Element, known bool)) {
	if err := r.Replay(visit); err != nil {
		*f = append(*f, err)
	}
}

// Converges checks guarantee 1: after every message, a reader's state equals the answer of GetDom at the message's revision.
func (h *History) Converges() []error {
	var f faults
	for _, r := range h.Readers {
		f.replay(r, func(_ int, m Message, got []*domtapv1.Element, known bool) {
			if !known {
				return
			}
			want, there := h.Elements(r.View, m.Point())
			switch {
			case h.Missed(m.Point()):
			case !there:
				f.add(r, m, "the tab never was in that state")
			case !Same(got, want):
				f.add(r, m, "the reader has\n  %s\nGetDom answers\n  %s", Line(got), Line(want))
			}
		})
	}
	for _, a := range h.Answers {
		if want, there := h.Elements(a.View, a.At); (!there || !Same(a.Elements, want)) && !h.Missed(a.At) {
			f = append(f, fmt.Errorf("GetDom of %s at %v answered\n  %s\nthe state says\n  %s", a.View, a.At, Line(a.Elements), Line(want)))
		}
	}
	return f
}

// Ordered checks guarantee 2: a diff starts at the state after the previous message.
func (h *History) Ordered() []error {
	var f faults
	for _, r := range h.Readers {
		last := r.From
		for i, m := range r.Messages {
			if m.GetSequence() != uint64(i+1) {
				f.add(r, m, "it is number %d", i+1)
			}
			if last != nil {
				f.step(r, *last, m, i == 0)
			}
			if m.GetSnapshot() != nil && (i > 0 || r.From != nil) {
				f.add(r, m, "a snapshot that is not the first message")
			}
			if d := m.GetDiff(); d != nil {
				f.diff(r, m, d)
			}
			at := m.Point()
			last = &at
		}
		f.navigations(r)
	}
	return f
}

// step checks that a message may follow a point.
func (f *faults) step(r *Reader, last Point, m Message, first bool) {
	switch d, epoch := m.GetDiff(), last.Epoch != m.GetEpoch(); {
	case epoch && m.GetResync() == nil:
		f.add(r, m, "the epoch changed without a resync")
	case epoch:
		return
	case m.GetRevision() < last.Revision && !(first && m.GetResync() != nil):
		f.add(r, m, "it goes back from revision %d", last.Revision)
	case d != nil && d.GetFromRevision() != last.Revision:
		f.add(r, m, "a diff from %d follows %d", d.GetFromRevision(), last.Revision)
	case (d != nil || m.GetResync() != nil && !first) && uint64(m.GetCoalesced()) != m.GetRevision()-last.Revision:
		f.add(r, m, "it says that it folds %d revisions since %d", m.GetCoalesced(), last.Revision)
	}
}

// diff checks that a diff is consistent.
func (f *faults) diff(r *Reader, m Message, d *domtapv1.Diff) {
	if d.GetToRevision() != m.GetRevision() || d.GetFromRevision() >= d.GetToRevision() {
		f.add(r, m, "a diff from %d to %d", d.GetFromRevision(), d.GetToRevision())
	}
	said := [3]int32{d.GetAddedCount(), d.GetRemovedCount(), d.GetChangedCount()}
	are := [3]int32{int32(len(d.GetAdded())), int32(len(d.GetRemoved())), int32(len(d.GetChanged()))}
	if said != are {
		f.add(r, m, "it counts %v and has %v", said, are)
	}
	if are == [3]int32{} && len(d.GetMoved()) == 0 {
		f.add(r, m, "a diff that says nothing")
	}
}

// navigations checks that a new document is announced and that its elements follow immediately.
func (f *faults) navigations(r *Reader) {
	for i, m := range r.Messages {
		if n := m.GetNavigated(); n != nil && !n.GetSameDocument() && i+1 < len(r.Messages) && r.Messages[i+1].GetResync() == nil {
			f.add(r, r.Messages[i+1], "it follows the news of another document, and is not a resync")
		}
		if reason := m.GetResync().GetReason(); i > 0 && (reason == "navigated" || reason == "epoch_changed") &&
			r.Messages[i-1].GetNavigated() == nil {
			f.add(r, m, "a resync because of %s that nobody announced", reason)
		}
	}
}

// Atomic checks guarantee 3: a rule that the page maintains between its tasks holds after every message and in every state. rule receives
// the elements of a view and returns an error if they violate it.
func (h *History) Atomic(rule func(elements []*domtapv1.Element) error) []error {
	var f faults
	for _, r := range h.Readers {
		f.replay(r, func(_ int, m Message, elements []*domtapv1.Element, known bool) {
			if err := rule(elements); known && err != nil {
				f.add(r, m, "%v", err)
			}
		})
	}
	for _, s := range h.States {
		for _, view := range h.views() {
			elements, _ := h.Elements(view, s.Point)
			if err := rule(elements); err != nil {
				f = append(f, fmt.Errorf("the state %v in view %s: %w", s.Point, view, err))
			}
		}
	}
	return f
}

// views returns the names of the views that are read.
func (h *History) views() []string {
	var names []string
	for _, r := range h.Readers {
		names = append(names, r.View)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// NeverDropsNeverBlocks checks guarantee 4: a reader whose stream stays open has the last state in the end, regardless of how it reads. A
// prompt reader gets each revision immediately and separately, regardless of other readers.
func (h *History) NeverDropsNeverBlocks() []error {
	var f faults
	for _, r := range h.Readers {
		var end []*domtapv1.Element
		sure := false
		f.replay(r, func(_ int, _ Message, elements []*domtapv1.Element, known bool) { end, sure = elements, known })
		if want, there := h.Elements(r.View, h.Last); r.Alive && sure && there && !Same(end, want) {
			f = append(f, fmt.Errorf("%s (view %s) is left with\n  %s\nthe tab with\n  %s", r.Name, r.View, Line(end), Line(want)))
		}
		if r.Pace == Prompt {
			h.prompt(&f, r)
		}
	}
	return f
}

// prompt checks a prompt reader.
func (h *History) prompt(f *faults, r *Reader) {
	var quiet time.Time
	follows := false // the first message of the stream contains the previous state
	for _, m := range r.Messages {
		if !m.content() {
			continue
		}
		late := m.At.Sub(m.GetObservedAt().AsTime())
		first := !follows && !r.OmitInitial
		if follows = true; first {
			quiet = m.At
			continue
		}
		if late > r.MinInterval {
			f.add(r, m, "it comes %v late", late)
		}
		if !quiet.IsZero() && m.At.Sub(quiet) < r.MinInterval && r.End.At != m.At {
			f.add(r, m, "it comes %v after the one before, of %v", m.At.Sub(quiet), r.MinInterval)
		}
		quiet = m.At
		if d := m.GetDiff(); d != nil && r.MinInterval == 0 {
			if steps := h.steps(r.View, m.GetEpoch(), d.GetFromRevision(), d.GetToRevision()); len(steps) > 1 {
				f.add(r, m, "it folds what happened in the steps %v", steps)
			}
		}
	}
}

// steps returns the steps between two revisions that changed a view.
func (h *History) steps(view, epoch string, from, to uint64) []int {
	var out []int
	was, known := h.Elements(view, Point{epoch, from})
	for i, s := range h.States {
		passing := i+1 < len(h.States) && h.States[i+1].Step == s.Step && h.States[i+1].Revision <= to
		if s.Epoch != epoch || s.Revision <= from || s.Revision > to || !known || passing {
			continue
		}
		now, there := h.Elements(view, s.Point)
		if there && !Same(was, now) {
			out = append(out, s.Step)
		}
		was = now
	}
	return out
}

// Resumable checks guarantee 5: a resumed stream continues at the revision of its reader, or reports why it does not. It must continue if
// the log still has that revision.
func (h *History) Resumable() []error {
	var f faults
	for _, r := range h.Readers {
		i := slices.IndexFunc(r.Messages, func(m Message) bool { return m.content() })
		if r.From == nil || i < 0 {
			continue
		}
		m := r.Messages[i]
		resync := m.GetResync()
		switch {
		case m.GetSnapshot() != nil:
			f.add(r, m, "a snapshot, and no reason for it")
		case resync == nil && m.GetEpoch() != r.From.Epoch:
			f.add(r, m, "it goes on from %v", *r.From)
		case resync != nil:
			if wrong := h.unfounded(r, m, resync.GetReason()); wrong != "" {
				f.add(r, m, "resync %s, from %v: %s", resync.GetReason(), *r.From, wrong)
			}
		}
	}
	return f
}

// unfounded returns why the reason of a resync is false, or an empty string if it is true.
func (h *History) unfounded(r *Reader, m Message, reason string) string {
	was, known := h.state(*r.From)
	now, _ := h.state(m.Point())
	same := known && was.Document == now.Document && was.Epoch == now.Epoch
	switch reason {
	case "epoch_changed":
		if was.Epoch == now.Epoch {
			return "it is the same epoch"
		}
	case "revision_unknown":
		if known {
			return "the tab had that revision"
		}
	case "revision_too_old":
		if same && m.GetRevision()-r.From.Revision <= uint64(h.Log) {
			return "the log must reach that far"
		}
	case "mostly_changed", "navigated":
	case "view_changed":
		if _, there := h.Elements(r.View, *r.From); there {
			return "the view was there"
		}
	default:
		return "there is no such reason"
	}
	return ""
}

// Missed reports whether a point is in a gap of the record. Between two documents, the last states of the older one may disappear before
// they are recorded. The validators skip such a point.
func (h *History) Missed(at Point) bool {
	i := slices.IndexFunc(h.States, func(s State) bool { return s.Revision >= at.Revision })
	return i > 0 && h.States[i].Revision > at.Revision && h.States[i-1].Epoch == at.Epoch && h.States[i].Document != h.States[i-1].Document
}

func (h *History) state(at Point) (State, bool) {
	for _, s := range h.States {
		if s.Point == at {
			return s, true
		}
	}
	return State{}, false
}

// ending is a permitted end of a stream.
type ending struct{ code, reason string }

// endings maps the permitted ends of a stream to checks of its last message.
var endings = map[ending]func(last *domtapv1.WatchDomResponse) bool{
	{"OK", ""}:                            status(domtapv1.TabStatus_TAB_STATUS_CLOSED),
	{"Unavailable", "PAGE_LOST"}:          nil,
	{"DeadlineExceeded", "SLOW_READER"}:   nil,
	{"FailedPrecondition", "STALE_REF"}:   nil,
	{"NotFound", "NOT_FOUND"}:             nil,
	{"FailedPrecondition", "DIALOG_OPEN"}: refused,
	{"InvalidArgument", "INVALID"}:        refused,
	{"DeadlineExceeded", ""}:              refused,
}

func status(want domtapv1.TabStatus) func(*domtapv1.WatchDomResponse) bool {
	return func(last *domtapv1.WatchDomResponse) bool { return last.GetTabStatus().GetStatus() == want }
}

// refused accepts errors that only occur instead of a stream.
func refused(last *domtapv1.WatchDomResponse) bool { return last == nil }

// EndsWithAReason checks guarantee 6: every stream that its reader did not end has an end with a code and a message that state the reason.
// Until then, it is never silent for longer than the heartbeat.
func (h *History) EndsWithAReason() []error {
	var f faults
	for _, r := range h.Readers {
		var last Message
		at := r.Start
		for _, m := range r.Messages {
			h.silence(&f, r, m, at)
			last, at = m, m.At
		}
		if r.End.Cut {
			continue
		}
		h.silence(&f, r, Message{last.WatchDomResponse, r.End.At}, at)
		needs, allowed := endings[ending{r.End.Code, r.End.Reason}]
		switch {
		case r.End.Code == "":
			f.add(r, last, "the stream has no end")
		case !allowed:
			f.add(r, last, "the stream ended with %s %s %q", r.End.Code, r.End.Reason, r.End.Text)
		case needs != nil && !needs(last.WatchDomResponse):
			f.add(r, last, "the stream ended with %s %s after %v", r.End.Code, r.End.Reason, last.WatchDomResponse)
		case r.End.Code != "OK" && r.End.Text == "":
			f.add(r, last, "the stream ended with %s and no word", r.End.Code)
		case r.End.Reason == "SLOW_READER" && r.Pace == Prompt:
			f.add(r, last, "a reader that reads at once was called slow")
		}
	}
	return f
}

// silence checks that a prompt reader did not wait too long.
func (h *History) silence(f *faults, r *Reader, m Message, since time.Time) {
	if gap := m.At.Sub(since); r.Pace == Prompt && len(r.Messages) > 0 && !m.At.IsZero() && gap > h.Heartbeat {
		f.add(r, m, "silence for %v", gap)
	}
}
