package browserpool

import (
	"fmt"
	"net"
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/testenv"
)

// tabs returns the number of tabs of a browser.
func tabs(t *testing.T, b *browser.Browser) (n int) {
	t.Helper()
	var got struct {
		Infos []struct {
			Type string `json:"type"`
		} `json:"targetInfos"`
	}
	if err := b.Call(testenv.Within(t, limit), "", "Target.getTargets", struct{}{}, &got); err != nil {
		t.Fatal(err)
	}
	for _, one := range got.Infos {
		if one.Type == "page" {
			n++
		}
	}
	return n
}

// neverPastes acts on a tab and then pastes in a tab of another session. The clipboard of a remote browser must not be cleared.
func (st *stage) neverPastes(first, second string) {
	st.t.Helper()
	press := func(tab, keys string) error {
		_, err := st.Actions.Interact(testenv.Within(st.t, limit), &domtapv1.InteractRequest{TabId: tab, Steps: []*domtapv1.Step{
			{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Key: keys}}}}})
		return err
	}
	if err := press(first, "Control+v"); err != nil {
		st.t.Errorf("alone, pasting fails: %v", err)
	}
	if err := press(second, "Control+c"); err != nil {
		st.t.Errorf("copying fails: %v", err)
	}
	if err := press(second, "Control+v"); testenv.Reason(err) != "NOT_ACTIONABLE" || !strings.Contains(err.Error(), "text from another session") {
		st.t.Errorf("pasting answers %v", err)
	}
}

// TestARemoteBrowserIsAttachedToAgain cuts the connection to a running browser, and then replaces that browser by another one at the same
// address.
func TestARemoteBrowserIsAttachedToAgain(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close() // no other process takes the port before the browser needs it
	end := testenv.StartRemote(t, port).End
	st := &stage{t: t, url: testenv.Pages(t, site()), RestartingDaemon: testenv.StartRestartingDaemon(t, testenv.RestartingConfig{
		Browsers: []browser.Config{{Remote: fmt.Sprintf("http://127.0.0.1:%d", port)}}})}
	first := st.Newest(0)
	before := tabs(t, first)
	hit := st.create("one")
	st.neverPastes(hit.GetId(), st.open("", "/").GetId())
	st.copied("one")
	_, ended := st.watch(hit.GetId())
	first.Kill() // closes only the connection if domtap attached to the browser
	st.lost(<-ended)
	if back := st.open("one", "/"); back.GetTitle() != "one with agent-of-one, theme null" {
		t.Errorf("after a cut the session came back as %q", back.GetTitle())
	}
	again := st.Newest(0)
	if again == first {
		t.Fatal("it is the same connection")
	}
	testenv.Await(t, "the other tabs are closed", func() bool { return tabs(t, again) == before+1 }) // they are closed asynchronously
	end()
	testenv.StartRemote(t, port)
	if back := st.open("one", "/"); back.GetTitle() != "one with agent-of-one, theme null" {
		t.Errorf("in another browser the session came back as %q", back.GetTitle())
	}
	if n := st.session("one").GetRestarts(); n != 2 {
		t.Errorf("%d restarts", n)
	}
}
