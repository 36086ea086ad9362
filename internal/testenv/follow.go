package testenv

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/client"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/streamcheck"
)

// Replica is the state of a client that applies a stream: the elements, without their boxes.
type Replica struct {
	Elements []*domtapv1.Element
	revision uint64
	sequence uint64
}

// WithoutBoxes returns elements with the fields that streams guarantee, without the fields that are read together with a box.
func WithoutBoxes(list []*domtapv1.Element) []*domtapv1.Element {
	out := streamcheck.Bare(list)
	for _, e := range out {
		e.Covered = false
	}
	return out
}

// Apply applies one message of a stream. It returns an error if the stream violates its guarantees.
func (r *Replica) Apply(m *domtapv1.WatchDomResponse) error {
	if m.GetSequence() != r.sequence+1 {
		return fmt.Errorf("message %d follows message %d", m.GetSequence(), r.sequence)
	}
	r.sequence = m.GetSequence()
	if m.GetRevision() < r.revision {
		return fmt.Errorf("revision %d follows revision %d", m.GetRevision(), r.revision)
	}
	switch e := m.GetEvent().(type) {
	case *domtapv1.WatchDomResponse_Snapshot:
		r.Elements = WithoutBoxes(e.Snapshot.GetElements())
	case *domtapv1.WatchDomResponse_Resync:
		r.Elements = WithoutBoxes(e.Resync.GetSnapshot().GetElements())
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
func (r *Replica) diff(d *domtapv1.Diff) error {
	counts := [3]int32{int32(len(d.GetAdded())), int32(len(d.GetRemoved())), int32(len(d.GetChanged()))}
	if counts != [3]int32{d.GetAddedCount(), d.GetRemovedCount(), d.GetChangedCount()} {
		return fmt.Errorf("the counts of a diff are wrong: %v", d)
	}
	elements, err := client.Apply(r.Elements, d)
	r.Elements = WithoutBoxes(elements)
	return err
}

// Diff describes the difference between two lists of elements. It returns an empty string if there is none.
func Diff(got, want []*domtapv1.Element) string {
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

// Follower applies a stream and signals every message.
type Follower struct {
	mu      sync.Mutex
	replica Replica
	err     error
	news    chan struct{} // closed and replaced with every message
}

// Follow starts a stream that ends with the test.
func Follow(t *testing.T, d *Daemon, r *domtapv1.WatchDomRequest) *Follower {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := d.Dom.WatchDom(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	f := &Follower{news: make(chan struct{})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			m, err := stream.Recv()
			f.mu.Lock()
			if err == nil {
				err = f.replica.Apply(m)
			}
			f.err = err
			close(f.news)
			f.news = make(chan struct{})
			f.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	return f
}

// State returns the elements that the reader of the stream knows, a channel that is closed at the next message, and the error if the stream
// has ended.
func (f *Follower) State() (elements []*domtapv1.Element, news <-chan struct{}, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.replica.Elements, f.news, f.err
}

// Reaches waits until the stream's state equals the response of GetDom.
func (f *Follower) Reaches(ctx context.Context, want *domtapv1.GetDomResponse) error {
	elements := WithoutBoxes(want.GetElements())
	for {
		f.mu.Lock()
		news, err, revision := f.news, f.err, f.replica.revision
		difference := Diff(f.replica.Elements, elements)
		f.mu.Unlock()
		switch {
		case err != nil:
			return err
		case difference == "":
			return nil
		case revision > want.GetRevision():
			return fmt.Errorf("the stream is at revision %d, past GetDom's %d, and was never equal to it", revision, want.GetRevision())
		}
		select {
		case <-news:
		case <-ctx.Done():
			return fmt.Errorf("at revision %d, GetDom at %d: %s", revision, want.GetRevision(), difference)
		}
	}
}
