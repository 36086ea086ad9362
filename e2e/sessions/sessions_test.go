package sessions

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/sessions"
	"github.com/domtap/domtap/internal/testenv"
)

// createSession creates a session.
func createSession(t testing.TB, d *testenv.Daemon, r *domtapv1.CreateSessionRequest) *domtapv1.Session {
	t.Helper()
	made, err := d.Sessions.CreateSession(testenv.Within(t, testenv.Patience), r)
	if err != nil {
		t.Fatal(err)
	}
	return made.GetSession()
}

// openIn opens a tab in a session.
func openIn(t testing.TB, d *testenv.Daemon, session, url string) *domtapv1.Tab {
	t.Helper()
	opened, err := d.Tabs.OpenTab(testenv.Within(t, testenv.Patience), &domtapv1.OpenTabRequest{SessionId: session, Url: url})
	if err != nil {
		t.Fatal(err)
	}
	return opened.GetTab()
}

// ask evaluates an expression in the tab that was opened last in a session, and awaits its promise.
func ask[T any](t testing.TB, d *testenv.Daemon, session, expression string) T {
	t.Helper()
	return askPage[T](t, d.Browser.Page(session), expression)
}

// askPage evaluates an expression in one page.
func askPage[T any](t testing.TB, page *browser.Page, expression string) T {
	t.Helper()
	var out struct {
		Result struct {
			Value T `json:"value"`
		} `json:"result"`
		Exception any `json:"exceptionDetails"`
	}
	err := page.Call(testenv.Within(t, testenv.Patience), "Runtime.evaluate",
		map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &out)
	if err != nil || out.Exception != nil {
		t.Fatalf("%s: %v %v", expression, err, out.Exception)
	}
	return out.Result.Value
}

// store writes to every kind of storage. stored returns the contents.
const (
	store = `(async () => {
		document.cookie = 'who=first; max-age=3600'
		localStorage.who = 'first'
		await new Promise((done, fail) => {
			const r = indexedDB.open('db'); r.onsuccess = done; r.onerror = fail
			r.onupgradeneeded = () => r.result.createObjectStore('who')
		})
		await (await caches.open('box')).put('/who', new Response('first'))
		await navigator.serviceWorker.register('/worker.js')
		await navigator.serviceWorker.ready
	})()`
	stored = `(async () => JSON.stringify([document.cookie, localStorage.length, (await indexedDB.databases()).length,
		(await caches.keys()).length, (await navigator.serviceWorker.getRegistrations()).length]))()`
)

// TestSessionsShareNothing writes to every kind of storage of one session, and checks the storage of others.
func TestSessionsShareNothing(t *testing.T) {
	var mu sync.Mutex
	asked := 0
	url := testenv.Pages(t, map[string]http.HandlerFunc{
		"/": testenv.HTML(`<title>Home</title><button>Here</button>`),
		"/worker.js": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = io.WriteString(w, `self.addEventListener('fetch', () => {})`)
		},
		"/cached": func(w http.ResponseWriter, _ *http.Request) {
			mu.Lock()
			asked++
			mu.Unlock()
			w.Header().Set("Cache-Control", "max-age=3600")
		},
	})
	d := testenv.Shared(t)
	createSession(t, d, &domtapv1.CreateSessionRequest{SessionId: "first"})
	createSession(t, d, &domtapv1.CreateSessionRequest{SessionId: "second"})
	for _, session := range []string{"first", "second", "default"} {
		if tab := openIn(t, d, session, url); tab.GetSessionId() != session {
			t.Errorf("the tab is in session %q", tab.GetSessionId())
		}
		if session == "first" {
			ask[any](t, d, session, store)
		}
		// A second request is served from the cache, but not in another session.
		ask[any](t, d, session, `fetch('/cached').then(() => fetch('/cached')).then(() => 1)`)
	}
	for session, want := range map[string]string{"first": `["who=first",1,1,1,1]`, "second": `["",0,0,0,0]`, "default": `["",0,0,0,0]`} {
		if got := ask[string](t, d, session, stored); got != want {
			t.Errorf("session %s has stored %s, want %s", session, got, want)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if asked != 3 {
		t.Errorf("the server was asked %d times for what three sessions cache, want 3", asked)
	}
}

// TestTabsAreListedBySession lists and follows the tabs of one session.
func TestTabsAreListedBySession(t *testing.T) {
	d := testenv.Shared(t)
	createSession(t, d, &domtapv1.CreateSessionRequest{SessionId: "work"})
	watch, err := d.Tabs.WatchTabs(testenv.Within(t, testenv.Patience), &domtapv1.WatchTabsRequest{SessionId: "work"})
	if err != nil {
		t.Fatal(err)
	}
	openIn(t, d, "", "about:blank")
	mine := openIn(t, d, "work", "about:blank")
	event, err := watch.Recv()
	if err != nil || event.GetOpened() == nil || event.GetTab().GetId() != mine.GetId() {
		t.Errorf("the first event is %v, %v", event, err)
	}
	list, err := d.Tabs.ListTabs(t.Context(), &domtapv1.ListTabsRequest{SessionId: "work"})
	if err != nil || len(list.GetTabs()) != 1 || list.GetTabs()[0].GetId() != mine.GetId() {
		t.Errorf("listed %v, %v", list, err)
	}
	if _, err := d.Sessions.CloseSession(t.Context(), &domtapv1.CloseSessionRequest{SessionId: "work"}); err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = watch.Recv()
	}
	if status.Code(err) != codes.NotFound {
		t.Errorf("the watch ended with %v", err)
	}
	_, err = d.Tabs.GetTab(t.Context(), &domtapv1.GetTabRequest{TabId: mine.GetId()})
	if status.Code(err) != codes.NotFound {
		t.Errorf("the tab: %v", err)
	}
}

