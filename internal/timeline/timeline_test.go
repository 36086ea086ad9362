package timeline

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// began returns an entry for a running call of a client.
func began(client string, at int) *Entry {
	return &Entry{Client: client, Method: "Interact", State: domtapv1.TimelineState_TIMELINE_STATE_RUNNING, Time: timestamppb.New(time.Unix(int64(at), 0)),
		Event: &domtapv1.TimelineEntry_Turn{Turn: new(domtapv1.TimelineTurn)}}
}

func read(client string, at int) *Entry {
	return &Entry{Client: client, Method: "GetDom", State: domtapv1.TimelineState_TIMELINE_STATE_DONE, Tokens: 3, Time: timestamppb.New(time.Unix(int64(at), 0)),
		Event: &domtapv1.TimelineEntry_Read{Read: &domtapv1.TimelineRead{Elements: uint32(at)}}}
}

func console(text string, at int) *Entry {
	return &Entry{Time: timestamppb.New(time.Unix(int64(at), 0)), Event: &domtapv1.TimelineEntry_Problem{Problem: &domtapv1.LogEntry{Text: text}}}
}

// FuzzEntriesAreInOneOrderAndBounded adds and changes entries as the input bytes determine, while two readers read. It checks the order and
// the limits, that readers miss no stored entry, and that entries never change after they were read.
func FuzzEntriesAreInOneOrderAndBounded(f *testing.F) {
	f.Add([]byte("aabbcdcdeeffgg"))
	f.Add([]byte{0, 1, 1, 1, 2, 2, 3, 4, 5, 6, 7, 0, 0, 0, 7, 4, 200, 13})
	f.Fuzz(func(t *testing.T, script []byte) {
		limits := Limits{Entries: 8, Bytes: 4000}
		s := New(limits)
		type reader struct {
			version uint64
			known   map[uint64]*Entry
		}
		readers := []*reader{{known: map[uint64]*Entry{}}, {known: map[uint64]*Entry{}}}
		kept := map[*Entry]*Entry{}
		catchUp := func(r *reader) {
			got := s.Read(Query{AfterVersion: r.version})
			for _, e := range got.Entries {
				if old := r.known[e.Id]; old != nil && old.Version >= e.Version {
					t.Fatalf("entry %d came again without a change", e.Id)
				}
				r.known[e.Id] = e
				if kept[e] == nil {
					kept[e] = proto.CloneOf(e)
				}
			}
			r.version = got.Version
		}
		var ids []uint64
		for at, b := range script[:min(len(script), 500)] {
			switch b % 8 {
			case 0, 1:
				ids = append(ids, s.Add(began(string('a'+rune(b%3)), at)))
			case 2:
				ids = append(ids, s.Add(read("a", at)))
			case 3:
				ids = append(ids, s.Add(console(fmt.Sprintf("%*d", int(b)*5, b%16), at)))
			case 4, 5:
				if len(ids) > 0 {
					s.Change(ids[int(b)%len(ids)], func(e *Entry) { e.State, e.Tokens = domtapv1.TimelineState_TIMELINE_STATE_DONE, uint64(b) })
				}
			default:
				catchUp(readers[b%2])
			}
			all := s.Read(Query{})
			if len(all.Entries) > limits.Entries || len(all.Entries) > 1 && s.bytes > limits.Bytes {
				t.Fatalf("%d entries of %d bytes are kept", len(all.Entries), s.bytes)
			}
			if !slices.IsSortedFunc(all.Entries, func(a, b *Entry) int { return int(int64(a.Id) - int64(b.Id)) }) {
				t.Fatalf("the entries are not in order: %v", all.Entries)
			}
			if all.First > 0 && all.First != all.Dropped+1 || len(all.Entries) > 0 && all.Entries[len(all.Entries)-1].Id != s.id {
				t.Fatalf("%d dropped before %d; the last id is %d", all.Dropped, all.First, s.id)
			}
		}
		for _, r := range readers {
			catchUp(r)
			for _, e := range s.Read(Query{}).Entries {
				if r.known[e.Id] != e {
					t.Errorf("a reader has not the newest version of entry %d", e.Id)
				}
			}
		}
		for e, then := range kept {
			if !proto.Equal(e, then) {
				t.Errorf("what was read has changed: %v, %v", e, then)
			}
		}
	})
}

func TestTheSameIsOneEntry(t *testing.T) {
	s := New(Limits{})
	for at := range 5 {
		s.Add(read("a", at))
	}
	s.Add(read("b", 5))
	s.Add(console("no", 6))
	s.Add(console("no", 9))
	s.Add(read("b", 10))
	got := s.Read(Query{})
	var counts []uint32
	for _, e := range got.Entries {
		counts = append(counts, e.Count)
	}
	if want := []uint32{5, 1, 2, 1}; !slices.Equal(counts, want) {
		t.Errorf("the entries stand for %v, want %v", counts, want)
	}
	if first := got.Entries[0]; first.Tokens != 15 || first.GetRead().Elements != 4 || first.Duration.AsDuration() != 4*time.Second {
		t.Errorf("five reads are %v", first)
	}
	if u := got.Users; len(u) != 2 || u[0].Reads != 5 || u[0].Tokens != 15 || u[1].Reads != 2 {
		t.Errorf("the clients are %v", u)
	}
}

func TestUsageOutlivesEntries(t *testing.T) {
	s := New(Limits{Entries: 2})
	for at := range 10 {
		id := s.Add(began("a", at))
		s.Change(id, func(e *Entry) { e.State, e.Tokens = domtapv1.TimelineState_TIMELINE_STATE_FAILED, 7 })
	}
	for i := range 100 {
		s.Add(read(fmt.Sprint(i), i))
	}
	got := s.Read(Query{Max: 1})
	if u := got.Users; len(u) > maxUsers+1 || !slices.ContainsFunc(u, func(u *domtapv1.TimelineClient) bool {
		return u.Client == "a" && u.Turns == 10 && u.Failed == 10 && u.Tokens == 70
	}) {
		t.Errorf("the clients are %v", u)
	}
	if !got.More || got.Dropped != 108 || got.Entries[0].Client != "99" {
		t.Errorf("read %v", got)
	}
}

func TestWhoWaitsIsWoken(t *testing.T) {
	s := New(Limits{})
	for name, do := range map[string]func(){"Add": func() { s.Add(read("a", 1)) }, "Poke": s.WakeAll, "Close": s.Close} {
		changed := s.Changed()
		do()
		select {
		case <-changed:
		default:
			t.Errorf("%s wakes nobody", name)
		}
	}
	if !s.Closed() {
		t.Error("it is not closed")
	}
}

// BenchmarkTurn measures the cost of a turn for its timeline: its start and end, with one step, in a full store.
func BenchmarkTurn(b *testing.B) {
	s := New(Limits{})
	for i := 0; b.Loop(); i++ {
		e := began("a", i)
		e.GetTurn().Steps = []*domtapv1.TimelineStep{{Kind: "click", Role: "button", Name: "Pay now", Point: &domtapv1.TimelinePoint{X: 1, Y: 2}, Summary: `click "Pay now": ok`}}
		id := s.Add(e)
		s.Change(id, func(e *Entry) { e.State = domtapv1.TimelineState_TIMELINE_STATE_DONE })
	}
}
