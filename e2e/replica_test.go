package e2e

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

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

// apply takes in one message of a stream, by nothing but the words of the proto's comments, and fails
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

// diff applies a diff as the comment of message Diff says.
func (r *replica) diff(d *domtapv1.Diff) error {
	counts := [3]int32{int32(len(d.GetAdded())), int32(len(d.GetRemoved())), int32(len(d.GetChanged()))}
	if counts != [3]int32{d.GetAddedCount(), d.GetRemovedCount(), d.GetChangedCount()} {
		return fmt.Errorf("the counts of a diff are wrong: %v", d)
	}
	taken := map[uint32]*domtapv1.Element{}
	out := map[uint32]bool{}
	for _, e := range d.GetRemoved() {
		out[e.GetRef()] = true
	}
	for _, e := range d.GetMoved() {
		out[e.GetRef()] = true
	}
	kept := r.elements[:0:0]
	for _, e := range r.elements {
		if out[e.GetRef()] {
			taken[e.GetRef()] = e
			continue
		}
		kept = append(kept, e)
	}
	if len(taken) != len(out) {
		return fmt.Errorf("a diff takes out %d elements, of which %d are there", len(out), len(taken))
	}
	for _, c := range d.GetChanged() {
		i := slices.IndexFunc(kept, func(e *domtapv1.Element) bool { return e.GetRef() == c.GetRef() })
		switch {
		case i >= 0:
			kept[i] = bare(c.GetElement())
		case taken[c.GetRef()] != nil:
			taken[c.GetRef()] = bare(c.GetElement())
		default:
			return fmt.Errorf("a diff changes element %d, which is not there", c.GetRef())
		}
	}
	type insert struct {
		at int32
		e  *domtapv1.Element
	}
	var inserts []insert
	for _, e := range d.GetAdded() {
		inserts = append(inserts, insert{e.GetIndex(), bare(e)})
	}
	for _, m := range d.GetMoved() {
		inserts = append(inserts, insert{m.GetToIndex(), taken[m.GetRef()]})
	}
	slices.SortFunc(inserts, func(a, b insert) int { return int(a.at - b.at) })
	for _, in := range inserts {
		if int(in.at) > len(kept) {
			return fmt.Errorf("a diff inserts at %d of %d", in.at, len(kept))
		}
		kept = slices.Insert(kept, int(in.at), in.e)
	}
	r.elements = kept
	return nil
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
