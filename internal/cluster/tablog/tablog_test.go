package tablog

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	clusterv1 "github.com/domtap/domtap/gen/domtap/cluster/v1"
)

// tab generates the states of a tab that changes at random.
type tab struct {
	random *rand.Rand
	now    actor.Published
	all    []*dom.Element
	next   dom.Ref
}

func newTab(seed uint64, elements int) *tab {
	t := &tab{random: rand.New(rand.NewPCG(seed, 1))}
	t.now.Snapshot = &dom.Snapshot{Epoch: "a"}
	for range t.random.IntN(elements) {
		t.all = append(t.all, t.element())
	}
	t.publish()
	return t
}

// element creates an element, in some cases with every field set.
func (t *tab) element() *dom.Element {
	e := &dom.Element{Ref: t.next, Parent: dom.NoRef, Tag: "button", Role: "button", Text: fmt.Sprint("Text ", t.next)}
	t.next++
	switch t.random.IntN(4) {
	case 0:
		e.Join = 5
		e.Parent, e.Depth, e.Kind, e.Level = t.next/2, 3, dom.Structural, 2
	case 1:
		e.Kind, e.Frame, e.Child, e.Hints, e.Left, e.Whole, e.ValueLeft = dom.FrameHost, "f", "g", "icon-x", 4, "the whole text", 7
	case 2:
		e.Href, e.Name, e.Type, e.Value, e.Placeholder = "http://x/", "n", "text", "v", "p"
		e.States = dom.States{Checked: dom.Mixed, Disabled: dom.True, Invalid: dom.False, Focused: dom.True}
		e.InViewport, e.Covered, e.Attributes = true, true, map[string]string{"data-x": "1"}
	}
	return e
}

// change changes a few elements, in some cases all of them, and everything else.
func (t *tab) change() {
	n := 1 + t.random.IntN(4)
	if t.random.IntN(20) == 0 {
		n = 300
	}
	for range n {
		at := t.random.IntN(len(t.all) + 1)
		switch k := t.random.IntN(3); {
		case k == 0 || at == len(t.all):
			t.all = slices.Insert(t.all, at, t.element())
		case k == 1:
			t.all = slices.Delete(t.all, at, at+1)
		default:
			changed := *t.all[at]
			changed.Text += "!"
			if len(changed.Text) > 90 {
				changed.Text = "x"
			}
			t.all[at] = &changed
		}
	}
	info := &t.now.Info
	switch t.random.IntN(6) {
	case 0:
		info.Dialog = &driver.Dialog{ID: 1, Type: "prompt", Message: "m", Default: "d"}
	case 1:
		info.Dialog = nil
	case 2:
		info.Status = actor.Status(t.random.IntN(int(actor.StatusRestoring) + 1))
	case 3:
		info.URL, info.Title, info.Why = "http://x/elsewhere", "", "why"
	}
	t.publish()
}

func (t *tab) publish() {
	old := *t.now.Snapshot
	t.now.Snapshot = &dom.Snapshot{
		Epoch: old.Epoch, Revision: old.Revision + 1 + uint64(t.random.IntN(3)), Document: 4, URL: "http://x/", Title: "T", Elements: dom.ListOf(slices.Clone(t.all)),
		History: []dom.Visit{{URL: "http://x/", Title: "T"}}, Limited: t.random.IntN(2) == 0,
		PageTime: time.UnixMilli(int64(old.Revision)).UTC(), ObservedAt: time.UnixMilli(int64(old.Revision) + 5).UTC(),
	}
	if t.random.IntN(2) == 0 {
		t.now.Snapshot.Frames = []dom.FrameID{"f", "g"}
	}
	t.now.Refs = t.next
	t.now.Info.ID, t.now.Info.Session, t.now.Info.Opener, t.now.Info.HTTPStatus, t.now.Info.Restore = "t1", "s", "t0", 200, true
	t.now.Info.Revision, t.now.Info.Epoch = t.now.Snapshot.Revision, t.now.Snapshot.Epoch
	t.now.Notices = nil
	if t.random.IntN(3) == 0 {
		n := actor.ReportedNotice{Document: "d"}
		n.ID, n.Kind, n.Text, n.Detail, n.Ref, n.Gone = 4, dom.NoticeToast, "Saved", "d", dom.NoRef, true
		t.now.Notices = append(t.now.Notices, n)
	}
}

