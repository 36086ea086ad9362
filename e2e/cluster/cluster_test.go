//go:build cluster

package cluster

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/domtap/domtap/client"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// backWithin limits how long the sessions of a dead node may be unavailable: 19 s to detect the failure, plus the time to start the page.
const backWithin = 30 * time.Second

// has reports whether a page has an element with the given text.
func has(state *domtapv1.GetDomResponse, text string) bool {
	_, ok := testenv.Find(state, text)
	return ok
}

// examine describes a tab that a watch does not show as expected: the state of the watch, the reads of each node, the tab's node in the
// registry, and the requests to the site.
func (st *stage) examine(tab string, nodes []*node, watched *domtapv1.GetDomResponse) string {
	var b strings.Builder
	tell := func(what string, state *domtapv1.GetDomResponse, err error) {
		fmt.Fprintf(&b, "%s: epoch %s, revision %d, %s %q, %v\n", what, state.GetEpoch(), state.GetRevision(), state.GetUrl(), testenv.Texts(state), err)
	}
	tell("the watch", watched, nil)
	for _, n := range nodes {
		ctx, cancel := context.WithTimeout(st.t.Context(), backWithin)
		got, err := n.Dom.GetDom(ctx, &domtapv1.GetDomRequest{TabId: tab})
		tell("read by "+n.id, got, err)
		list, err := n.Tabs.ListTabs(ctx, new(domtapv1.ListTabsRequest))
		cancel()
		fmt.Fprintf(&b, "listed by %s: %v, %v\n", n.id, list.GetTabs(), err)
	}
	fmt.Fprintf(&b, "the site was asked for:\n%s", st.seen)
	return b.String()
}

func TestAWatchOutlivesTheNodeOfItsTab(t *testing.T) {
	st := newStage(t)
	tab := st.create(st.nodes[0], "work", true)
	home := st.home(st.nodes[0], "work")
	testenv.Await(t, "the login is saved", func() bool { return home.logged(`msg="a session was saved" session=work tabs=1 cookies=1`) })
	others := st.others(home)
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	var killed time.Time
	epoch := ""
	var last *domtapv1.GetDomResponse
	for update, err := range st.client(others...).Tab(tab).Follow(ctx, client.FollowOptions{Lost: func(cause error, _ time.Duration) { t.Logf("lost: %v", cause) }}) {
		switch {
		case err != nil:
			t.Fatalf("%v\n%s", err, st.examine(tab, others, last))
		case killed.IsZero() && has(update.State, "Hello work"):
			epoch = update.State.GetEpoch()
			home.signal(syscall.SIGKILL)
			home.await()
			killed = time.Now()
		case !killed.IsZero() && update.Message.GetResync() != nil:
			t.Logf("the watch went on after %v: %s", time.Since(killed), update.Message.GetResync().GetReason())
			if reason := update.Message.GetResync().GetReason(); reason != "epoch_changed" || update.State.GetEpoch() == epoch {
				t.Errorf("the stream began anew because of %s, in epoch %s after %s", reason, update.State.GetEpoch(), epoch)
			}
		}
		if !killed.IsZero() && update.State.GetEpoch() != epoch && has(update.State, "Hello work") {
			break
		}
		last = update.State
	}
	if took := time.Since(killed); took > backWithin {
		t.Errorf("the tab was back after %v, and may take %v", took, backWithin)
	}
	if now := st.home(others[0], "work"); now == home {
		t.Error("the session is on the node that died")
	}
}

func TestANodeThatStopsFailsNoCall(t *testing.T) {
	st := newStage(t)
	var tabs []string
	for _, session := range []string{"a", "b", "c", "d", "e", "f"} {
		tabs = append(tabs, st.create(st.nodes[0], session, false))
	}
	leaving := st.home(st.nodes[0], "a")
	others := st.others(leaving)
	stop, end := context.WithCancel(t.Context())
	defer end()
	var calling sync.WaitGroup
	for i, tab := range tabs {
		calling.Go(func() {
			for calls := 0; ; calls++ {
				if _, err := others[calls%2].Dom.GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tab}); err != nil {
					t.Errorf("call %d to tab %s: %v", calls, tab, err)
					return
				}
				if stop.Err() != nil {
					t.Logf("%d calls to tab %d", calls, i)
					return
				}
			}
		})
	}
	leaving.signal(syscall.SIGTERM)
	leaving.await()
	end()
	calling.Wait()
	if code := leaving.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("the daemon ended with %d", code)
	}
	for i, session := range []string{"a", "b", "c", "d", "e", "f"} {
		if st.home(others[0], session) == leaving {
			t.Errorf("session %s is on the node that left", session)
		}
		got, err := others[0].Dom.GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tabs[i]})
		if err != nil || !has(got, "Hello "+session) {
			t.Errorf("session %s: %v, %v", session, testenv.Texts(got), err)
		}
	}
}

// TestANodeThatStopsEndsItsStreams stops the node through which a client follows a tab of another node. The stream ends immediately, with
// an error that lets the client continue at another node.
func TestANodeThatStopsEndsItsStreams(t *testing.T) {
	st := newStage(t)
	tab := st.create(st.nodes[0], "work", false)
	leaving := st.others(st.home(st.nodes[0], "work"))[0]
	stream, err := st.client(leaving).Dom.WatchDom(testenv.Within(t, limit), &domtapv1.WatchDomRequest{TabId: tab})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = stream.Recv(); err == nil {
		leaving.signal(syscall.SIGTERM)
	}
	told := time.Now()
	for err == nil {
		_, err = stream.Recv()
	}
	if took := time.Since(told); status.Code(err) != codes.Unavailable || took > 5*time.Second {
		t.Errorf("the stream ended with %v after %v", err, took)
	}
	leaving.await()
	t.Logf("the stream ended with: %v; the daemon ended after %v", err, time.Since(told))
}
