package faults

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/testenv"
)

// mischiefs lists the faults of the connection, which are injected one after the other.
var mischiefs = []mischief{
	{name: "cut", cut: 0.02},
	{name: "delayed", delay: 0.05, longest: 300 * time.Millisecond},
	{name: "answers dropped", drop: 0.03},
	{name: "events doubled", double: 0.1},
	{name: "reordered", swap: 0.1},
	{name: "corrupted", corrupt: 0.05},
	{name: "all at once", cut: 0.005, delay: 0.02, longest: 200 * time.Millisecond, drop: 0.01, double: 0.05, swap: 0.05, corrupt: 0.02},
}

// brief lists the faults for a short run.
var brief = []mischief{
	{name: "cut", cut: 0.05},
	{name: "unreliable", delay: 0.05, longest: 50 * time.Millisecond, double: 0.1, swap: 0.1},
	{name: "corrupted", corrupt: 0.1},
}

const (
	// patienceOfCalls is the deadline of calls during faults. slack limits how much later they may end, even on a busy machine.
	patienceOfCalls = 2 * time.Second
	slack           = 30 * time.Second
)

// TestFaultsOfTheConnection puts a proxy between the daemon and a browser. The proxy cuts, delays, drops, duplicates, reorders and corrupts
// messages of the browser. Every call must end in time, and no error may be an internal error of the daemon. When the connection works
// again, the daemon's answers must be correct. DOMTAP_FAULTS_SEED=N repeats the random choices of a run.
func TestFaultsOfTheConnection(t *testing.T) {
	long := campaign(t)
	seed, list, span := uint64(7), brief, 300*time.Millisecond
	if long > 0 {
		seed, list, span = uint64(time.Now().UnixNano()), mischiefs, 4*time.Second
	}
	if text := os.Getenv("DOMTAP_FAULTS_SEED"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = n
	}
	remote := testenv.StartRemote(t, 0).Address
	p, through := newProxy(t, remote, seed)
	st := newStage(t, []browser.Config{{Remote: through}}, 4*time.Second)
	for began, round := time.Now(), 0; round == 0 || time.Since(began) < long; round++ {
		for _, m := range list {
			if !t.Run(m.name, func(t *testing.T) {
				st.t = t
				before := p.tally()
				r := newRow(m.name)
				st.endure(p, m, r, span)
				t.Logf("seed %d, %s\n| fault | injected | streams | calls | recovery |\n%s", seed, p.since(before), r)
			}) {
				t.Fatalf("DOMTAP_FAULTS_SEED=%d", seed)
			}
		}
	}
	st.t = t
	p.set(mischief{})
	for _, tab := range st.list() {
		st.close(tab.GetId())
	}
	st.orphans(remote)
}

// endure lets clients use a tab during faults, and then checks their results.
func (st *stage) endure(p *proxy, m mischief, r *row, span time.Duration) {
	t := st.t
	t.Helper()
	tab := st.open("/counter", true)
	ends := st.watch(tab)
	p.set(m)
	var clients sync.WaitGroup
	var mu sync.Mutex
	start := time.Now()
	work := func(what string, call func(ctx context.Context, i int) error) {
		clients.Go(func() {
			for i := 0; time.Since(start) < span; i++ {
				began := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), patienceOfCalls)
				err := call(ctx, i)
				cancel()
				mu.Lock()
				r.note(t, what, err, time.Since(began))
				mu.Unlock()
				if err != nil && time.Since(began) < time.Millisecond {
					time.Sleep(5 * time.Millisecond) // so that it does not end before the connection is restored
				}
			}
		})
	}
	work("GetDom", func(ctx context.Context, i int) error {
		_, err := st.Dom.GetDom(ctx, &domtapv1.GetDomRequest{TabId: tab, FullSnapshot: i%2 == 0})
		return err
	})
	work("Interact", func(ctx context.Context, _ int) error {
		_, err := st.Actions.Interact(ctx, &domtapv1.InteractRequest{TabId: tab, Steps: []*domtapv1.Step{{Action: &domtapv1.Step_Click{
			Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Selector: "#count"}}}}}})
		return err
	})
	clients.Wait()
	p.set(mischief{})
	r.injected++
	began := time.Now()
	st.matchesThePage(tab, m)
	r.recovery = append(r.recovery, time.Since(began))
	st.close(tab)
	select {
	case err := <-ends:
		how := "OK"
		if !errors.Is(err, io.EOF) {
			how = strings.TrimSpace(status.Code(err).String() + " " + testenv.Reason(err))
		}
		r.streams[how]++
	case <-time.After(limit):
		t.Error("the stream does not end")
	}
}

