package gauntlet

import (
	"context"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/recording"
	"github.com/domtap/domtap/internal/testenv"
)

// state is the state of a stream at one revision of a tab.
type state struct {
	tab, epoch string
	revision   uint64
	elements   []*domtapv1.Element
}

// histories holds the states of tabs, from one stream of all elements per tab.
type histories struct {
	t      *testing.T
	d      *testenv.Daemon
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup
	known  map[string]bool

	mu     sync.Mutex
	states []state
	// folded counts the revisions that were not sent because the next one was already available.
	folded uint64
	failed error
}

func newHistories(t *testing.T, d *testenv.Daemon) *histories {
	h := &histories{t: t, d: d, known: map[string]bool{}}
	h.ctx, h.cancel = context.WithCancel(t.Context())
	t.Cleanup(h.stop)
	return h
}

// watch starts to follow a tab, unless it is followed already. A stream ends with its tab.
func (h *histories) watch(tab string) {
	h.t.Helper()
	if h.known[tab] {
		return
	}
	h.known[tab] = true
	no, all := false, proto.Int32(0)
	stream, err := h.d.Dom.WatchDom(h.ctx, &domtapv1.WatchDomRequest{TabId: tab, InteractiveOnly: &no, MaxElements: all, MaxTokens: all, ClientId: "historian"})
	if err != nil {
		h.t.Fatal(err)
	}
	h.work.Go(func() {
		var r testenv.Replica
		for {
			m, err := stream.Recv()
			if err != nil {
				return // the tab is closed, or the test has ended
			}
			if err := r.Apply(m); err != nil {
				h.mu.Lock()
				h.failed = err
				h.mu.Unlock()
				return
			}
			h.note(tab, m, r.Elements)
		}
	})
}

// note stores the state after a message of a stream. A revision may have several messages.
func (h *histories) note(tab string, m *domtapv1.WatchDomResponse, elements []*domtapv1.Element) {
	if m.GetSnapshot() == nil && m.GetResync() == nil && m.GetDiff() == nil {
		return // the elements are unchanged
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.folded += uint64(max(1, m.GetCoalesced()) - 1)
	h.states = append(h.states, state{tab, m.GetEpoch(), m.GetRevision(), elements})
}

// stop ends the streams.
func (h *histories) stop() {
	h.cancel()
	h.work.Wait()
}

// compare reads each of the states from the replay of some files.
func (h *histories) compare(t *testing.T, replayed *testenv.Daemon, paths []string) {
	t.Helper()
	if h.failed != nil {
		t.Errorf("a stream broke its promises: %v", h.failed)
	}
	differences, elements, no, all := 0, 0, false, proto.Int32(0)
	for _, want := range h.states {
		elements += len(want.elements)
		got, err := replayed.Dom.GetDom(t.Context(), &domtapv1.GetDomRequest{
			TabId: want.tab, At: &domtapv1.Moment{When: &domtapv1.Moment_Revision{Revision: want.revision}, Epoch: want.epoch},
			InteractiveOnly: &no, MaxElements: all, MaxTokens: all,
		})
		difference := ""
		if err != nil {
			difference = err.Error()
		} else {
			difference = testenv.Diff(testenv.WithoutBoxes(got.GetElements()), want.elements)
		}
		if difference == "" {
			continue
		}
		if differences++; differences <= 10 {
			t.Errorf("tab %s, revision %d of %s: the replay differs from the stream: %s", want.tab, want.revision, want.epoch, difference)
		}
	}
	t.Logf("%d revisions of %d tabs with %d elements, as a stream had them: %d differences. The stream folded %d revisions into the next ones, and the recordings have %d that it did not have",
		len(h.states), len(h.known), elements, differences, h.folded, h.unseen(t, paths))
}

// unseen counts the recorded revisions that no stream delivered. For example, a navigation creates several revisions at the same time.
func (h *histories) unseen(t *testing.T, paths []string) int {
	t.Helper()
	type point struct {
		tab, epoch string
		revision   uint64
	}
	seen, more := map[point]bool{}, map[point]bool{}
	for _, s := range h.states {
		seen[point{s.tab, s.epoch, s.revision}] = true
	}
	for _, path := range paths {
		f, err := recording.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		for m := range f.Marks(t.Context()) {
			if p := (point{f.Header().Tab, m.Epoch, m.Revision}); m.Revision > 0 && !seen[p] {
				more[p] = true
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return len(more)
}
