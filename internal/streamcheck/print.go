package streamcheck

import (
	"fmt"
	"slices"
	"strings"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Line prints elements on one line: [ref text =value] for each.
func Line(list []*domtapv1.Element) string {
	var b strings.Builder
	for i, e := range list {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "[%d %s", e.GetRef(), e.GetText())
		if e.GetValue() != "" {
			fmt.Fprintf(&b, " =%s", e.GetValue())
		}
		b.WriteByte(']')
	}
	return b.String()
}

// Epochs assigns names to epochs, which are random, in order of appearance: e1, e2 and so on.
type Epochs struct{ seen []string }

// Name returns the name of an epoch.
func (e *Epochs) Name(epoch string) string {
	i := slices.Index(e.seen, epoch)
	if i < 0 {
		i = len(e.seen)
		e.seen = append(e.seen, epoch)
	}
	return fmt.Sprint("e", i+1)
}

// Short prints a message as one readable line.
func (m Message) Short(e *Epochs) string {
	head := fmt.Sprintf("%s r%d", e.Name(m.GetEpoch()), m.GetRevision())
	if m.GetCoalesced() > 1 {
		head += fmt.Sprintf(" (folds %d)", m.GetCoalesced())
	}
	return head + " " + m.event()
}

func (m Message) event() string {
	switch e := m.GetEvent().(type) {
	case *domtapv1.WatchDomResponse_Snapshot:
		return "snapshot " + Line(e.Snapshot.GetElements())
	case *domtapv1.WatchDomResponse_Resync:
		return "resync because " + e.Resync.GetReason() + ": " + Line(e.Resync.GetSnapshot().GetElements())
	case *domtapv1.WatchDomResponse_Diff:
		return fmt.Sprintf("diff from r%d:%s", e.Diff.GetFromRevision(), diffLine(e.Diff))
	case *domtapv1.WatchDomResponse_Navigated:
		if e.Navigated.GetSameDocument() {
			return "navigated within the document to " + e.Navigated.GetUrl()
		}
		return "navigated to " + e.Navigated.GetUrl()
	case *domtapv1.WatchDomResponse_TabStatus:
		line := "status " + strings.ToLower(strings.TrimPrefix(e.TabStatus.GetStatus().String(), "TAB_STATUS_"))
		if d := e.TabStatus.GetDialog(); d != nil {
			line += fmt.Sprintf(", dialog %q", d.GetMessage())
		}
		return line
	case *domtapv1.WatchDomResponse_Heartbeat:
		return "heartbeat"
	}
	return "nothing"
}

func diffLine(d *domtapv1.Diff) string {
	var b strings.Builder
	for _, r := range d.GetRemoved() {
		fmt.Fprintf(&b, " -[%d %s]", r.GetRef(), r.GetText())
	}
	for _, m := range d.GetMoved() {
		fmt.Fprintf(&b, " [%d] %d→%d", m.GetRef(), m.GetFromIndex(), m.GetToIndex())
	}
	for _, a := range d.GetAdded() {
		fmt.Fprintf(&b, " +%s at %d", Line([]*domtapv1.Element{a}), a.GetIndex())
	}
	for _, c := range d.GetChanged() {
		for _, field := range c.GetFields() {
			fmt.Fprintf(&b, " ~[%d %s %q→%q]", c.GetRef(), field.GetField(), field.GetOld(), field.GetNew())
		}
	}
	return b.String()
}

// Short prints the end of a stream.
func (e End) Short() string {
	switch {
	case e.Cut:
		return "left"
	case e.Code == "OK":
		return "end OK"
	}
	return strings.TrimSpace("end "+e.Code+" "+e.Reason) + ": " + e.Text
}
