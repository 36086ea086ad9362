//go:build cluster

package cluster

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/cluster/natstest"
	"github.com/domtap/domtap/internal/testenv"
)

// cpu returns the processor time that the daemon has used, without its browser.
func (n *node) cpu() time.Duration {
	n.t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", n.cmd.Process.Pid))
	if err != nil || len(threads) == 0 {
		n.t.Fatalf("no thread of %s is found: %v", n.id, err)
	}
	all := time.Duration(0)
	for _, thread := range threads {
		text, _ := os.ReadFile(thread) // a thread that has just ended has used little
		if fields := strings.Fields(string(text)); len(fields) > 0 {
			ran, _ := strconv.ParseInt(fields[0], 10, 64)
			all += time.Duration(ran)
		}
	}
	return all
}

// TestWhatAClusterCostsAnOwner prints the processor time of daemons for a tab without watchers on other nodes: a daemon without a cluster,
// a client of NATS, and a daemon with a NATS server. All daemons do the same work at the same time, so that other load on the machine
// affects them equally.
func TestWhatAClusterCostsAnOwner(t *testing.T) {
	if os.Getenv("DOMTAP_LONG") == "" {
		t.Skip("it measures for two minutes: set DOMTAP_LONG")
	}
	const rounds, window = 5, 6 * time.Second
	url, creds := existingNATS(t)
	st := newStageOf(t)
	pages := testenv.Pages(t, map[string]http.HandlerFunc{
		"/idle":     testenv.HTML(`<title>Idle</title><button>Buy</button>`),
		"/changing": testenv.HTML(`<title>Changing</title><button>0</button><script>let n = 0; setInterval(() => { document.querySelector("button").textContent = ++n }, 50)</script>`),
	})
	at := natstest.Free(t, 5)
	st.start(st.program, "no-cluster", at[0])
	st.start(st.program, "client", at[1], "--cluster", "shop", "--cluster-token-file", st.clusterToken, "--cluster-listen", at[2], "--nats", url, "--nats-creds", creds, "--cluster-replicas", "1")
	st.start(st.program, "server", at[3], "--cluster", "other", "--cluster-token-file", st.clusterToken, "--cluster-listen", at[4], "--cluster-store", filepath.Join(t.TempDir(), "nats"))
	for _, n := range st.nodes {
		n.ready()
	}
	for _, mode := range []struct {
		name, page     string
		watch, restore bool
	}{{"no tab", "", false, false}, {"an idle tab", "/idle", false, false}, {"20 changes/s, watched here", "/changing", true, false}, {"the same, to be restored", "/changing", true, true}} {
		var end []func()
		for _, n := range st.nodes {
			end = append(end, n.busyWith(pages, mode.page, mode.watch, mode.restore))
		}
		used := make([][]float64, len(st.nodes))
		for range rounds {
			var before []time.Duration
			for _, n := range st.nodes {
				before = append(before, n.cpu())
			}
			time.Sleep(window) // the measured interval
			for i, n := range st.nodes {
				used[i] = append(used[i], float64(n.cpu()-before[i])/float64(time.Millisecond)/window.Seconds())
			}
		}
		for i, n := range st.nodes {
			slices.Sort(used[i])
			t.Logf("%-28s %-12s %6.2f ms of processor time per second (%.2f to %.2f)", mode.name, n.id, used[i][rounds/2], used[i][0], used[i][rounds-1])
		}
		for _, e := range end {
			e()
		}
	}
}

// busyWith opens a page, if page is not empty, and watches it if watch is set. end closes the tab.
func (n *node) busyWith(pages, page string, watch, restore bool) (end func()) {
	t := n.t
	t.Helper()
	if page == "" {
		return func() {}
	}
	opened, err := n.Tabs.OpenTab(testenv.Within(t, limit), &domtapv1.OpenTabRequest{Url: pages + page, Restore: restore})
	if err != nil {
		t.Fatal(err)
	}
	id := opened.GetTab().GetId()
	if watch {
		stream, err := n.Dom.WatchDom(t.Context(), &domtapv1.WatchDomRequest{TabId: id})
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for err := error(nil); err == nil; { // until the tab is closed
				_, err = stream.Recv()
			}
		}()
	}
	return func() {
		if _, err := n.Tabs.CloseTab(testenv.Within(t, limit), &domtapv1.CloseTabRequest{TabId: id}); err != nil {
			t.Error(err)
		}
	}
}

// TestSizeAndStartOfThePrograms prints the sizes of programs with and without clusters, and the cost of a command that only starts.
func TestSizeAndStartOfThePrograms(t *testing.T) {
	if os.Getenv("DOMTAP_LONG") == "" {
		t.Skip("it starts programs for a while: set DOMTAP_LONG")
	}
	const runs = 101
	dir, used := t.TempDir(), map[string][]time.Duration{}
	paths := map[string][]string{"without": nil, "with": {"-tags", "cluster"}}
	for name, flags := range paths {
		args := append([]string{"build", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(dir, name)}, flags...)
		if text, err := exec.CommandContext(t.Context(), "go", append(args, "github.com/domtap/domtap/cmd/domtap")...).CombinedOutput(); err != nil {
			t.Fatalf("build domtap: %v\n%s", err, text)
		}
	}
	for range runs {
		for name := range paths {
			cmd := exec.CommandContext(t.Context(), filepath.Join(dir, name), "version")
			if err := cmd.Run(); err != nil {
				t.Fatal(err)
			}
			used[name] = append(used[name], cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
		}
	}
	for name := range paths {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(used[name])
		t.Logf("%-8s %.1f MB, domtap version: %.1f ms of processor time (median of %d, least %.1f ms)", name, float64(info.Size())/1e6,
			used[name][runs/2].Seconds()*1e3, runs, used[name][0].Seconds()*1e3)
	}
}
