package server

import (
	"fmt"
	"testing"
	"testing/synctest"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// press makes one change. All changes have the same size.
func press(page *actortest.Page, n int) {
	page.Update(func(main *actortest.Frame) { main.Body[0].Value = fmt.Sprint(n % 10) })
}

// oneChange returns the size of one such change in the log, in bytes.
func oneChange(t *testing.T) (bytes int) {
	synctest.Test(t, func(t *testing.T) {
		b := newBenchWith(t, Config{}, "unix", tabpool.Config{})
		defer b.close()
		tab, page, s := b.watchShop(buttons("B", 20)...)
		open, err := b.pool.Tab(tab.GetId())
		if err != nil {
			t.Fatal(err)
		}
		for n := range 2 {
			press(page, n)
			s.next()
			bytes = open.Head().LogBytes() - bytes
		}
	})
	return bytes
}

// A stream can resume exactly as far back as the log reaches, whichever of the log's limits applies.
func TestWatchResumesAsFarAsTheLogReaches(t *testing.T) {
	const kept = 4
	one := oneChange(t)
	for name, cfg := range map[string]tabpool.Config{"by count": {LogCount: kept}, "by bytes": {LogBytes: kept*one + one/2}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBenchWith(t, Config{}, "unix", cfg)
				defer b.close()
				tab, page, s := b.watchShop(buttons("B", 20)...)
				for n := range 3 * kept {
					press(page, n)
					s.next()
				}
				last := s.last
				for back := uint64(1); back <= kept+2; back++ {
					from := last.GetRevision() - back
					again := b.watch(&domtapv1.WatchDomRequest{TabId: tab.GetId(), FromRevision: &from, Epoch: last.GetEpoch()})
					m, err := again.client.Recv()
					if err != nil {
						t.Fatal(err)
					}
					if back <= kept && (m.GetDiff().GetFromRevision() != from || m.GetCoalesced() != int32(back)) {
						t.Errorf("%d revisions back: got %v, want the diff", back, m)
					}
					if back > kept && m.GetResync().GetReason() != "revision_too_old" {
						t.Errorf("%d revisions back: got %v, want a resync", back, m)
					}
				}
			})
		})
	}
}

// If the view did not exist at the revision to resume from, the stream restarts.
func TestWatchResumesOnAViewThatCameLater(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page, s := b.watchShop(buttons("B", 10)...)
		from := s.last
		page.Update(func(main *actortest.Frame) {
			main.Body = append(main.Body, actortest.El("form", "form", "Late", actortest.Button("In")))
		})
		form := s.next().GetDiff().GetAdded()[0]
		again := b.watch(&domtapv1.WatchDomRequest{
			TabId: tab.GetId(), FromRevision: &from.Revision, Epoch: from.GetEpoch(), RootRef: proto.Uint32(form.GetRef()),
		})
		if r := again.next().GetResync(); r.GetReason() != "view_changed" || len(r.GetSnapshot().GetElements()) != 2 {
			t.Errorf("got %v", again.last)
		}
	})
}

// Changes carry times of the page's clock and of the daemon's. Neither goes backwards.
func TestWatchTellsTimes(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		_, page, s := b.watchShop(buttons("B", 20)...)
		was := s.last
		for n := range 5 {
			if n == 3 {
				page.Update(func(main *actortest.Frame) { main.Body = buttons("C", 20) })
			} else {
				add(page, fmt.Sprint("New ", n))
			}
			m := s.next()
			if (m.GetDiff() == nil) != (n == 3) || m.GetPageTime() == nil || m.GetObservedAt() == nil {
				t.Fatalf("got %v", m)
			}
			for what, times := range map[string][2]*timestamppb.Timestamp{
				"page_time": {was.GetPageTime(), m.GetPageTime()}, "observed_at": {was.GetObservedAt(), m.GetObservedAt()},
			} {
				if times[1].AsTime().Before(times[0].AsTime()) {
					t.Errorf("%s goes back from %v to %v", what, times[0], times[1])
				}
			}
			was = m
		}
	})
}
