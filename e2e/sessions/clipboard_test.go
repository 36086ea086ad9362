package sessions

import (
	"net/http"
	"strings"
	"testing"
	"time"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// clipboardTab is a tab with a text to copy and a field to paste into.
type clipboardTab struct {
	t   *testing.T
	d   *testenv.Daemon
	tab string
}

const clipboardPage = `<!doctype html><title>Desk</title><input id=from><textarea id=to></textarea>
<button id=async onclick="navigator.clipboard.writeText(from.value).then(() => document.title = 'copied')">Async</button>
<button id=exec onclick="from.select(); document.title = document.execCommand('copy')">Exec</button>
<script>heard = []; addEventListener('paste', e => heard.push(e.clipboardData.getData('text/plain')))</script>`

func newClipboardTab(t *testing.T, d *testenv.Daemon, session, url, text string) *clipboardTab {
	t.Helper()
	in := d.In(t, session)
	k := &clipboardTab{t, in, in.Open(url)}
	k.eval(`from.value = '` + text + `'`)
	return k
}

func (k *clipboardTab) eval(expression string) string {
	k.t.Helper()
	return ask[string](k.t, k.d, k.d.Session, `Promise.resolve(`+expression+`).then(String, e => e.name)`)
}

// do performs one step and returns its summary.
func (k *clipboardTab) do(step *domtapv1.Step) string {
	k.t.Helper()
	r, err := k.d.Actions.Interact(testenv.Within(k.t, 30*time.Second), &domtapv1.InteractRequest{TabId: k.tab, Steps: []*domtapv1.Step{step}})
	if err != nil {
		k.t.Fatal(err)
	}
	return r.GetResults()[0].GetSummary()
}

func (k *clipboardTab) press(id, keys string) string {
	k.t.Helper()
	return k.do(&domtapv1.Step{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Key: keys, Target: &domtapv1.Target{Selector: "#" + id}}}})
}

func (k *clipboardTab) click(id, button string) string {
	k.t.Helper()
	return k.do(&domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Button: button, Target: &domtapv1.Target{Selector: "#" + id}}}})
}

// copies selects the text and presses keys.
func (k *clipboardTab) copies(keys string) {
	k.t.Helper()
	k.press("from", "ControlOrMeta+a")
	k.press("from", keys)
}

// pastes pastes, and checks the pasted text and the answer.
func (k *clipboardTab) pastes(keys, want, says string) {
	k.t.Helper()
	k.eval(`to.value = '', heard = []`)
	summary := k.press("to", keys)
	if got := k.eval(`to.value + '|' + heard.join('')`); got != want+"|"+want {
		k.t.Errorf("%s in session %s pastes %q, want %q", keys, k.d.Session, got, want)
	}
	if !strings.Contains(summary, says) || says == "" && !strings.HasSuffix(summary, ": ok") {
		k.t.Errorf("%s in session %s says %q, not %q", keys, k.d.Session, summary, says)
	}
}

const (
	emptied = "the clipboard was cleared, because it may have held text from another session"
	ownLast = "the text that this session last copied with keys"
)

// TestEachSessionHasItsOwnClipboard copies in one session in every way, and pastes in another.
func TestEachSessionHasItsOwnClipboard(t *testing.T) {
	url := testenv.Pages(t, map[string]http.HandlerFunc{"/": testenv.HTML(clipboardPage)})
	d := testenv.StartDaemon(t)
	a := newClipboardTab(t, d, "default", url, "first secret")
	a.pastes("Control+v", "", "")
	for _, id := range []string{"async", "exec"} {
		a.click(id, "")
		a.pastes("Control+v", "first secret", "")
	}
	b := newClipboardTab(t, d, "named", url, "of the other")
	b.press("to", "Control+c") // nothing is selected, so the clipboard is unchanged
	b.pastes("Control+v", "", emptied)
	for copy, paste := range map[string]string{"Control+c": "Control+v", "Control+Insert": "Shift+Insert", "Control+x": "Control+Shift+v", "Shift+Delete": "Control+v"} {
		a.eval(`from.value = 'first secret'`)
		a.copies(copy)
		b.pastes(paste, "", emptied)
		a.pastes(paste, "first secret", ownLast)
	}
	a.eval(`from.value = 'first secret'`)
	for _, id := range []string{"async", "exec"} {
		a.click(id, "")
		b.pastes("Control+v", "", emptied)
	}
	a.click("async", "")
	b.eval(`(to.onkeydown = e => e.preventDefault(), 1)`)
	b.pastes("Control+v", "", "the page handled the key itself, but "+emptied)
	b.eval(`(to.onkeydown = null, 1)`)
	b.copies("Control+c")
	a.pastes("Control+v", "first secret", ownLast)
	b.pastes("Control+v", "of the other", ownLast)
	t.Run("what is selected", func(t *testing.T) {
		a.press("from", "Control+a")
		b.eval(`to.value = '', heard = []`)
		b.click("to", "middle")
		if got := b.eval(`to.value + '|' + heard.join('')`); got != "|" {
			t.Errorf("a click with the middle button pastes %q", got)
		}
	})
	t.Run("in a session of the same name", func(t *testing.T) {
		b.copies("Control+c")
		if _, err := d.Sessions.CloseSession(t.Context(), &domtapv1.CloseSessionRequest{SessionId: "named"}); err != nil {
			t.Fatal(err)
		}
		newClipboardTab(t, d, "named", url, "").pastes("Control+v", "", emptied)
	})
}

// TestReadersOfTheClipboardReadTheirOwn grants clipboard-read to a session and copies in others.
func TestReadersOfTheClipboardReadTheirOwn(t *testing.T) {
	url := testenv.Pages(t, map[string]http.HandlerFunc{"/": testenv.HTML(clipboardPage)})
	d := testenv.StartDaemon(t)
	createSession(t, d, &domtapv1.CreateSessionRequest{SessionId: "reader", Settings: &domtapv1.SessionSettings{Permissions: []string{"clipboard-read"}}})
	reader, other := newClipboardTab(t, d, "reader", url, "my own"), newClipboardTab(t, d, "default", url, "secret")
	reads := func(want string) {
		t.Helper()
		if got := reader.eval(`navigator.clipboard.readText()`); got != want {
			t.Errorf("the session reads %q, want %q", got, want)
		}
	}
	reader.click("async", "")
	reads("my own")
	other.click("async", "")
	reads("NotAllowedError")
	reader.click("to", "")
	reads("NotAllowedError")
	late := newClipboardTab(t, d, "late", url, "")
	_, err := d.Sessions.UpdateSession(t.Context(), &domtapv1.UpdateSessionRequest{SessionId: "late", Settings: &domtapv1.SessionSettings{Permissions: []string{"clipboard-read"}}})
	if err != nil {
		t.Fatal(err)
	}
	if got := late.eval(`navigator.clipboard.readText()`); got != "NotAllowedError" {
		t.Errorf("a session that was granted it later reads %q", got)
	}
}
