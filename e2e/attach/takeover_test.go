//go:build unix

package attach

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/testenv"
)

// page is a page of the person's, with a frame of the same origin and one of another origin.
const page = `<title>%[1]s</title><h1>%[1]s of %[2]s</h1><input aria-label="Note"><button onclick="document.title = 'Pressed'">Press</button>
<a href="/popup" target="_blank">More</a><iframe src="/frame"></iframe><iframe src="%[3]s/elsewhere"></iframe>`

// site serves the pages of the person's tabs. They greet the user that a cookie names.
func (p *person) site() string {
	address := ""
	address = testenv.Pages(p.t, map[string]http.HandlerFunc{
		"/": func(w http.ResponseWriter, r *http.Request) {
			user := "nobody"
			if c, err := r.Cookie("user"); err == nil {
				user = c.Value
			}
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, page, r.URL.Query().Get("name"), user, strings.Replace(address, "127.0.0.1", "localhost", 1))
		},
		"/login": func(w http.ResponseWriter, _ *http.Request) {
			http.SetCookie(w, &http.Cookie{Name: "user", Value: "Ines", MaxAge: 3600, Path: "/"})
			fmt.Fprint(w, "welcome")
		},
		"/frame":     testenv.HTML(`<button>In the frame</button>`),
		"/elsewhere": testenv.HTML(`<button>Elsewhere</button>`),
		"/busy":      testenv.HTML(`<script>fetch("/running", {keepalive: true}).then(() => { for (;;); })</script>`),
		"/running":   func(http.ResponseWriter, *http.Request) { p.requested.Store(true) },
		"/popup":     testenv.HTML(`<title>Popup</title><button>In the popup</button>`),
	})
	return address
}

// person is the user of the browser. Looking at a tab changes nothing in it.
type person struct {
	t *testing.T
	*testenv.OwnBrowser
	eyes *browser.Browser
	// close closes the connection of eyes.
	close func()
	url   string
	// requested is set when the page busy is about to stop answering.
	requested atomic.Bool
}

// start starts a browser whose user is logged in and has the tabs One, Two and Three.
func start(t *testing.T) *person {
	t.Helper()
	p := &person{t: t}
	p.url = p.site()
	p.OwnBrowser = testenv.StartOwnBrowser(t, t.TempDir(), anyPort, "about:blank")
	p.look()
	p.Open(t, p.url+"/login")
	testenv.Await(t, "the login", func() bool { return len(p.tabs()) == 2 && p.see("/login", "document.body?.innerText") == "welcome" })
	for _, name := range []string{"One", "Two", "Three"} {
		p.Open(t, p.url+"/?name="+name)
		testenv.Await(t, name, func() bool { return p.see("="+name, "document.readyState") == "complete" })
	}
	return p
}

// look opens the person's own connection to the browser.
func (p *person) look() {
	p.t.Helper()
	eyes, err := browser.Start(p.t.Context(), browser.Config{Remote: "auto:" + p.Profile})
	if err != nil {
		p.t.Fatal(err)
	}
	p.eyes = eyes
	p.close = sync.OnceFunc(func() { _ = eyes.Close(context.WithoutCancel(p.t.Context())) })
	p.t.Cleanup(p.close)
}

type tab struct {
	ID       string `json:"targetId"`
	Type     string `json:"type"`
	URL      string `json:"url"`
	Attached bool   `json:"attached"`
}

// tabs returns the tabs of the browser.
func (p *person) tabs() (all []tab) {
	p.t.Helper()
	var got struct {
		Infos []tab `json:"targetInfos"`
	}
	p.call("", "Target.getTargets", map[string]any{"filter": []any{map[string]any{"type": "page"}}}, &got)
	return got.Infos
}

func (p *person) call(session, method string, params, result any) {
	p.t.Helper()
	if err := p.eyes.Call(testenv.Within(p.t, testenv.Patience), session, method, params, result); err != nil {
		p.t.Fatalf("%s: %v", method, err)
	}
}

// tab returns the tab whose URL ends with a text.
func (p *person) tab(end string) tab {
	p.t.Helper()
	for _, one := range p.tabs() {
		if strings.HasSuffix(one.URL, end) {
			return one
		}
	}
	return tab{}
}

