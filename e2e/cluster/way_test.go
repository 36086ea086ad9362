//go:build cluster

package cluster

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

const (
	// readsMeasured is the number of measured reads of each kind. The kinds alternate. changesCompared is the number of compared changes.
	readsMeasured   = 400
	changesCompared = 400
	// mostAddedToCall and mostAddedToChange limit the median delay that another node adds to an answer and to a change.
	mostAddedToCall   = time.Millisecond
	mostAddedToChange = 3 * time.Millisecond
)

// TestTheWayToAnotherNode prints the time added to a call and to a change when the client is connected to another node than the tab's. It
// uses three daemons and a real browser.
func TestTheWayToAnotherNode(t *testing.T) {
	if os.Getenv("DOMTAP_LONG") == "" {
		t.Skip("it measures times: set DOMTAP_LONG")
	}
	st := newStage(t)
	var buttons strings.Builder
	for i := range 100 {
		fmt.Fprintf(&buttons, `<button>Button %d</button>`, i)
	}
	pages := testenv.Pages(t, map[string]http.HandlerFunc{
		"/still": testenv.HTML(`<title>Still</title>` + buttons.String()),
		"/clock": testenv.HTML(`<title>Clock</title><button id=n>0</button>` + buttons.String() +
			`<script>let n = 0; setInterval(() => document.querySelector("#n").textContent = String(++n), 50)</script>`),
	})
	home := st.nodes[0]
	for n := 0; ; n++ { // sessions are placed anywhere
		session := fmt.Sprintf("s%d", n)
		if _, err := home.Sessions.CreateSession(testenv.Within(t, limit), &domtapv1.CreateSessionRequest{SessionId: session}); err != nil {
			t.Fatal(err)
		}
		if st.home(home, session) == home {
			st.measureReads(home, st.nodes[1], home.show(session, pages+"/still"))
			st.measureChanges(home, st.nodes[1], home.show(session, pages+"/clock"))
			return
		}
	}
}

// show opens a page.
func (n *node) show(session, url string) (tab string) {
	n.t.Helper()
	opened, err := n.Tabs.OpenTab(testenv.Within(n.t, limit), &domtapv1.OpenTabRequest{SessionId: session, Url: url})
	if err != nil {
		n.t.Fatal(err)
	}
	return opened.GetTab().GetId()
}

// measureReads compares reads at the tab's node to reads at another node, which serves some from its copy.
func (st *stage) measureReads(home, other *node, tab string) {
	st.t.Helper()
	ctx := testenv.Within(st.t, limit)
	watching, err := other.Dom.WatchDom(ctx, &domtapv1.WatchDomRequest{TabId: tab})
	if err == nil {
		_, err = watching.Recv()
	}
	if err != nil {
		st.t.Fatal(err)
	}
	old := durationpb.New(time.Minute)
	kinds := []struct {
		name string
		at   *node
		r    *domtapv1.GetDomRequest
	}{
		{"asks the page, at the tab's node", home, &domtapv1.GetDomRequest{TabId: tab}},
		{"asks the page, at another node", other, &domtapv1.GetDomRequest{TabId: tab}},
		{"max_age, at the tab's node", home, &domtapv1.GetDomRequest{TabId: tab, MaxAge: old}},
		{"max_age, at another node", other, &domtapv1.GetDomRequest{TabId: tab, MaxAge: old}},
		{"observe_only and max_age, at another node", other, &domtapv1.GetDomRequest{TabId: tab, MaxAge: old, ObserveOnly: true}},
	}
	took := make([][]time.Duration, len(kinds))
	for range readsMeasured {
		for i, k := range kinds {
			begun := time.Now()
			if _, err := k.at.Dom.GetDom(ctx, k.r); err != nil {
				st.t.Fatal(err)
			}
			took[i] = append(took[i], time.Since(begun))
		}
	}
	for i, k := range kinds {
		slices.Sort(took[i])
		st.t.Logf("GetDom, %-42s %s", k.name, spread(took[i]))
	}
	for _, pair := range [][2]int{{0, 1}, {2, 3}} {
		if added := took[pair[1]][readsMeasured/2] - took[pair[0]][readsMeasured/2]; added > mostAddedToCall {
			st.t.Errorf("%s: %v more at the median, and may be %v", kinds[pair[1]].name, added, mostAddedToCall)
		}
	}
}

// spread describes the distribution of sorted times.
func spread(all []time.Duration) string {
	at := func(part float64) float64 {
		return float64(all[int(part*float64(len(all)-1))]) / float64(time.Millisecond)
	}
	return fmt.Sprintf("p50 %.2f ms, p90 %.2f ms, p99 %.2f ms", at(.5), at(.9), at(.99))
}

// measureChanges compares the arrival times of changes through the tab's node and through another node.
func (st *stage) measureChanges(home, other *node, tab string) {
	st.t.Helper()
	ctx, cancel := context.WithTimeout(st.t.Context(), limit)
	defer cancel()
	type arrival struct {
		node     *node
		revision uint64
		at       time.Time
	}
	arrivals := make(chan arrival, 64)
	for _, n := range []*node{home, other} {
		stream, err := n.Dom.WatchDom(ctx, &domtapv1.WatchDomRequest{TabId: tab})
		if err != nil {
			st.t.Fatal(err)
		}
		go func() {
			for {
				m, err := stream.Recv()
				if err != nil {
					return // the measurement is over, or will time out
				}
				select {
				case arrivals <- arrival{n, m.GetRevision(), time.Now()}:
				case <-ctx.Done():
					return
				}
			}
		}()
	}
	came := map[uint64]arrival{}
	var later []time.Duration
	for len(later) < changesCompared {
		select {
		case now := <-arrivals:
			before, known := came[now.revision]
			switch {
			case !known:
				came[now.revision] = now
			case now.node == other && before.node == home:
				later = append(later, now.at.Sub(before.at))
			case before.node == other && now.node == home:
				later = append(later, before.at.Sub(now.at))
			}
		case <-ctx.Done():
			st.t.Fatalf("only %d changes were seen by both", len(later))
		}
	}
	slices.Sort(later)
	st.t.Logf("a change comes later through another node: %s", spread(later))
	if added := later[changesCompared/2]; added > mostAddedToChange {
		st.t.Errorf("a change comes %v later at the median, and may come %v later", added, mostAddedToChange)
	}
}
