package e2e

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/client"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// replica is what a client knows that applies a stream: the elements, without their boxes.
type replica struct {
	elements []*domtapv1.Element
	revision uint64
	sequence uint64
}

// bare is an element as streams carry it: without box, what is read with it, and place.
func bare(e *domtapv1.Element) *domtapv1.Element {
	e = proto.CloneOf(e)
	e.Rect, e.InViewport, e.Covered, e.Index = nil, false, false, 0
	return e
}

func bares(list []*domtapv1.Element) []*domtapv1.Element {
	out := make([]*domtapv1.Element, len(list))
	for i, e := range list {
		out[i] = bare(e)
	}
	return out
}

// apply takes in one message of a stream, and fails
// where the stream breaks its promises.
func (r *replica) apply(m *domtapv1.WatchDomResponse) error {
	if m.GetSequence() != r.sequence+1 {
		return fmt.Errorf("message %d follows message %d", m.GetSequence(), r.sequence)
	}
	r.sequence = m.GetSequence()
	if m.GetRevision() < r.revision {
		return fmt.Errorf("revision %d follows revision %d", m.GetRevision(), r.revision)
	}
	switch e := m.GetEvent().(type) {
	case *domtapv1.WatchDomResponse_Snapshot:
		r.elements = bares(e.Snapshot.GetElements())
	case *domtapv1.WatchDomResponse_Resync:
		r.elements = bares(e.Resync.GetSnapshot().GetElements())
	case *domtapv1.WatchDomResponse_Diff:
		if e.Diff.GetFromRevision() != r.revision {
			return fmt.Errorf("a diff from revision %d follows revision %d", e.Diff.GetFromRevision(), r.revision)
		}
		if err := r.diff(e.Diff); err != nil {
			return err
		}
	}
	r.revision = m.GetRevision()
	return nil
}

// diff applies a diff.
func (r *replica) diff(d *domtapv1.Diff) error {
	counts := [3]int32{int32(len(d.GetAdded())), int32(len(d.GetRemoved())), int32(len(d.GetChanged()))}
	if counts != [3]int32{d.GetAddedCount(), d.GetRemovedCount(), d.GetChangedCount()} {
		return fmt.Errorf("the counts of a diff are wrong: %v", d)
	}
	elements, err := client.Apply(r.elements, d)
	r.elements = bares(elements)
	return err
}

// differs says where two lists of elements differ; empty when they do not.
func differs(got, want []*domtapv1.Element) string {
	for i := range max(len(got), len(want)) {
		g, w := "(nothing)", "(nothing)"
		switch {
		case i >= len(got):
			w = protojson.Format(want[i])
		case i >= len(want):
			g = protojson.Format(got[i])
		case proto.Equal(got[i], want[i]):
			continue
		default:
			g, w = protojson.Format(got[i]), protojson.Format(want[i])
		}
		return fmt.Sprintf("element %d of %d/%d\n got %s\nwant %s", i, len(got), len(want), g, w)
	}
	return ""
}