// login is a site that recognizes its cookie, and records what its first script finds in local storage.
func login() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"/login": func(w http.ResponseWriter, r *http.Request) {
			http.SetCookie(w, &http.Cookie{Name: "id", Value: "42", HttpOnly: true, Path: "/", MaxAge: 3600, SameSite: http.SameSiteLaxMode})
			testenv.HTML(`<title>In</title><script>localStorage.setItem('theme', 'dark ☾ "quoted"'); localStorage.setItem('visits', '1')</script>`)(w, r)
		},
		"/": func(w http.ResponseWriter, r *http.Request) {
			who := "stranger"
			if c, err := r.Cookie("id"); err == nil {
				who = "user " + c.Value
			}
			testenv.HTML(`<title>`+who+`</title><script>self.found = localStorage.getItem('theme'); localStorage.setItem('theme', 'light')</script>`)(w, r)
		},
	}
}

// TestAStorageStateLogsAnotherSessionIn saves a session and loads it into others.
func TestAStorageStateLogsAnotherSessionIn(t *testing.T) {
	url := testenv.Pages(t, login())
	d := testenv.Shared(t)
	ctx := testenv.Within(t, testenv.Patience)
	createSession(t, d, &domtapv1.CreateSessionRequest{SessionId: "one"})
	tab := openIn(t, d, "one", url+"/login")
	if _, err := d.Tabs.CloseTab(ctx, &domtapv1.CloseTabRequest{TabId: tab.GetId()}); err != nil { // the storage is also read without a tab
		t.Fatal(err)
	}
	saved, err := d.Sessions.GetStorageState(ctx, &domtapv1.GetStorageStateRequest{SessionId: "one"})
	if err != nil {
		t.Fatal(err)
	}
	state := saved.GetState()
	if len(state.GetCookies()) != 1 || !state.GetCookies()[0].GetHttpOnly() || state.GetCookies()[0].GetSameSite() != "Lax" || state.GetCookies()[0].GetDomain() != "127.0.0.1" {
		t.Errorf("cookies %v", state.GetCookies())
	}
	if len(state.GetOrigins()) != 1 || state.GetOrigins()[0].GetOrigin() != url || len(state.GetOrigins()[0].GetLocalStorage()) != 2 {
		t.Fatalf("origins %v", state.GetOrigins())
	}
	createSession(t, d, &domtapv1.CreateSessionRequest{SessionId: "two", StorageState: state})
	createSession(t, d, &domtapv1.CreateSessionRequest{SessionId: "three"})
	for session, want := range map[string][2]string{"two": {"user 42", `dark ☾ "quoted"`}, "three": {"stranger", ""}} {
		tab := openIn(t, d, session, url)
		if found := ask[string](t, d, session, "self.found ?? ''"); tab.GetTitle() != want[0] || found != want[1] {
			t.Errorf("session %s is %q and its first script found %q, want %q", session, tab.GetTitle(), found, want)
		}
	}
	again, err := d.Sessions.GetStorageState(ctx, &domtapv1.GetStorageStateRequest{SessionId: "two"})
	if err != nil || !proto.Equal(again.GetState().GetCookies()[0], state.GetCookies()[0]) {
		t.Errorf("the cookie came back as %v, %v", again.GetState().GetCookies(), err)
	}
	// Data that the page wrote later is not overwritten when its next document loads.
	if tab := openIn(t, d, "two", url); tab.GetTitle() != "user 42" || ask[string](t, d, "two", "self.found") != "light" {
		t.Errorf("the state was loaded again")
	}
	// Replacing removes the earlier data, also for the open page.
	if _, err := d.Sessions.SetStorageState(ctx, &domtapv1.SetStorageStateRequest{SessionId: "two", Replace: true}); err != nil {
		t.Fatal(err)
	}
	if left := ask[int](t, d, "two", "localStorage.length"); left != 0 {
		t.Errorf("%d entries are left", left)
	}
	if tab := openIn(t, d, "two", url); tab.GetTitle() != "stranger" {
		t.Errorf("after a replacement by nothing, the session is %q", tab.GetTitle())
	}
}

