package sideeffects

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/domtap/domtap/actor/driver"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// TestWindowsBecomeTabs opens windows in every way that a page can. In a named session, make test uses only the first two ways. The page
// with the loop opens its windows slowly, so that the first one is a tab long before the last one opens.
func TestWindowsBecomeTabs(t *testing.T) {
	url := testenv.Pages(t, map[string]http.HandlerFunc{
		"/ok":       testenv.HTML(testenv.SomeButtons),
		"/window":   bigButton(`window.open("/ok")`),
		"/noopener": bigButton(`window.open("/ok", "_blank", "noopener")`),
		"/link":     testenv.HTML(`<a href="/ok" target=_blank>Open</a>`),
		"/form":     testenv.HTML(`<form action="/ok" target=_blank><button>Open</button></form>`),
		"/other":    bigButton(`window.open("http://localhost" + location.href.match(/:\d+/)[0] + "/ok")`),
		"/written":  bigButton(`window.open("about:blank").document.write("<button>1</button><button>2</button><button>3</button>")`),
		"/mail":     bigButton(`window.open("mailto:a@b.example")`),
		"/loop":     bigButton(fmt.Sprintf(`for (let i = 0; i < %d; i++) { window.open("/ok?" + i, "_blank", i %% 2 ? "noopener" : ""); for (const t = performance.now(); performance.now() - t < 30;); } document.title = "done"`, testenv.Size(12, 40))),
	})
	testenv.InSessions(t, testenv.Shared(t, "site-per-process"), func(t *testing.T, d *testenv.Daemon) { windows(t, d, url) })
	t.Run("in a loop", func(t *testing.T) {
		d := testenv.Shared(t)
		tab := d.Open(url + "/loop")
		r := pressUntilAnswered(t, d, tab, url+"/loop")
		if s := r.GetResults()[0].GetSummary(); r.GetVerdict() != domtapv1.Verdict_VERDICT_NEW_TAB || !strings.Contains(s, "new windows were closed") {
			t.Errorf("the click answered %v: %s", r.GetVerdict(), s)
		}
		list, err := d.Tabs.ListTabs(t.Context(), &domtapv1.ListTabsRequest{})
		if err != nil || len(list.GetTabs()) != 11 {
			t.Errorf("%d tabs are open, %v", len(list.GetTabs()), err)
		}
		stillUsable(t, d, tab, url+"/ok")
	})
}

// windows opens windows in one session.
func windows(t *testing.T, d *testenv.Daemon, url string) {
	paths, tab := []string{"/window", "/noopener", "/link", "/form", "/other", "/written"}, ""
	if d.Session != driver.DefaultSession {
		paths = paths[:testenv.Size(2, len(paths))]
	}
	for _, path := range paths {
		t.Run(path[1:], func(t *testing.T) {
			tab = d.Show(tab, url+path)
			r := pressFirst(t, d, tab)
			id := r.GetNewTabId()
			if id == "" { // the response may omit the ID
				id = newest(t, d).GetId()
			}
			if r.GetVerdict() != domtapv1.Verdict_VERDICT_NEW_TAB {
				t.Errorf("the verdict is %v", r.GetVerdict())
			}
			got := tabOf(t, d, id)
			if got.GetOpenerTabId() != tab || got.GetSessionId() != tabOf(t, d, tab).GetSessionId() {
				t.Errorf("the window is %v", got)
			}
			if got := d.All(id).GetElements(); len(got) != 3 {
				t.Errorf("the window reads %v", got)
			}
			stillUsable(t, d, tab, url+"/ok")
			stillUsable(t, d, id, url+"/ok")
			closeTab(t, d, id)
		})
	}
	t.Run("for another program", func(t *testing.T) {
		tab = d.Show(tab, url+"/mail")
		pressFirst(t, d, tab)
		stillUsable(t, d, tab, url+"/ok")
	})
}

