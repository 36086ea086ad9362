package network

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/netpolicy"
	"github.com/domtap/domtap/internal/netpolicy/proxy"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/testenv"
)

// TestRoutesSurviveTheBrowser kills the browser. The restored tab must have the routes from its first request on, and their counts must
// continue.
func TestRoutesSurviveTheBrowser(t *testing.T) {
	d := testenv.StartRestartingDaemon(t, testenv.RestartingConfig{Browsers: make([]browser.Config, 1), RPC: server.Config{AllowEval: true}})
	s := &stage{d.Daemon, start(t), t}
	for _, session := range []string{"default", s.session("work", nil)} {
		id := s.add(session, mock("**/page", "<title>Mocked</title>", header("Content-Type", "text/html")))
		opened, err := s.Tabs.OpenTab(t.Context(), &domtapv1.OpenTabRequest{SessionId: session, Url: s.url + "/page", Restore: true})
		if err != nil {
			t.Fatal(err)
		}
		d.Newest(0).Kill()
		testenv.Await(t, "the tab to come back", func() bool {
			got, err := s.Tabs.GetTab(t.Context(), &domtapv1.GetTabRequest{TabId: opened.GetTab().GetId()})
			return err == nil && got.GetTab().GetStatus() == domtapv1.TabStatus_TAB_STATUS_READY && s.matched(session, id) > 1
		})
		if n := s.came("/page"); n > 0 {
			t.Errorf("session %s: the server got %d requests", session, n)
		}
	}
}

// TestThePolicyWins adds routes for URLs that the policy refuses. The routes must not answer them, and nothing may be sent there.
func TestThePolicyWins(t *testing.T) {
	p, err := netpolicy.Parse("closed,allow=127.0.0.1,allow=allowed.invalid")
	if err != nil {
		t.Fatal(err)
	}
	gate, err := proxy.Open(t.Context(), proxy.Config{Policy: p})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = gate.Close() })
	s := &stage{testenv.StartWith(t, tabpool.Config{}, server.Config{AllowEval: true}, browser.Config{Gate: gate}), start(t), t}
	refused := start(t)
	elsewhere := strings.Replace(refused.url, "127.0.0.1", "127.0.0.2", 1)
	s.add("", mock("**/mocked", "mocked"))
	s.add("", rewrite("**/sent", &domtapv1.RouteModify{Url: elsewhere + "/sent"}))
	tab := s.open("", s.url+"/")
	for address, want := range map[string]string{
		"http://allowed.invalid/mocked": "mocked",
		"http://refused.invalid/mocked": "failed",
		elsewhere + "/mocked":           "failed",
		s.url + "/mocked":               "mocked",
	} {
		if got := s.run(tab, fetch(address, "{}")); got != want {
			t.Errorf("%s: got %q, want %q", address, got, want)
		}
	}
	if got := s.run(tab, fetch(s.url+"/sent", "{}")); strings.HasPrefix(got, "server") || refused.came("/sent") > 0 {
		t.Errorf("a request was sent to where the policy does not allow: %q", got)
	}
}