// TestABadStateSaysWhatIsWrong loads states that no browser accepts.
func TestABadStateSaysWhatIsWrong(t *testing.T) {
	d := testenv.Shared(t)
	for name, c := range map[string]*domtapv1.Cookie{
		"prefix": {Name: "__Host-a", Value: "b", Domain: "example.com", Path: "/"},
		"none":   {Name: "a", Value: "b", Domain: "example.com", SameSite: "None"},
		"domain": {Name: "a", Value: "b", Domain: "http://example.com"},
	} {
		_, err := d.Sessions.CreateSession(t.Context(), &domtapv1.CreateSessionRequest{SessionId: name, StorageState: &domtapv1.StorageState{Cookies: []*domtapv1.Cookie{c}}})
		if status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), "domain") && !strings.Contains(err.Error(), "secure") {
			t.Errorf("%s: %v", name, err)
		}
	}
	list, err := d.Sessions.ListSessions(t.Context(), &domtapv1.ListSessionsRequest{})
	if err != nil || len(list.GetSessions()) != 1 {
		t.Errorf("sessions are left: %v, %v", list, err)
	}
}

// seen is the report of a page or worker.
type seen struct {
	UserAgent, Platform, Locale, Timezone, HintPlatform, Model string
	Languages, Brands                                          []string
	Offset, Touch, Width, Height, Screen                       int
	Online, Coarse, Dark, Reduced, Mobile                      bool
	Scale                                                      float64
	header                                                     http.Header
}

// mirror is a site whose pages report what they observe.
type mirror struct {
	url     string
	mu      sync.Mutex
	reports map[string]seen
	headers map[string]http.Header
	came    chan struct{}
}

//go:embed pages/facts.js
var facts string

func newMirror(t *testing.T) *mirror {
	m := &mirror{reports: map[string]seen{}, headers: map[string]http.Header{}, came: make(chan struct{}, 100)}
	page := func(title, more string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			m.mu.Lock()
			m.headers[title] = r.Header
			m.mu.Unlock()
			testenv.HTML(`<!doctype html><meta name=viewport content="width=device-width"><title>`+title+`</title>
				<script src="/facts.js"></script><script>report('`+title+`')</script>`+more)(w, r)
		}
	}
	script := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = io.WriteString(w, text)
		}
	}
	m.url = testenv.Pages(t, map[string]http.HandlerFunc{
		"/report/": func(w http.ResponseWriter, r *http.Request) {
			var s seen
			if err := json.NewDecoder(r.Body).Decode(&s); err != nil {
				t.Errorf("a report: %v", err)
			}
			s.header = r.Header
			m.mu.Lock()
			m.reports[path.Base(r.URL.Path)] = s
			m.mu.Unlock()
			m.came <- struct{}{}
		},
		"/facts.js":   script(facts),
		"/":           page("page", `<button id=open>Open</button>`),
		"/popup":      page("popup", ""),
		"/frame":      page("frame", ""),
		"/frames":     page("frames", `<script>document.write('<iframe src="' + location.origin.replace('127.0.0.1', 'localhost') + '/frame"></iframe>')</script>`),
		"/workers":    page("workers", `<script>new Worker('/worker.js'); navigator.serviceWorker.register('/service.js')</script>`),
		"/worker.js":  script(`importScripts('/facts.js'); report('worker')`),
		"/service.js": script(`importScripts('/facts.js'); report('service')`),
	})
	return m
}