// difference returns the first differing parts of two plain states.
func difference(a, b []any) string {
	for i := range a {
		if !reflect.DeepEqual(a[i], b[i]) {
			return fmt.Sprintf("%.2000v and %.2000v", a[i], b[i])
		}
	}
	return ""
}

// plain converts a state to values that reflect.DeepEqual can compare.
func plain(p actor.Published) []any {
	s := *p.Snapshot
	all := []dom.Element{}
	for e := range s.Elements.All() {
		all = append(all, *e)
	}
	s.Elements = dom.List{}
	return []any{s, all, p.Info, p.Refs, p.Notices}
}

// must fails the test on an error.
func must[T any](tb testing.TB) func(T, error) T {
	return func(v T, err error) T {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
		return v
	}
}

// TestReaderHasWhatWasWritten reads keyframes and deltas of tabs, some of which span several changes. Readers also join in between.
func TestReaderHasWhatWasWritten(t *testing.T) {
	for seed := range uint64(12) {
		source := newTab(seed, 400)
		w := Writer{Token: 7}
		var r, late Reader
		for step := range 60 {
			for range source.random.IntN(2) {
				source.change()
			}
			keyframe := step%17 == 0
			var b []byte
			if keyframe {
				b = must[[]byte](t)(w.Keyframe(source.now))
			} else {
				b = must[[]byte](t)(w.Delta(source.now))
			}
			w.Written(source.now)
			before := r.state
			got := must[actor.Published](t)(r.Read(b))
			if !reflect.DeepEqual(plain(got), plain(source.now)) {
				t.Fatalf("seed %d, step %d: revision %d is read as another state: %v", seed, step, source.now.Snapshot.Revision, difference(plain(got), plain(source.now)))
			}
			if s := before.Snapshot; s != nil {
				keepsPointers(t, s.Elements, got.Snapshot.Elements)
				if s.Revision == got.Snapshot.Revision && s != got.Snapshot {
					t.Fatalf("seed %d, step %d: revision %d has two snapshots", seed, step, s.Revision)
				}
			}
			if step < 20 {
				continue
			}
			switch joined, err := late.Read(b); {
			case late.state.Snapshot == nil && !keyframe:
				if !errors.Is(err, ErrGap) {
					t.Fatalf("a delta without a keyframe: %v", err)
				}
			case err != nil || !reflect.DeepEqual(plain(joined), plain(source.now)):
				t.Fatalf("seed %d, step %d: who joined late has another state: %v", seed, step, err)
			}
		}
	}
}

// keepsPointers fails the test if the pointer to an unchanged element has changed.
func keepsPointers(t *testing.T, old, now dom.List) {
	t.Helper()
	known := map[dom.Ref]*dom.Element{}
	for e := range old.All() {
		known[e.Ref] = e
	}
	for e := range now.All() {
		if was := known[e.Ref]; was != nil && was != e && reflect.DeepEqual(*was, *e) {
			t.Fatalf("element %d did not change and is another one", e.Ref)
		}
	}
}

func TestDeltaCostsWhatChanged(t *testing.T) {
	source := newTab(3, 600)
	for len(source.all) < 5000 {
		source.all = append(source.all, source.element())
	}
	source.publish()
	var w Writer
	whole := must[[]byte](t)(w.Keyframe(source.now))
	var r Reader
	must[actor.Published](t)(r.Read(whole))
	w.Written(source.now)
	chunks := r.chunks
	for _, at := range []int{7, 4000} {
		changed := *source.all[at]
		changed.Text = "new"
		source.all[at] = &changed
	}
	source.publish()
	delta := must[[]byte](t)(w.Delta(source.now))
	if len(delta) > 600 {
		t.Errorf("two changes of 5,000 elements take %d bytes", len(delta))
	}
	must[actor.Published](t)(r.Read(delta))
	kept := 0
	for _, c := range r.chunks {
		if slices.Contains(chunks, c) {
			kept++
		}
	}
	if kept < len(chunks)-2 {
		t.Errorf("%d of %d chunks were kept", kept, len(chunks))
	}
}