// pressUntilAnswered clicks the first button of a page that opens many windows. The page does not answer in the meantime. On a busy
// machine, that can take longer than the daemon waits for the page. The answer then reports that, and the page is clicked again.
func pressUntilAnswered(t testing.TB, d *testenv.Daemon, tab, url string) *domtapv1.InteractResponse {
	t.Helper()
	for ctx := testenv.Within(t, testenv.Patience); ; {
		r, err := d.Actions.Interact(ctx, testenv.ClickOn(tab, d.FirstControl(tab)))
		silent := testenv.Reason(err) == "PAGE_UNRESPONSIVE" ||
			err == nil && strings.Contains(r.GetResults()[0].GetSummary(), "the page stopped answering")
		if !silent && err != nil {
			t.Fatal(err)
		}
		if !silent {
			return r
		}
		t.Logf("the page was silent while it opened windows: %v %v", r, err)
		closeOthers(t, d, tab)
		d.Show(tab, url)
	}
}

// closeOthers closes all tabs but one.
func closeOthers(t testing.TB, d *testenv.Daemon, tab string) {
	t.Helper()
	list, err := d.Tabs.ListTabs(t.Context(), &domtapv1.ListTabsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range list.GetTabs() {
		if other.GetId() != tab {
			closeTab(t, d, other.GetId())
		}
	}
}

// newest returns the tab that was opened last.
func newest(t testing.TB, d *testenv.Daemon) *domtapv1.Tab {
	t.Helper()
	list, err := d.Tabs.ListTabs(t.Context(), &domtapv1.ListTabsRequest{})
	if err != nil || len(list.GetTabs()) == 0 {
		t.Fatalf("no tabs: %v", err)
	}
	return list.GetTabs()[len(list.GetTabs())-1]
}

// TestNothingOpensBesideThePage lets pages request everything that the browser shows outside of the page: file choosers, printing, other
// programs, devices, passkeys, payment, notifications, full screen. Nothing may open that would block the tab.
func TestNothingOpensBesideThePage(t *testing.T) {
	asks := map[string]string{
		"a file":               `const f = document.createElement("input"); f.type = "file"; f.click()`,
		"a file by API":        `showOpenFilePicker()`,
		"where to save":        `showSaveFilePicker()`,
		"a folder":             `showDirectoryPicker()`,
		"to print":             `print()`,
		"to mail":              `location = "mailto:a@b.example"`,
		"to call":              `location = "tel:+123"`,
		"another program":      `location = "unknown-scheme://x"`,
		"a passkey":            `navigator.credentials.create({ publicKey: { challenge: new Uint8Array(16), rp: { name: "x" }, user: { id: new Uint8Array(8), name: "a", displayName: "a" }, pubKeyCredParams: [{ type: "public-key", alg: -7 }] } })`,
		"a password":           `navigator.credentials.get({ password: true, mediation: "required" })`,
		"a USB device":         `navigator.usb?.requestDevice({ filters: [] })`,
		"a serial port":        `navigator.serial?.requestPort()`,
		"a HID device":         `navigator.hid?.requestDevice({ filters: [] })`,
		"Bluetooth":            `navigator.bluetooth?.requestDevice({ acceptAllDevices: true })`,
		"notifications":        `Notification.requestPermission()`,
		"the place":            `navigator.geolocation.getCurrentPosition(() => {})`,
		"camera":               `navigator.mediaDevices.getUserMedia({ video: true, audio: true })`,
		"the screen to record": `navigator.mediaDevices.getDisplayMedia()`,
		"MIDI":                 `navigator.requestMIDIAccess({ sysex: true })`,
		"the clipboard":        `navigator.clipboard.readText()`,
		"the whole screen":     `document.documentElement.requestFullscreen()`,
		"the pointer":          `document.body.requestPointerLock()`,
		"the keyboard":         `navigator.keyboard?.lock()`,
		"payment":              `new PaymentRequest([{ supportedMethods: "https://x.example/pay" }], { total: { label: "x", amount: { currency: "EUR", value: "1" } } }).show()`,
		"to share":             `navigator.share?.({ text: "x" })`,
		"a protocol":           `navigator.registerProtocolHandler("web+x", location.origin + "/?u=%s")`,
		"storage":              `navigator.storage.persist()`,
		"a contact":            `navigator.contacts?.select(["name"])`,
		"a colour":             `new EyeDropper().open()`,
	}
	handlers := map[string]http.HandlerFunc{"/ok": testenv.HTML(testenv.SomeButtons)}
	for _, js := range asks {
		handlers["/"+pathOf(js)] = bigButton(`try { Promise.resolve(` + "(() => { " + returned(js) + " })()" + `).catch(() => {}) } catch (e) {} document.title = "on"`)
	}
	url := testenv.Pages(t, handlers)
	d := testenv.Shared(t)
	tab := ""
	for what, js := range asks {
		t.Run(what, func(t *testing.T) {
			tab = d.Show(tab, url+"/"+pathOf(js))
			r := pressFirst(t, d, tab)
			if got := tabOf(t, d, tab); got.GetTitle() != "on" || got.GetStatus() != domtapv1.TabStatus_TAB_STATUS_READY {
				t.Errorf("the tab is %v", got)
			}
			if what == "a file" && !strings.Contains(r.GetResults()[0].GetSummary(), "the page opened a file chooser: send an upload step with this ref") {
				t.Errorf("the step says %s", r.GetResults()[0].GetSummary())
			}
			stillUsable(t, d, tab, url+"/ok")
		})
	}
	closeTab(t, d, tab)
}

// TestNothingIsHoveredUnasked shows an element at the initial pointer position of a browser without a window, in a tab and in a window that
// a page opens.
func TestNothingIsHoveredUnasked(t *testing.T) {
	const after = `new Promise(done => { let n = 0; const frame = () => ++n < 10 ? requestAnimationFrame(frame) : done(heard.join()); frame() })`
	url := testenv.Pages(t, map[string]http.HandlerFunc{"/": testenv.HTML(`<title>Quiet</title><style>body { margin: 0 } button { width: 400px; height: 400px }</style>
		<button onclick="window.open('/')">Big</button><script>
		heard = []; for (const type of ["pointerover", "mouseover", "mousemove"]) addEventListener(type, (e) => heard.push(type), true)</script>`)})
	d := testenv.StartDaemon(t)
	opener := d.Open(url)
	if heard := testenv.Evaluate[string](t, d, after); heard != "" {
		t.Errorf("the page of a new tab heard %s", heard)
	}
	popup := pressFirst(t, d, opener).GetNewTabId()
	if popup == "" {
		popup = newest(t, d).GetId()
	}
	r, err := d.Pages.Evaluate(testenv.Within(t, testenv.Patience), &domtapv1.EvaluateRequest{TabId: popup, Expression: after})
	if err != nil || r.GetResultJson() != `""` {
		t.Errorf("the page of a window heard %s, %v", r.GetResultJson(), err)
	}
}

// closeTab closes a tab.
func closeTab(t testing.TB, d *testenv.Daemon, tab string) {
	t.Helper()
	if _, err := d.Tabs.CloseTab(testenv.Within(t, testenv.Patience), &domtapv1.CloseTabRequest{TabId: tab}); err != nil {
		t.Error(err)
	}
}

// pathOf returns a path for a script.
func pathOf(js string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return -1
	}, js)
}