// TestPresetsBlockInOneSessionOrInAll loads a page with fonts, media and a host that serves advertisements.
func TestPresetsBlockInOneSessionOrInAll(t *testing.T) {
	site := start(t)
	u, err := url.Parse(site.url)
	if err != nil {
		t.Fatal(err)
	}
	const page = `Promise.all([
		new FontFace('F', 'url(/font.woff2)').load().catch(() => {}),
		new Promise(done => { const v = document.createElement('video'); v.onerror = done; v.src = '/film.mp4'; v.load() }),
		new Promise(done => { const i = new Image(); i.onload = i.onerror = done; i.src = '/picture.png' }),
		fetch('http://ads.doubleclick.net:PORT/ad', {mode: 'no-cors'}).catch(() => {}),
	]).then(() => 'done')`
	paths := []string{"/font.woff2", "/film.mp4", "/picture.png", "/ad"}
	rules := "host-resolver-rules=MAP ads.doubleclick.net 127.0.0.1"
	check := func(s *stage, session string, blocked ...string) {
		t.Helper()
		var before []int
		for _, path := range paths {
			before = append(before, site.came(path))
		}
		if got := s.run(s.open(session, site.url+"/"), strings.ReplaceAll(page, "PORT", u.Port())); got != "done" {
			t.Fatal(got)
		}
		for i, path := range paths {
			came := site.came(path) > before[i]
			if want := !strings.Contains(strings.Join(blocked, " "), path); came != want {
				t.Errorf("session %q: %s came: %v", session, path, came)
			}
		}
	}
	one := &stage{testenv.StartDaemon(t, rules), site, t}
	one.session("quiet", &domtapv1.SessionSettings{Block: []string{"ads", "fonts", "media"}})
	one.session("mute", &domtapv1.SessionSettings{Block: []string{"media"}})
	check(one, "")
	check(one, "quiet", "/font.woff2", "/film.mp4", "/ad")
	check(one, "mute", "/film.mp4")
	all := &stage{testenv.StartWith(t, tabpool.Config{}, server.Config{AllowEval: true}, browser.Config{Flags: []string{rules}, Block: []string{"ads"}}), site, t}
	all.session("also", &domtapv1.SessionSettings{Block: []string{"fonts"}})
	check(all, "", "/ad")
	check(all, "also", "/ad", "/font.woff2")
}

// TestWithoutRoutesNoRequestIsHeld counts the browser commands while a page loads. There must be none for its requests until a route
// matches.
func TestWithoutRoutesNoRequestIsHeld(t *testing.T) {
	s := &stage{testenv.StartDaemon(t), start(t), t}
	tab := s.open("", s.url+"/")
	const requests = 100
	load := func() (commands uint64, took time.Duration) {
		before, began := s.Browser.Sent(), time.Now()
		got := s.run(tab, fmt.Sprintf(`(async () => { for (let i = 0; i < %d; i++) await fetch('/api').then(r => r.text()); return 'done' })()`, requests))
		if got != "done" {
			t.Fatal(got)
		}
		return s.Browser.Sent() - before, time.Since(began)
	}
	load() // performs what is done only once
	without, quick := load()
	s.add("", block("**/never"))
	other, same := load()
	id := s.add("", rewrite("**/api", &domtapv1.RouteModify{SetHeaders: []*domtapv1.Header{header("X-Team", "blue")}}))
	with, slow := load()
	t.Logf("%d requests: %d commands in %v without routes, %d in %v with a route that matches none, %d in %v with one that matches", requests, without, quick, other, same, with, slow)
	if without >= requests || other >= requests || with < requests {
		t.Errorf("%d, %d and %d commands", without, other, with)
	}
	if n := s.matched("", id); n != requests {
		t.Errorf("the route has matched %d", n)
	}
	s.remove("")
	if after, _ := load(); after >= requests {
		t.Errorf("%d commands after the routes were removed", after)
	}
}

// TestCredentialsAndRoutesGoTogether has a session answer a server's challenge, in a page and in a service worker, while a route changes
// requests.
func TestCredentialsAndRoutesGoTogether(t *testing.T) {
	address := testenv.Pages(t, map[string]http.HandlerFunc{
		"/": testenv.HTML("<title>Home</title>"),
		"/sw.js": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = fmt.Fprint(w, pages["/sw.js"])
		},
		"/secret": func(w http.ResponseWriter, r *http.Request) {
			if user, password, _ := r.BasicAuth(); user != "ada" || password != "lovelace" {
				w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			_, _ = fmt.Fprint(w, "in, team "+r.Header.Get("X-Team"))
		},
	})
	s := &stage{testenv.Shared(t), nil, t}
	for name, script := range map[string]string{"page": fetch("/secret", "{}"), "service-worker": strings.ReplaceAll(places["service worker"], "URL", "'/secret'")} {
		session := s.session(name, &domtapv1.SessionSettings{HttpCredentials: &domtapv1.HttpCredentials{Username: "ada", Password: "lovelace", Origin: address}})
		s.add(session, rewrite("**/secret", &domtapv1.RouteModify{SetHeaders: []*domtapv1.Header{header("X-Team", "blue")}}))
		if got := s.run(s.open(session, address+"/"), script); got != "in, team blue" {
			t.Errorf("%s: %q", name, got)
		}
	}
}