// expect waits for a report of the page or worker with a name.
func (m *mirror) expect(t *testing.T, name string) seen {
	t.Helper()
	ctx := testenv.Within(t, testenv.Patience)
	for {
		m.mu.Lock()
		s, ok := m.reports[name]
		delete(m.reports, name)
		m.mu.Unlock()
		if ok {
			return s
		}
		select {
		case <-m.came:
		case <-ctx.Done():
			t.Fatalf("%s has not reported", name)
		}
	}
}

// requested returns the header of a page's last request.
func (m *mirror) requested(who string) http.Header {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.headers[who]
}

// german returns an emulation with almost all settings.
func german() *domtapv1.Emulation {
	return &domtapv1.Emulation{
		Device: "Pixel 8", Locale: "de-CH", TimezoneId: "Asia/Tokyo", ColorScheme: domtapv1.ColorScheme_COLOR_SCHEME_DARK, ReducedMotion: true,
		Geolocation:  &domtapv1.Geolocation{Latitude: 47.4, Longitude: 8.5, Accuracy: 20},
		ExtraHeaders: []*domtapv1.Header{{Name: "X-Team", Value: "blue"}},
	}
}

// isGerman compares a report with german, as far as a document or a worker can observe it.
func isGerman(t *testing.T, who string, s seen) {
	t.Helper()
	got := fmt.Sprint(s.Locale, s.Timezone, s.Offset, s.Languages, s.header.Get("X-Team"), s.header.Get("Accept-Language"))
	if want := fmt.Sprint("de-CH", "Asia/Tokyo", -540, []string{"de-CH", "de"}, "blue", "de-CH,de;q=0.9"); got != want {
		t.Errorf("%s saw %s, want %s", who, got, want)
	}
}

// TestPagesSeeTheDeviceThatTheSessionHas checks every setting in a page, its popup, a frame in another process and workers, and in the
// headers of their requests.
func TestPagesSeeTheDeviceThatTheSessionHas(t *testing.T) {
	m := newMirror(t)
	d := testenv.Shared(t)
	createSession(t, d, &domtapv1.CreateSessionRequest{SessionId: "phone", Settings: &domtapv1.SessionSettings{Emulation: german()}})
	tab := openIn(t, d, "phone", m.url)
	page := m.expect(t, "page")
	isGerman(t, "page", page)
	isPixel(t, "page", page)
	header := m.requested("page")
	for name, want := range map[string]string{"Sec-Ch-Ua-Mobile": "?1", "Sec-Ch-Ua-Platform": `"Android"`, "X-Team": "blue", "User-Agent": page.UserAgent} {
		if header.Get(name) != want {
			t.Errorf("the header %s is %q, want %q", name, header.Get(name), want)
		}
	}
	where := ask[string](t, d, "phone", `new Promise(r => navigator.geolocation.getCurrentPosition(p => r([p.coords.latitude, p.coords.longitude, p.coords.accuracy].join()), e => r(e.message)))`)
	if where != "47.4,8.5,20" {
		t.Errorf("the page is at %s", where)
	}
	t.Run("popup", func(t *testing.T) {
		ask[any](t, d, "phone", `void open('/popup')`)
		popup := m.expect(t, "popup")
		isGerman(t, "popup", popup)
		isPixel(t, "popup", popup)
		if team := m.requested("popup").Get("X-Team"); team != "blue" {
			t.Errorf("the first request of the popup was made without the header: %q", team)
		}
		list, err := d.Tabs.ListTabs(t.Context(), &domtapv1.ListTabsRequest{SessionId: "phone"})
		if err != nil || len(list.GetTabs()) != 2 || list.GetTabs()[1].GetOpenerTabId() != tab.GetId() {
			t.Errorf("the session's tabs are %v, %v", list.GetTabs(), err)
		}
		// State that exists once per process must remain after the opener is closed.
		if _, err := d.Tabs.CloseTab(t.Context(), &domtapv1.CloseTabRequest{TabId: tab.GetId()}); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Tabs.Reload(t.Context(), &domtapv1.ReloadRequest{TabId: list.GetTabs()[1].GetId()}); err != nil {
			t.Fatal(err)
		}
		isGerman(t, "popup alone", m.expect(t, "popup"))
	})
	t.Run("frame", func(t *testing.T) {
		openIn(t, d, "phone", m.url+"/frames")
		frame := m.expect(t, "frame")
		isGerman(t, "frame", frame)
		if !frame.Dark || !frame.Reduced || !strings.Contains(frame.UserAgent, "Pixel 8") || frame.Touch != 5 {
			t.Errorf("the frame saw %+v", frame)
		}
		if team := m.requested("frame").Get("X-Team"); team != "blue" {
			t.Errorf("the frame was asked for without the header: %q", team)
		}
	})
	t.Run("workers", func(t *testing.T) {
		openIn(t, d, "phone", m.url+"/workers")
		isGerman(t, "worker", m.expect(t, "worker"))
		isGerman(t, "service", m.expect(t, "service"))
	})
}