func TestGapsAreSeen(t *testing.T) {
	source := newTab(5, 600)
	var w Writer
	var r Reader
	if _, err := w.Delta(source.now); !errors.Is(err, ErrNoDelta) {
		t.Errorf("a delta of nothing: %v", err)
	}
	must[actor.Published](t)(r.Read(must[[]byte](t)(w.Keyframe(source.now))))
	w.Written(source.now)
	source.change()
	w.Written(source.now) // this record is lost
	source.change()
	before := r.state
	if _, err := r.Read(must[[]byte](t)(w.Delta(source.now))); !errors.Is(err, ErrGap) {
		t.Errorf("a delta behind a gap: %v", err)
	}
	if !reflect.DeepEqual(r.state, before) {
		t.Error("the reader did not stay as it was")
	}
	source.now.Snapshot.Epoch = "b"
	if _, err := w.Delta(source.now); !errors.Is(err, ErrNoDelta) {
		t.Errorf("a delta to another epoch: %v", err)
	}
	must[actor.Published](t)(r.Read(must[[]byte](t)(w.Keyframe(source.now))))
}

func TestEarlierOwnersAreRefused(t *testing.T) {
	source := newTab(5, 600)
	now, before := Writer{Token: 9}, Writer{Token: 8}
	var r Reader
	must[actor.Published](t)(r.Read(must[[]byte](t)(now.Keyframe(source.now))))
	if _, err := r.Read(must[[]byte](t)(before.Keyframe(source.now))); err == nil {
		t.Error("the record of an earlier owner was read")
	}
	if r.Token() != 9 {
		t.Errorf("the token is %d", r.Token())
	}
}

// FuzzReaderKeepsItsState passes arbitrary records to a reader. The reader either fails and keeps its state, or has a state that can be
// written and read again.
func FuzzReaderKeepsItsState(f *testing.F) {
	source := newTab(1, 8)
	var w Writer
	first, err := w.Keyframe(source.now)
	if err != nil {
		f.Fatal(err)
	}
	w.Written(source.now)
	source.change()
	second, err := w.Delta(source.now)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(second)
	f.Add(first)
	mad, _ := proto.Marshal(&clusterv1.LogRecord{Before: 1, Page: &clusterv1.PageState{Epoch: "a", Revision: 1},
		Splices: []*clusterv1.Splice{{At: 1 << 31, Removed: 1 << 31}, {At: 3, Removed: 1, Elements: []*clusterv1.StoredElement{{Parent: 1 << 40}}}}})
	f.Add(mad)
	f.Fuzz(func(t *testing.T, b []byte) {
		var r Reader
		if _, err := r.Read(first); err != nil {
			t.Fatal(err)
		}
		before := r.state
		got, err := r.Read(b)
		if err != nil {
			if !reflect.DeepEqual(r.state, before) {
				t.Fatal("a bad record changed the state")
			}
			if _, err := r.Read(second); err != nil {
				t.Fatalf("after a bad record a good one is not read: %v", err)
			}
			return
		}
		var again Writer
		var other Reader
		next, err := other.Read(must[[]byte](t)(again.Keyframe(got)))
		if err != nil || !reflect.DeepEqual(plain(next), plain(got)) {
			t.Fatalf("the state is another one when it is written and read: %v", err)
		}
	})
}

// BenchmarkDelta writes and reads one change of 10,000 elements.
func BenchmarkDelta(b *testing.B) {
	source := newTab(3, 600)
	for len(source.all) < 10_000 {
		source.all = append(source.all, source.element())
	}
	chunks := func() dom.List {
		var out []*dom.Chunk
		for part := range slices.Chunk(source.all, 128) {
			out = append(out, dom.NewChunk(slices.Clone(part)))
		}
		return dom.NewList(out)
	}
	source.publish()
	source.now.Snapshot.Elements = chunks()
	var w Writer
	var r Reader
	must[actor.Published](b)(r.Read(must[[]byte](b)(w.Keyframe(source.now))))
	w.Written(source.now)
	for b.Loop() {
		b.StopTimer()
		changed := *source.all[5000]
		changed.Text = fmt.Sprint(source.now.Snapshot.Revision)
		old := source.now.Snapshot.Elements.Chunks()
		source.all[5000] = &changed
		source.publish()
		now := slices.Clone(old)
		part := slices.Clone(now[5000/128].Elements())
		part[5000%128] = &changed
		now[5000/128] = dom.NewChunk(part)
		source.now.Snapshot.Elements = dom.NewList(now)
		b.StartTimer()
		delta := must[[]byte](b)(w.Delta(source.now))
		w.Written(source.now)
		must[actor.Published](b)(r.Read(delta))
		b.SetBytes(int64(len(delta)))
	}
}