// returned turns the last statement of a script into the return value of a function.
func returned(js string) string {
	i := strings.LastIndex(js, "; ") + 1
	return js[:i] + " return " + js[i:]
}

// TestPagesThatHang runs scripts that do not end. Calls must end with their deadlines, the tab must be usable afterwards, and another tab
// must not be affected. Four scripts that are similar to others run only in make test-long.
func TestPagesThatHang(t *testing.T) {
	t.Parallel()
	hang := `while (true);`
	pages := map[string]http.HandlerFunc{
		"in a click":                bigButton(hang),
		"in a promise":              bigButton(`const again = () => Promise.resolve().then(again); again()`),
		"in a timer":                testenv.HTML(`<title>Start</title><button onclick="setTimeout(() => { ` + hang + ` }, 0)">Go</button>`),
		"while it loads":            testenv.HTML(`<title>Start</title><button>Go</button><script>` + hang + `</script>`),
		"at the load event":         testenv.HTML(`<title>Start</title><button>Go</button><script>onload = () => { ` + hang + ` }</script>`),
		"by writing itself":         testenv.HTML(`<title>Start</title><button>Go</button><script>const f = () => { document.open(); document.write("<button>W</button>"); document.close(); setTimeout(f, 0) }; onload = f</script>`),
		"by a flood of states":      testenv.HTML(`<title>Start</title><button>Go</button><script>let n = 0; setInterval(() => { for (let i = 0; i < 100; i++) history.pushState(n++, "", "?" + n) }, 1)</script>`),
		"by reloading":              testenv.HTML(`<title>Start</title><button>Go</button><script>setTimeout(() => location.reload(), 1)</script>`),
		"by going on":               testenv.HTML(`<title>Start</title><button>Go</button><script>setTimeout(() => { location = "?" + Math.random() }, 1)</script>`),
		"by opening frames":         testenv.HTML(`<title>Start</title><button>Go</button><script>setInterval(() => document.body.append(Object.assign(document.createElement("iframe"), { srcdoc: "<script>while (true);<\/script>" })), 10)</script>`),
		"in a regular expression":   bigButton(`/^(a+)+$/.test("a".repeat(40) + "b")`),
		"when it is left":           testenv.HTML(`<title>Start</title><button>Go</button><script>onpagehide = onunload = () => { ` + hang + ` }</script>`),
		"when it is asked to leave": testenv.HTML(`<title>Start</title><button>Go</button><script>onbeforeunload = () => { ` + hang + ` }</script>`),
	}
	if !testenv.Long() {
		for _, name := range []string{"in a promise", "in a timer", "in a regular expression", "when it is asked to leave", "at the load event", "by going on"} {
			delete(pages, name)
		}
	}
	handlers := map[string]http.HandlerFunc{"/ok": testenv.HTML(testenv.SomeButtons)}
	for name, page := range pages {
		handlers["/"+pathOf(name)] = page
	}
	url := testenv.Pages(t, handlers)
	d := testenv.StartDaemon(t, "site-per-process")
	beside := d.Open(strings.Replace(url, "127.0.0.1", "localhost", 1) + "/ok")
	for name := range pages {
		t.Run(name, func(t *testing.T) {
			blank := d.Open("about:blank")
			_, err := d.Tabs.Navigate(testenv.Within(t, 3*time.Second), &domtapv1.NavigateRequest{TabId: blank, Url: url + "/" + pathOf(name), WaitUntil: domtapv1.WaitUntil_WAIT_UNTIL_COMMIT})
			inTime(t, "Navigate", err)
			if r, err := d.Dom.GetDom(testenv.Within(t, 500*time.Millisecond), &domtapv1.GetDomRequest{TabId: blank}); err != nil {
				inTime(t, "GetDom", err)
			} else if len(r.GetElements()) > 0 {
				_, err = d.Actions.Interact(testenv.Within(t, 500*time.Millisecond), testenv.ClickOn(blank, r.GetElements()[0].GetRef()))
				inTime(t, "Interact", err)
			}
			_, err = d.Pages.Screenshot(testenv.Within(t, 500*time.Millisecond), &domtapv1.ScreenshotRequest{TabId: blank})
			inTime(t, "Screenshot", err)
			if n := len(d.All(beside).GetElements()); n != 3 {
				t.Errorf("the tab beside has %d elements", n)
			}
			stillUsable(t, d, blank, url+"/ok")
			closeTab(t, d, blank)
		})
	}
}

// inTime fails the test for an error that a caller cannot handle.
func inTime(t *testing.T, what string, err error) {
	t.Helper()
	switch status.Code(err) {
	case codes.OK:
	case codes.DeadlineExceeded, codes.Aborted, codes.FailedPrecondition, codes.InvalidArgument:
		t.Logf("%s answered with %v: %s", what, status.Code(err), testenv.Reason(err))
	default:
		t.Errorf("%s answered with %v", what, err)
	}
}