func isPixel(t *testing.T, who string, s seen) {
	t.Helper()
	got := fmt.Sprint(s.Width, s.Height, s.Screen, s.Scale, s.Touch, s.Coarse, s.Dark, s.Reduced, s.Mobile, s.Platform, s.HintPlatform, s.Model)
	if want := fmt.Sprint(412, 915, 412, 2.625, 5, true, true, true, true, "Linux armv81", "Android", "Pixel 8"); got != want {
		t.Errorf("%s saw %s, want %s", who, got, want)
	}
	if !strings.Contains(s.UserAgent, "Android 14; Pixel 8") || !slices.Contains(s.Brands, "Google Chrome") {
		t.Errorf("%s saw the browser %s, %v", who, s.UserAgent, s.Brands)
	}
}

// TestSettingsChangeUnderOpenTabs changes a session while a tab is open, and reverts everything.
func TestSettingsChangeUnderOpenTabs(t *testing.T) {
	m := newMirror(t)
	testenv.InSessions(t, testenv.Shared(t), func(t *testing.T, d *testenv.Daemon) { settingsChange(t, d, m) })
}

// settingsChange changes one session.
func settingsChange(t *testing.T, d *testenv.Daemon, m *mirror) {
	ctx := testenv.Within(t, testenv.Patience)
	tab := openIn(t, d, "", m.url)
	plain := m.expect(t, "page")
	change := func(e *domtapv1.Emulation) seen {
		t.Helper()
		if _, err := d.Sessions.UpdateSession(ctx, &domtapv1.UpdateSessionRequest{Settings: &domtapv1.SessionSettings{Emulation: e}}); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Tabs.Reload(ctx, &domtapv1.ReloadRequest{TabId: tab.GetId()}); err != nil {
			t.Fatal(err)
		}
		return m.expect(t, "page")
	}
	phone := change(german())
	isGerman(t, "page", phone)
	isPixel(t, "page", phone)
	french := change(&domtapv1.Emulation{Locale: "fr-FR", TimezoneId: "Europe/Paris", ColorScheme: domtapv1.ColorScheme_COLOR_SCHEME_LIGHT,
		Viewport: &domtapv1.Viewport{Width: 640, Height: 480}, UserAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"})
	got := fmt.Sprint(french.Locale, french.Timezone, french.Width, french.Height, french.Dark, french.Mobile, french.Touch, french.Brands, french.header.Get("X-Team"), french.header.Get("User-Agent"), french.header.Get("Sec-Ch-Ua"))
	if want := fmt.Sprint("fr-FR", "Europe/Paris", 640, 480, false, false, 0, []string{}, "", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", ""); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	back := change(nil)
	back.header, plain.header = nil, nil
	if fmt.Sprint(back) != fmt.Sprint(plain) {
		t.Errorf("after all settings were taken back the page saw\n%+v, before them\n%+v", back, plain)
	}
}

// TestOfflineMeansNothingIsReached takes a session offline and back online.
func TestOfflineMeansNothingIsReached(t *testing.T) {
	url := testenv.Pages(t, map[string]http.HandlerFunc{"/": testenv.HTML(`<title>Up</title>`)})
	testenv.InSessions(t, testenv.Shared(t), func(t *testing.T, d *testenv.Daemon) { offline(t, d, url) })
}

// offline takes one session offline and back online.
func offline(t *testing.T, d *testenv.Daemon, url string) {
	ctx := testenv.Within(t, testenv.Patience)
	openIn(t, d, "", url)
	page := d.Browser.Newest()
	set := func(off bool) {
		t.Helper()
		_, err := d.Sessions.UpdateSession(ctx, &domtapv1.UpdateSessionRequest{Settings: &domtapv1.SessionSettings{Emulation: &domtapv1.Emulation{Offline: off}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	const look = `fetch('/?' + Math.random()).then(() => 'up ' + navigator.onLine, () => 'down ' + navigator.onLine)`
	for _, step := range []struct {
		off  bool
		want string
	}{{true, "down false"}, {false, "up true"}} {
		set(step.off)
		if got := askPage[string](t, page, look); got != step.want {
			t.Errorf("offline %v: %s", step.off, got)
		}
		_, err := d.Tabs.OpenTab(ctx, &domtapv1.OpenTabRequest{Url: url})
		if (err != nil) != step.off {
			t.Errorf("offline %v: opening a tab: %v", step.off, err)
		}
	}
}

// TestHTTPCredentials opens a page that requires a password.
func TestHTTPCredentials(t *testing.T) {
	var mu sync.Mutex
	asked := 0
	url := testenv.Pages(t, map[string]http.HandlerFunc{
		"/": func(w http.ResponseWriter, r *http.Request) {
			user, password, _ := r.BasicAuth()
			mu.Lock()
			asked++
			mu.Unlock()
			if user != "ada" || password != "lovelace" {
				w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			testenv.HTML(`<title>Welcome</title><img src=/img>`)(w, r)
		},
		"/open": testenv.HTML(`<title>Open</title>`),
	})
	d := testenv.Shared(t)
	for name, c := range map[string]struct {
		credentials *domtapv1.HttpCredentials
		in          bool
	}{
		"none":   {nil, false},
		"right":  {&domtapv1.HttpCredentials{Username: "ada", Password: "lovelace"}, true},
		"origin": {&domtapv1.HttpCredentials{Username: "ada", Password: "lovelace", Origin: url}, true},
		"wrong":  {&domtapv1.HttpCredentials{Username: "ada", Password: "byron"}, false},
		"other":  {&domtapv1.HttpCredentials{Username: "ada", Password: "lovelace", Origin: "https://example.com"}, false},
	} {
		made := createSession(t, d, &domtapv1.CreateSessionRequest{SessionId: name, Settings: &domtapv1.SessionSettings{HttpCredentials: c.credentials}})
		if made.GetSettings().GetHttpCredentials().GetPassword() != "" {
			t.Errorf("%s: the password is told", name)
		}
		mu.Lock()
		asked = 0
		mu.Unlock()
		opened, err := d.Tabs.OpenTab(testenv.Within(t, testenv.Patience), &domtapv1.OpenTabRequest{SessionId: name, Url: url})
		if in := err == nil && opened.GetTab().GetTitle() == "Welcome"; in != c.in {
			t.Errorf("%s: %v, %v", name, opened.GetTab(), err)
		}
		mu.Lock()
		if asked > 4 {
			t.Errorf("%s: the server was asked %d times", name, asked)
		}
		mu.Unlock()
		if tab := openIn(t, d, name, url+"/open"); tab.GetTitle() != "Open" {
			t.Errorf("%s: another page is %q", name, tab.GetTitle())
		}
	}
}

// TestNoPromptIsEverOpen requests permissions, both granted and others.
func TestNoPromptIsEverOpen(t *testing.T) {
	url := testenv.Pages(t, map[string]http.HandlerFunc{"/": testenv.HTML(`<title>Asks</title>`)})
	d := testenv.StartDaemon(t)
	createSession(t, d, &domtapv1.CreateSessionRequest{SessionId: "granted", Settings: &domtapv1.SessionSettings{Permissions: []string{"notifications", "clipboard-read"}}})
	const query = `Promise.all(['geolocation', 'notifications', 'camera', 'clipboard-read', 'midi'].map(name => navigator.permissions.query({name}).then(p => p.state))).then(s => s.join())`
	const unasked = `Promise.all(['accelerometer', 'background-fetch', 'background-sync', 'clipboard-write', 'gyroscope', 'magnetometer', 'payment-handler', 'pointer-lock',
		'screen-wake-lock'].map(name => navigator.permissions.query({name}).then(p => p.state))).then(s => [...new Set(s)].join())`
	for session, want := range map[string]string{"default": "denied,denied,denied,denied,denied", "granted": "denied,granted,denied,granted,denied"} {
		openIn(t, d, session, url)
		if got := ask[string](t, d, session, query); got != want {
			t.Errorf("session %s: %s, want %s", session, got, want)
		}
		if got := ask[string](t, d, session, unasked); got != "granted" {
			t.Errorf("session %s: what Chromium grants unasked is %s", session, got)
		}
		for _, request := range []string{
			`new Promise(r => navigator.geolocation.getCurrentPosition(() => r('given'), e => r('code ' + e.code)))`,
			`navigator.mediaDevices.getUserMedia({video: true}).then(() => 'given', e => 'code 1')`,
		} {
			if got := ask[string](t, d, session, request); got != "code 1" {
				t.Errorf("session %s: %s answered %s", session, request, got)
			}
		}
	}
	_, err := d.Sessions.UpdateSession(t.Context(), &domtapv1.UpdateSessionRequest{SessionId: "granted", Settings: &domtapv1.SessionSettings{Permissions: []string{"midi"}}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := ask[string](t, d, "granted", query), "denied,denied,denied,denied,granted"; got != want {
		t.Errorf("after a change: %s, want %s", got, want)
	}
}

// TestSessionWithHangingPagesIsClosed closes a session whose tabs hang, load, or have an open dialog.
func TestSessionWithHangingPagesIsClosed(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	url := testenv.Pages(t, map[string]http.HandlerFunc{
		"/": testenv.HTML(`<title>Fine</title><button>Fine</button>`),
		"/slow": func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-release:
			case <-r.Context().Done():
			}
		},
	})
	d := testenv.Shared(t)
	createSession(t, d, &domtapv1.CreateSessionRequest{SessionId: "busy"})
	tab := openIn(t, d, "busy", url)
	d.Browser.Page("busy").Post("Runtime.evaluate", map[string]any{"expression": "for (;;) {}"})
	openIn(t, d, "busy", url)
	d.Browser.Page("busy").Post("Runtime.evaluate", map[string]any{"expression": "alert('wait')"})
	loading := make(chan error, 1)
	go func() {
		_, err := d.Tabs.OpenTab(t.Context(), &domtapv1.OpenTabRequest{SessionId: "busy", Url: url + "/slow"})
		loading <- err
	}()
	reading := make(chan error, 1)
	go func() {
		_, err := d.Dom.GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tab.GetId()})
		reading <- err
	}()
	if _, err := d.Sessions.CloseSession(testenv.Within(t, testenv.Patience), &domtapv1.CloseSessionRequest{SessionId: "busy"}); err != nil {
		t.Fatal(err)
	}
	for what, ch := range map[string]chan error{"opening": loading, "reading": reading} {
		if err := <-ch; err != nil && !strings.Contains(err.Error(), "busy") && status.Code(err) != codes.NotFound {
			t.Errorf("%s ended with %v", what, err)
		}
	}
	list, err := d.Tabs.ListTabs(t.Context(), &domtapv1.ListTabsRequest{})
	if err != nil || len(list.GetTabs()) != 0 {
		t.Errorf("tabs are left: %v, %v", list.GetTabs(), err)
	}
	// The name is available again, and the new session has no data of the old one.
	createSession(t, d, &domtapv1.CreateSessionRequest{SessionId: "busy"})
	openIn(t, d, "busy", url)
}

// TestASessionSurvivesACrash kills the renderer of a tab. The restored tab must have its cookies and settings.
func TestASessionSurvivesACrash(t *testing.T) {
	m := newMirror(t)
	d := testenv.Shared(t)
	createSession(t, d, &domtapv1.CreateSessionRequest{SessionId: "phone", Settings: &domtapv1.SessionSettings{Emulation: german()}})
	tab := openIn(t, d, "phone", m.url)
	m.expect(t, "page")
	ask[any](t, d, "phone", `document.cookie = 'kept=yes', localStorage.kept = 'yes', 1`)
	d.Browser.Page("phone").Post("Page.crash", struct{}{})
	ctx := testenv.Within(t, testenv.Patience)
	testenv.Await(t, "the tab has crashed", func() bool {
		got, err := d.Tabs.GetTab(ctx, &domtapv1.GetTabRequest{TabId: tab.GetId()})
		if err != nil {
			t.Fatal(err)
		}
		return got.GetTab().GetStatus() == domtapv1.TabStatus_TAB_STATUS_CRASHED
	})
	if _, err := d.Tabs.Reload(ctx, &domtapv1.ReloadRequest{TabId: tab.GetId()}); err != nil {
		t.Fatal(err)
	}
	page := m.expect(t, "page")
	isGerman(t, "page", page)
	isPixel(t, "page", page)
	if got := ask[string](t, d, "phone", `document.cookie + ' ' + localStorage.kept`); got != "kept=yes yes" {
		t.Errorf("stored: %s", got)
	}
}

// TestSessionsLeaveNothingBehind opens and closes many sessions.
func TestSessionsLeaveNothingBehind(t *testing.T) {
	url := testenv.Pages(t, map[string]http.HandlerFunc{"/": testenv.HTML(`<title>Short</title><script>localStorage.x = 1</script><button>Go</button>`)})
	d := testenv.StartDaemon(t)
	openIn(t, d, "", url)
	round := func(n int) {
		for range n {
			id := createSession(t, d, &domtapv1.CreateSessionRequest{}).GetId()
			openIn(t, d, id, url)
			if _, err := d.Sessions.CloseSession(t.Context(), &domtapv1.CloseSessionRequest{SessionId: id}); err != nil {
				t.Fatal(err)
			}
		}
	}
	renderers := func() int {
		n := 0
		for _, line := range testenv.Processes(d.Browser.State) {
			if strings.Contains(line, "--type=renderer") {
				n++
			}
		}
		return n
	}
	before := renderers()
	round(20)
	testenv.Await(t, "no more renderers than before", func() bool { return renderers() <= before }) // the processes end shortly after their last page
	list, err := d.Sessions.ListSessions(t.Context(), &domtapv1.ListSessionsRequest{})
	if err != nil || len(list.GetSessions()) != 1 || list.GetSessions()[0].GetTabs() != 1 {
		t.Errorf("left: %v, %v", list, err)
	}
	if left := d.Browser.Contexts(t.Context()); len(left) != 0 {
		t.Errorf("browser contexts are left: %v", left)
	}
}

// TestAProfileKeepsTheDefaultSessionOnly starts a browser twice with the same profile.
func TestAProfileKeepsTheDefaultSessionOnly(t *testing.T) {
	path := testenv.NeedBrowser(t)
	url := testenv.Pages(t, login())
	profile, state := t.TempDir(), t.TempDir()
	titles := func(addresses ...string) (got []string) {
		t.Helper()
		ctx := testenv.Within(t, testenv.Patience)
		b, err := browser.Start(ctx, browser.Config{ChromePath: path, Headless: true, StateDir: state, UserDataDir: profile})
		if err != nil {
			t.Fatal(err)
		}
		pool := tabpool.New(b, tabpool.Config{})
		all := sessions.New(pool, b, sessions.Config{})
		if _, err := all.Create(ctx, "other", sessions.Settings{}, sessions.State{}); err != nil {
			t.Fatal(err)
		}
		for _, session := range []string{"", "other"} {
			for _, address := range addresses {
				tab, err := all.Open(ctx, tabpool.OpenOptions{Session: session, URL: address})
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, tab.Info().Title)
			}
		}
		if !hasNetworkProcess(t, profile) {
			t.Error("the browser has no network process: it may end before it has stored the cookies")
		}
		if err := errors.Join(pool.Close(ctx), b.Close(ctx)); err != nil {
			t.Error(err)
		}
		return got
	}
	if got, want := titles(url+"/login", url), []string{"In", "user 42", "In", "user 42"}; !slices.Equal(got, want) {
		t.Errorf("first: %q", got)
	}
	if got, want := titles(url), []string{"user 42", "stranger"}; !slices.Equal(got, want) {
		t.Errorf("after a new start: %q, want %q", got, want)
	}
}

// hasNetworkProcess reports whether the browser of a profile has a network process. It also returns true if the system does not report
// processes.
func hasNetworkProcess(t *testing.T, profile string) bool {
	t.Helper()
	named := testenv.PIDs(profile)
	if len(named) == 0 {
		t.Log("the system does not list processes")
		return true
	}
	for _, leader := range named {
		for _, pid := range testenv.Group(leader) {
			line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			if err == nil && bytes.Contains(line, []byte("--utility-sub-type=network.")) {
				return true
			}
		}
	}
	return false
}