// note checks the end of a call.
func (r *row) note(t *testing.T, what string, err error, took time.Duration) {
	t.Helper()
	r.longest = max(r.longest, took)
	r.calls[strings.TrimSpace(what+" "+status.Code(err).String()+" "+testenv.Reason(err))]++
	if took > patienceOfCalls+slack {
		t.Errorf("%s took %s: %v", what, took, err)
	}
	switch status.Code(err) {
	case codes.Unknown:
		t.Errorf("%s: %v", what, err)
	case codes.Internal:
		if strings.Contains(err.Error(), "panic") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// matchesThePage reads a tab until the result equals the page. A change inside a CDP message is undetectable, so after such a fault the
// page is reloaded first.
func (st *stage) matchesThePage(tab string, m mischief) {
	t := st.t
	t.Helper()
	var last error
	for began := time.Now(); time.Since(began) < limit; {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		last = st.truth(ctx, tab, m.corrupt > 0)
		cancel()
		if last == nil {
			return
		}
		time.Sleep(20 * time.Millisecond) // it polls
	}
	t.Fatalf("the connection has been well for long, and yet: %v; the tab is %v", last, st.tab(tab))
}

// truth compares the response of GetDom with the state that the page reports.
func (st *stage) truth(ctx context.Context, tab string, reload bool) error {
	if reload {
		if _, err := st.Tabs.Navigate(ctx, &domtapv1.NavigateRequest{TabId: tab, Url: st.url + "/counter"}); err != nil {
			return err
		}
	}
	out, err := st.Pages.Evaluate(ctx, &domtapv1.EvaluateRequest{TabId: tab, Expression: `() => {
		return [...document.querySelectorAll("button")].map(b => b.textContent) }`})
	if err != nil {
		return err
	}
	var want []string
	if err := json.Unmarshal([]byte(out.GetResultJson()), &want); err != nil {
		return fmt.Errorf("%q: %w", out.GetResultJson(), err)
	}
	answer, err := st.Dom.GetDom(ctx, &domtapv1.GetDomRequest{TabId: tab})
	if err != nil {
		return err
	}
	var got []string
	for _, el := range answer.GetElements() {
		got = append(got, el.GetText())
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("GetDom says %q, and the page shows %q", got, want)
	}
	return nil
}

// orphans checks that no page of domtap is left in the remote browser.
func (st *stage) orphans(remote string) {
	t := st.t
	t.Helper()
	host, _, _ := strings.Cut(strings.TrimPrefix(remote, "ws://"), "/")
	var left []struct{ Type, URL string }
	for began := time.Now(); time.Since(began) < 20*time.Second; {
		resp, err := http.Get("http://" + host + "/json/list")
		if err != nil {
			t.Fatal(err)
		}
		err = json.NewDecoder(resp.Body).Decode(&left)
		_ = resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		left = slices.DeleteFunc(left, func(one struct{ Type, URL string }) bool { return !strings.HasPrefix(one.URL, st.url) })
		if len(left) == 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("%d pages are left in the browser: %v", len(left), left)
}

// tally returns the number of faults so far. since returns the additional ones.
func (p *proxy) tally() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := map[string]int{}
	for what, n := range p.did {
		out[what] = n
	}
	return out
}

func (p *proxy) since(before map[string]int) string {
	now := p.tally()
	for what, n := range before {
		if now[what] -= n; now[what] == 0 {
			delete(now, what)
		}
	}
	return list(now)
}

func (st *stage) list() []*domtapv1.Tab {
	st.t.Helper()
	all, err := st.Tabs.ListTabs(testenv.Within(st.t, limit), new(domtapv1.ListTabsRequest))
	if err != nil {
		st.t.Fatal(err)
	}
	return all.GetTabs()
}