// see evaluates an expression in the tab whose URL ends with a text, and detaches again. It returns the result as text.
func (p *person) see(end, expression string) string {
	p.t.Helper()
	var attached struct {
		SessionID string `json:"sessionId"`
	}
	one := p.tab(end)
	if one.ID == "" {
		return ""
	}
	p.call("", "Target.attachToTarget", map[string]any{"targetId": one.ID, "flatten": true}, &attached)
	var got struct {
		Result struct {
			Value any `json:"value"`
		} `json:"result"`
	}
	p.call(attached.SessionID, "Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &got)
	p.call("", "Target.detachFromTarget", map[string]any{"sessionId": attached.SessionID}, &struct{}{})
	return fmt.Sprint(got.Result.Value)
}

// daemon is a daemon that is attached to the person's browser.
type daemon struct {
	t *testing.T
	*testenv.RestartingDaemon
}

func (p *person) daemon(t *testing.T) daemon {
	t.Helper()
	return daemon{t, testenv.StartRestartingDaemon(t, testenv.RestartingConfig{Browsers: []browser.Config{{Remote: "auto:" + p.Profile}}})}
}

// takeOver takes over the tab whose URL ends with a text.
func (d daemon) takeOver(end string) (*domtapv1.Tab, error) {
	d.t.Helper()
	list, err := d.Tabs.ListTabs(d.t.Context(), &domtapv1.ListTabsRequest{Others: true})
	if err != nil {
		d.t.Fatal(err)
	}
	for _, o := range list.GetOthers() {
		if strings.HasSuffix(o.GetUrl(), end) {
			answer, err := d.Tabs.OpenTab(d.t.Context(), &domtapv1.OpenTabRequest{TakeOver: o.GetId()})
			return answer.GetTab(), err
		}
	}
	d.t.Fatalf("no tab ends with %s: %s", end, list)
	return nil, nil
}

// looks is an expression for everything that emulation could have left in a page.
const looks = `[innerWidth, innerHeight, devicePixelRatio, navigator.userAgent, navigator.maxTouchPoints, navigator.language,
	document.visibilityState, document.hasFocus(), matchMedia("(prefers-color-scheme: dark)").matches, Intl.DateTimeFormat().resolvedOptions().timeZone].join()`

// interact performs steps in a tab.
func (d daemon) interact(tab *domtapv1.Tab, steps ...*domtapv1.Step) {
	d.t.Helper()
	got, err := d.Actions.Interact(testenv.Within(d.t, testenv.Patience), &domtapv1.InteractRequest{TabId: tab.GetId(), Steps: steps})
	if err != nil {
		d.t.Fatal(err)
	}
	for _, r := range got.GetResults() {
		if !r.GetOk() {
			d.t.Errorf("a step failed: %s", r)
		}
	}
}

// named returns the target of the element with a name.
func named(name string) *domtapv1.Target {
	return &domtapv1.Target{Text: name}
}

func click(name string) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: named(name)}}}
}

func fill(label, text string) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Fill{Fill: &domtapv1.FillStep{Target: &domtapv1.Target{Label: label}, Text: text}}}
}

// TestATabIsTakenOverAndHandedBack takes over one of three tabs of a person who is logged in, and acts on it. Then it hands the tab back,
// takes it over again, and ends the daemon. Nothing may be closed, lost or left, and the other tabs must never be attached to.
func TestATabIsTakenOverAndHandedBack(t *testing.T) {
	t.Parallel()
	p := start(t)
	before, looked := p.tabs(), p.see("=Two", looks)
	t.Run("daemon", func(t *testing.T) {
		d := p.daemon(t)
		two, err := d.takeOver("=Two")
		if err != nil {
			t.Fatal(err)
		}
		if two.GetTitle() != "Two" || !strings.HasSuffix(two.GetUrl(), "=Two") || !two.GetTakenOver() || two.GetStatus() != domtapv1.TabStatus_TAB_STATUS_READY {
			t.Errorf("the tab is %s", two)
		}
		for _, one := range p.tabs() {
			if one.Attached != strings.HasSuffix(one.URL, "=Two") {
				t.Errorf("attached: %+v", one)
			}
		}
		d.interact(two, fill("Note", "for later"), click("In the frame"), click("Elsewhere"), click("Press"))
		d.interact(two, click("More"))
		if len(d.tabs(2)) != 2 {
			t.Error("the popup is no tab")
		}
		if _, err := d.Tabs.CloseTab(t.Context(), &domtapv1.CloseTabRequest{TabId: two.GetId()}); err != nil {
			t.Fatal(err)
		}
		if p.tab("=Two").Attached {
			t.Error("the tab is still attached to")
		}
		if _, err = d.takeOver("=Two"); err != nil {
			t.Errorf("for the second time: %v", err)
		}
	})
	after := p.tabs()
	for _, one := range append(before, p.tab("/popup")) {
		if !slices.Contains(after, one) {
			t.Errorf("lost: %+v", one)
		}
	}
	if len(after) != len(before)+1 {
		t.Errorf("the tabs are now %v", after)
	}
	p.sees("=Two", "[document.querySelector('input').value, document.title, document.querySelector('h1').innerText].join()", "for later,Pressed,Two of Ines")
	p.sees("=Two", looks, looked)
}

