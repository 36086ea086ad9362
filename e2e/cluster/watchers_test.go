//go:build cluster

package cluster

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/domtap/domtap/client"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

const (
	// changesMeasured is the number of changes of the page, one per second, in a measurement.
	changesMeasured = 20
	// streamsOfClient is the number of watches per connection.
	streamsOfClient = 100
	// mostOfOne limits the owner's processor time with all watchers, as a multiple of its time with one watcher.
	mostOfOne = 1.10
)

// clock is a page that changes once a second.
func clock() map[string]http.HandlerFunc {
	var text strings.Builder
	text.WriteString(`<title>Clock</title><button id=n>0</button>`)
	for i := range 100 {
		fmt.Fprintf(&text, `<button>Button %d</button>`, i)
	}
	text.WriteString(`<script>let n = 0; setInterval(() => document.querySelector("#n").textContent = String(++n), 1000)</script>`)
	return map[string]http.HandlerFunc{"/": testenv.HTML(text.String())}
}

// audience is a set of watchers of one tab, at nodes that do not have it.
type audience struct {
	// received counts the messages of all watchers. began counts the watchers that have their first message.
	received, began atomic.Int64
	// changes receives a value for each change that the first watcher gets.
	changes chan struct{}
	failed  atomic.Pointer[error]
	end     context.CancelFunc
	work    sync.WaitGroup
}

// gather starts watchers of a tab, evenly over the given nodes, and returns when all watchers have the page.
func (st *stage) gather(tab string, watchers int, nodes []*node) *audience {
	st.t.Helper()
	ctx, end := context.WithCancel(st.t.Context())
	a := &audience{end: end, changes: make(chan struct{}, 100)}
	var through *client.Client
	for i := range watchers {
		if i%streamsOfClient == 0 {
			through = st.client(nodes[i/streamsOfClient%len(nodes)])
		}
		mine := through // a connection has at most 4,096 streams
		a.work.Go(func() { a.watch(ctx, i, mine, tab) })
	}
	testenv.Await(st.t, "all watchers have the page", func() bool {
		if err := a.failed.Load(); err != nil {
			st.t.Fatal(*err)
		}
		return a.began.Load() == int64(watchers)
	})
	return a
}

// watch runs one watcher.
func (a *audience) watch(ctx context.Context, number int, through *client.Client, tab string) {
	stream, err := through.Dom.WatchDom(ctx, &domtapv1.WatchDomRequest{TabId: tab})
	for first := true; err == nil; first = false {
		var m *domtapv1.WatchDomResponse
		if m, err = stream.Recv(); err != nil {
			break
		}
		if a.received.Add(1); first {
			a.began.Add(1)
		}
		if number == 0 && m.GetDiff() != nil {
			select {
			case a.changes <- struct{}{}:
			default: // no measurement is running
			}
		}
	}
	if ctx.Err() == nil {
		a.failed.Store(&err)
	}
}

// await waits for changes.
func (a *audience) await(t *testing.T, changes int) {
	t.Helper()
	for range changes {
		select {
		case <-a.changes:
		case <-time.After(limit):
			t.Fatal("the page does not change")
		}
	}
}

// leave ends the watches.
func (a *audience) leave() {
	a.end()
	a.work.Wait()
}

// processorTime returns the time that the threads of a process have run.
func processorTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	paths, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid)) // the pattern is valid
	var all time.Duration
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // the thread has ended
		}
		ran, err := strconv.ParseInt(strings.Fields(string(text))[0], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		all += time.Duration(ran)
	}
	if all == 0 {
		t.Skip("the system does not say how long a process has run")
	}
	return all
}

// cost is the cost of a change while a tab has watchers at other nodes.
type cost struct {
	watchers int
	// owner is the processor time of the tab's node. others is the total of the other two nodes.
	owner, others time.Duration
	// messages is the number of messages per watcher.
	messages float64
}

// measure measures the cost of a change.
func (st *stage) measure(tab string, home *node, watchers int) cost {
	st.t.Helper()
	others := st.others(home)
	a := st.gather(tab, watchers, others)
	defer a.leave()
	ran := func() (owner, rest time.Duration) {
		for _, n := range others {
			rest += processorTime(st.t, n.cmd.Process.Pid)
		}
		return processorTime(st.t, home.cmd.Process.Pid), rest
	}
	a.await(st.t, 3+len(a.changes)) // skip the cost of the start
	owner, rest := ran()
	received := a.received.Load()
	a.await(st.t, changesMeasured)
	ownerNow, restNow := ran()
	return cost{
		watchers: watchers, owner: (ownerNow - owner) / changesMeasured, others: (restNow - rest) / changesMeasured,
		messages: float64(a.received.Load()-received) / float64(changesMeasured*watchers),
	}
}

// TestWatchersAtOtherNodesCostTheOwnerNothing follows a tab from the two nodes that do not have it, alternately with one watcher and with
// many. The tab's node needs the same time for a change in both cases. DOMTAP_WATCHERS sets the number of watchers. The time is checked
// only if it is set, because other programs on the machine affect the result. The test prints a table.
func TestWatchersAtOtherNodesCostTheOwnerNothing(t *testing.T) {
	many, err := strconv.Atoi(os.Getenv("DOMTAP_WATCHERS"))
	judged := err == nil
	switch {
	case !judged && !testenv.Long():
		t.Skip("it measures for two minutes: set DOMTAP_LONG, or DOMTAP_WATCHERS to how many watch")
	case !judged:
		many = 1000
	}
	st := newStage(t, func(int) []string {
		return []string{"--max-streams", "0", "--max-streams-per-client", "0", "--max-connections", "0", "--log-level", "info"}
	})
	st.url = testenv.Pages(t, clock())
	ctx := testenv.Within(t, limit)
	opened, err := st.nodes[0].Sessions.CreateSession(ctx, &domtapv1.CreateSessionRequest{SessionId: "clock"})
	if err != nil {
		t.Fatal(err)
	}
	tab, err := st.nodes[0].Tabs.OpenTab(ctx, &domtapv1.OpenTabRequest{SessionId: opened.GetSession().GetId(), Url: st.url + "/"})
	if err != nil {
		t.Fatal(err)
	}
	home := st.home(st.nodes[0], "clock")
	var one, all time.Duration
	const rounds = 3
	fmt.Fprintln(t.Output(), "| watchers | owner, for a change | the two others | messages for each watcher |\n|---|---|---|---|")
	for range rounds {
		for _, watchers := range []int{1, many} {
			c := st.measure(tab.GetTab().GetId(), home, watchers)
			fmt.Fprintf(t.Output(), "| %d | %.2f ms | %.1f ms | %.2f |\n", c.watchers, c.owner.Seconds()*1e3, c.others.Seconds()*1e3, c.messages)
			if watchers == 1 {
				one += c.owner / rounds
			} else {
				all += c.owner / rounds
			}
		}
	}
	t.Logf("the owner takes %.2f ms with %d watchers, and %.2f ms with one: %+.1f %%", all.Seconds()*1e3, many, one.Seconds()*1e3, 100*(float64(all)/float64(one)-1))
	if judged && float64(all) > mostOfOne*float64(one) {
		t.Errorf("it may take %.2f times as much", mostOfOne)
	}
}
