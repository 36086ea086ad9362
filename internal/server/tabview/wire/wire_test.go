package wire

import (
	"math"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// decode decodes the codec's output as a client does.
func decode(t *testing.T, v any) *domtapv1.WatchDomResponse {
	t.Helper()
	data, err := Codec().Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	defer data.Free()
	got := new(domtapv1.WatchDomResponse)
	if err := Codec().Unmarshal(data, got); err != nil {
		t.Fatal(err)
	}
	return got
}

func messages() []*domtapv1.WatchDomResponse {
	elements := []*domtapv1.Element{{Ref: 1, Text: "Pay"}, {Ref: 2, Text: "Ärger"}}
	base := func() *domtapv1.WatchDomResponse {
		return &domtapv1.WatchDomResponse{Revision: 7, Epoch: "e", ObservedAt: timestamppb.Now(), PageTime: timestamppb.Now(), Coalesced: 3}
	}
	snapshot, diff, resync, empty := base(), base(), base(), new(domtapv1.WatchDomResponse)
	snapshot.Event = &domtapv1.WatchDomResponse_Snapshot{Snapshot: &domtapv1.Snapshot{Elements: elements, Url: "u"}}
	diff.Event = &domtapv1.WatchDomResponse_Diff{Diff: &domtapv1.Diff{FromRevision: 4, ToRevision: 7, Added: elements, AddedCount: 2}}
	diff.Text = "Changes: +2 -0 ~0\n"
	resync.Event = &domtapv1.WatchDomResponse_Resync{Resync: &domtapv1.Resync{Reason: "navigated", Snapshot: snapshot.GetSnapshot()}}
	return []*domtapv1.WatchDomResponse{snapshot, diff, resync, empty}
}

// An assembled message decodes to the original message, with any sequence number.
func TestASharedMessageArrivesWhole(t *testing.T) {
	for _, m := range messages() {
		shared, err := Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		for _, sequence := range []uint64{1, 127, 128, math.MaxUint64} {
			want := proto.Clone(m).(*domtapv1.WatchDomResponse)
			want.Sequence = sequence
			if got := decode(t, shared.Number(sequence)); !proto.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		}
		if got := decode(t, m); !proto.Equal(got, m) {
			t.Errorf("sent by itself it arrives as %v, want %v", got, m)
		}
	}
}

// The head identifies a message, without its large parts.
func TestTheHeadCarriesNoElements(t *testing.T) {
	for _, m := range messages() {
		shared, err := Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		h := shared.Head
		if proto.Size(h) > 64 || h.GetRevision() != m.GetRevision() || h.GetEpoch() != m.GetEpoch() || h.GetCoalesced() != m.GetCoalesced() ||
			(h.GetDiff() == nil) != (m.GetDiff() == nil) || (h.GetSnapshot() == nil) != (m.GetSnapshot() == nil) ||
			h.GetResync().GetReason() != m.GetResync().GetReason() {
			t.Errorf("the head of %v is %v", m, h)
		}
	}
}

// Many streams send one message concurrently, and gRPC frees sent buffers.
func TestStreamsShareAMessage(t *testing.T) {
	want := messages()[1]
	shared, err := Encode(want)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			got := decode(t, shared.Number(uint64(i)))
			if got.GetSequence() != uint64(i) || !proto.Equal(got.GetDiff(), want.GetDiff()) {
				t.Errorf("stream %d got %v", i, got)
			}
		})
	}
	wg.Wait()
}
