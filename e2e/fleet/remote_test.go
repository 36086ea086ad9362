package fleet

import (
	"fmt"
	"net"
	"testing"

	"github.com/domtap/domtap/browser"
	"github.com/domtap/domtap/internal/harness"
)

// tabs counts the tabs that a browser shows.
func tabs(t *testing.T, b *browser.Browser) (n int) {
	t.Helper()
	var got struct {
		Infos []struct {
			Type string `json:"type"`
		} `json:"targetInfos"`
	}
	if err := b.Call(harness.Within(t, limit), "", "Target.getTargets", struct{}{}, &got); err != nil {
		t.Fatal(err)
	}
	for _, one := range got.Infos {
		if one.Type == "page" {
			n++
		}
	}
	return n
}

// TestARemoteBrowserIsAttachedToAgain cuts the connection to a browser that lives on, and then replaces that by another
// one at the same address.
func TestARemoteBrowserIsAttachedToAgain(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close() // nobody takes it within the moment that the browser needs
	end := harness.StartRemote(t, port).End
	st := &stage{t: t, url: harness.Pages(t, site()), Fleet: harness.StartFleet(t, harness.FleetConfig{
		Browsers: []browser.Config{{Remote: fmt.Sprintf("http://127.0.0.1:%d", port)}}})}
	first := st.Newest(0)
	before := tabs(t, first)
	hit := st.create("one")
	st.open("", "/")
	st.copied("one")
	_, ended := st.watch(hit.GetId())
	first.Kill() // of one that was attached to, it is the connection
	st.lost(<-ended)
	if back := st.open("one", "/"); back.GetTitle() != "one with agent-of-one, theme null" {
		t.Errorf("after a cut the session came back as %q", back.GetTitle())
	}
	again := st.Newest(0)
	if again == first {
		t.Fatal("it is the same connection")
	}
	ctx := harness.Within(t, limit)
	for tabs(t, again) != before+1 { // a tab is closed a moment after it was asked to
		if ctx.Err() != nil {
			t.Fatalf("the browser shows %d tabs, want %d", tabs(t, again), before+1)
		}
	}
	end()
	harness.StartRemote(t, port)
	if back := st.open("one", "/"); back.GetTitle() != "one with agent-of-one, theme null" {
		t.Errorf("in another browser the session came back as %q", back.GetTitle())
	}
	if n := st.session("one").GetRestarts(); n != 2 {
		t.Errorf("%d restarts", n)
	}
}