// tabs returns the daemon's tabs, once there are so many, and checks that all of them are taken over.
func (d daemon) tabs(n int) (all []*domtapv1.Tab) {
	d.t.Helper()
	testenv.Await(d.t, "the tabs are there", func() bool {
		list, err := d.Tabs.ListTabs(d.t.Context(), &domtapv1.ListTabsRequest{})
		all = list.GetTabs()
		return err == nil && len(all) >= n
	})
	for _, one := range all {
		if !one.GetTakenOver() {
			d.t.Errorf("not taken over: %s", one)
		}
	}
	return all
}

// sees checks the result of an expression in the tab whose URL ends with a text.
func (p *person) sees(end, expression, want string) {
	p.t.Helper()
	if got := p.see(end, expression); got != want {
		p.t.Errorf("in %s, %s is\n%s, want\n%s", end, expression, got, want)
	}
}

// TestATabThatDoesNotAnswerIsNotTakenOver tries to take over a tab whose script never ends, as a tab that the browser has put to sleep, and
// the browser's own pages.
func TestATabThatDoesNotAnswerIsNotTakenOver(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.Open(t, "chrome://version")
	p.Open(t, p.url+"/busy")
	testenv.Await(t, "the busy page", func() bool { return p.tab("/busy").ID != "" && p.requested.Load() })
	d := p.daemon(t)
	if tab, err := d.takeOver("/busy"); testenv.Reason(err) != "PAGE_UNRESPONSIVE" || !strings.Contains(err.Error(), "click on it in the browser") {
		t.Errorf("got %s, %v", tab, err)
	}
	testenv.Await(t, "the tab is detached from", func() bool { return !p.tab("/busy").Attached })
	list, err := d.Tabs.ListTabs(t.Context(), &domtapv1.ListTabsRequest{Others: true})
	if err != nil || len(list.GetOthers()) != 6 || len(list.GetTabs()) != 0 {
		t.Errorf("got %s, %v", list, err)
	}
	if _, err := d.Tabs.OpenTab(t.Context(), &domtapv1.OpenTabRequest{TakeOver: p.tab("version/").ID}); status.Code(err) != codes.NotFound {
		t.Errorf("the browser's own page: %v", err)
	}
}

// TestTheBrowserCrashesWithATabTakenOver ends the browser and starts it again. The daemon attaches again, and opens nothing by itself.
func TestTheBrowserCrashesWithATabTakenOver(t *testing.T) {
	t.Parallel()
	p := start(t)
	d := p.daemon(t)
	if _, err := d.takeOver("=Two"); err != nil {
		t.Fatal(err)
	}
	p.close()
	p.End()
	testenv.Await(t, "the tab ends", func() bool {
		list, err := d.Tabs.ListTabs(t.Context(), &domtapv1.ListTabsRequest{})
		return err == nil && len(list.GetTabs()) == 0
	})
	p.OwnBrowser = testenv.StartOwnBrowser(t, p.Profile, anyPort, p.url+"/?name=Again")
	p.look()
	testenv.Await(t, "the daemon is attached again", func() bool {
		_, err := d.Tabs.ListTabs(t.Context(), &domtapv1.ListTabsRequest{Others: true})
		return err == nil
	})
	again, err := d.takeOver("=Again")
	if err != nil {
		t.Fatal(err)
	}
	d.interact(again, fill("Note", "after the crash"))
	if n := len(p.tabs()); n != 1 {
		t.Errorf("%d tabs: %v", n, p.tabs())
	}
	p.sees("=Again", "document.querySelector('input').value", "after the crash")
}

// TestTwoDaemonsShareABrowser takes over two tabs by two daemons, and one tab by both. When the first daemon ends, the second one continues.
func TestTwoDaemonsShareABrowser(t *testing.T) {
	t.Parallel()
	p := start(t)
	second := p.daemon(t)
	three, err := second.takeOver("=Three")
	if err != nil {
		t.Fatal(err)
	}
	var own *domtapv1.Tab
	t.Run("first", func(t *testing.T) {
		first := p.daemon(t)
		for _, name := range []string{"=One", "=Three"} {
			tab, err := first.takeOver(name)
			if err != nil {
				t.Fatal(err)
			}
			first.interact(tab, fill("Note", "by the first"))
		}
		opened, err := first.Tabs.OpenTab(t.Context(), &domtapv1.OpenTabRequest{Url: p.url + "/?name=Own"})
		if own = opened.GetTab(); err != nil || own.GetTakenOver() {
			t.Errorf("a tab of a daemon: %s, %v", own, err)
		}
	})
	testenv.Await(t, "the daemon's own tab is closed", func() bool { return p.tab("=Own").ID == "" })
	p.sees("=Three", "document.querySelector('input').value", "by the first")
	second.interact(three, fill("Note", "by the second"), click("Press"))
	p.sees("=Three", "document.querySelector('input').value + document.title", "by the secondPressed")
	p.sees("=One", "document.querySelector('input').value", "by the first")
}
