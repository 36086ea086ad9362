package network

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// TestRoutesDecideOnRequests adds one route at a time, and fetches.
func TestRoutesDecideOnRequests(t *testing.T) {
	s := play(t)
	other := start(t)
	work := s.session("routes", nil)
	tab := s.open(work, s.url+"/")
	// A site that never answers, so any response comes from a route.
	nowhere := "http://nowhere.invalid/user"
	for name, c := range map[string]struct {
		route        *domtapv1.Route
		url, options string
		want         string
	}{
		"no match":                      {block("**/other"), "/api", "{}", "server GET /api team= agent=true"},
		"block":                         {block("**/api"), "/api", "{}", "failed"},
		"block a type":                  {block("**", "fetch"), "/api", "{}", "failed"},
		"another type":                  {block("**", "image", "script"), "/api", "{}", "server GET /api team= agent=true"},
		"mock":                          {mock(s.url+"/api?q=1", "mocked"), "/api?q=1", "{}", "mocked"},
		"mock, other query":             {mock(s.url+"/api?q=1", "mocked"), "/api?q=2", "{}", "server GET /api team= agent=true"},
		"mock a site that is not there": {mock("http://nowhere.invalid/**", "mocked"), nowhere, "{}", "mocked"},
		"mock what needs a preflight request": {mock("http://nowhere.invalid/**", "mocked"), nowhere,
			`{method: 'PUT', headers: {'X-Own': '1', 'Content-Type': 'application/json'}, body: '{}'}`, "mocked"},
		"mock a type that needs a preflight request": {func() *domtapv1.Route {
			r := mock("http://nowhere.invalid/**", "mocked")
			r.ResourceTypes, r.Methods = []string{"fetch"}, []string{"PUT"}
			return r
		}(), nowhere,
			`{method: 'PUT', headers: {'X-Own': '1'}, body: '{}'}`, "mocked"},
		"mock that others may not read":     {mock("http://nowhere.invalid/**", "mocked", header("Access-Control-Allow-Origin", "https://example.com")), nowhere, "{}", "failed"},
		"set a header":                      {rewrite("**/api", &domtapv1.RouteModify{SetHeaders: []*domtapv1.Header{header("X-Team", "blue")}}), "/api", `{headers: {'x-team': 'red'}}`, "server GET /api team=blue agent=true"},
		"remove a header":                   {rewrite("**/api", &domtapv1.RouteModify{RemoveHeaders: []string{"X-Team"}}), "/api", `{headers: {'x-team': 'red'}}`, "server GET /api team= agent=true"},
		"another method":                    {rewrite("**/api", &domtapv1.RouteModify{Method: "DELETE"}), "/api", "{}", "server DELETE /api team= agent=true"},
		"another URL":                       {rewrite("**/api", &domtapv1.RouteModify{Url: other.url + "/elsewhere"}), "/api", "{}", "server GET /elsewhere team= agent=true"},
		"a redirect is one more request":    {mock("**/api", "mocked"), "/redirect", "{}", "mocked"},
		"a header that the browser refuses": {rewrite("**/api", &domtapv1.RouteModify{SetHeaders: []*domtapv1.Header{header("Sec-Fetch-Site", "none"), header("Proxy-Foo", "x")}}), "/api", "{}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			id := s.add(work, c.route)
			defer s.remove(work)
			got := s.run(tab, fetch(c.url, c.options))
			if c.want == "" { // the request must end, however the browser treats the header
				t.Log(got)
			} else if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if n := s.matched(work, id); (n > 0) != !strings.HasPrefix(name, "no match") && !strings.Contains(name, "other") || n > 1 {
				t.Errorf("it has matched %d", n)
			}
		})
	}
}

// TestTheNewestRouteDecides adds overlapping routes and removes them.
func TestTheNewestRouteDecides(t *testing.T) {
	s := play(t)
	work := s.session("newest", nil)
	tab := s.open(work, s.url+"/")
	first, second := s.add(work, mock("**/api", "first")), s.add(work, mock("**/api", "second"))
	third := s.add(work, &domtapv1.Route{UrlPattern: "**", Methods: []string{"POST"}, Action: block("**").GetAction()})
	for _, step := range []struct{ options, want string }{{"{}", "second"}, {"{method: 'POST'}", "failed"}} {
		if got := s.run(tab, fetch("/api", step.options)); got != step.want {
			t.Errorf("%s: got %q, want %q", step.options, got, step.want)
		}
	}
	s.remove(work, second)
	if got := s.run(tab, fetch("/api", "{}")); got != "first" {
		t.Errorf("got %q", got)
	}
	if a, b := s.matched(work, first), s.matched(work, third); a != 1 || b != 1 {
		t.Errorf("the routes have matched %d and %d", a, b)
	}
	if _, err := s.Network.RemoveRoutes(t.Context(), &domtapv1.RemoveRoutesRequest{SessionId: work, RouteIds: []string{first, "r9"}}); !isCode(err, codes.NotFound) {
		t.Errorf("an unknown route: %v", err)
	}
	if got := s.run(tab, fetch("/api", "{}")); got != "first" {
		t.Errorf("after a removal that failed: %q", got)
	}
	if _, err := s.Sessions.UpdateSession(t.Context(), &domtapv1.UpdateSessionRequest{SessionId: work, Settings: &domtapv1.SessionSettings{Emulation: &domtapv1.Emulation{Locale: "de-DE"}}}); err != nil {
		t.Fatal(err)
	}
	if got := s.run(tab, fetch("/api", "{}")); got != "first" {
		t.Errorf("other settings have removed a route: %q", got)
	}
	s.remove(work)
	if got := s.run(tab, fetch("/api", "{}")); !strings.HasPrefix(got, "server") {
		t.Errorf("without routes: %q", got)
	}
	if id := s.add(work, block("**")); id != "r4" {
		t.Errorf("the name %q was used before", id)
	}
}

// places maps the origins of requests in a page to scripts that load a URL and return the text.
var places = map[string]string{
	"frame":             `new Promise(done => { const f = document.createElement('iframe'); f.src = '/frame'; f.onload = () => f.contentWindow.fetch(URL).then(r => r.text()).then(done, () => done('failed')); document.body.append(f) })`,
	"document of frame": `new Promise(done => { const f = document.createElement('iframe'); f.src = URL; f.onload = () => done(f.contentDocument.body.textContent); document.body.append(f) })`,
	"XHR":               `new Promise(done => { const x = new XMLHttpRequest(); x.onloadend = () => done(x.responseText || 'failed'); x.open('GET', URL); x.send() })`,
	"worker":            `new Promise(done => { const w = new Worker('/worker.js'); w.onmessage = e => done(e.data); w.postMessage(URL) })`,
	"service worker":    `new Promise(done => { navigator.serviceWorker.onmessage = e => done(e.data); navigator.serviceWorker.register('/sw.js').then(() => navigator.serviceWorker.ready).then(r => r.active.postMessage(URL)) })`,
	"script of worker":  `new Promise(done => { const w = new Worker('/imports.js'); w.onmessage = e => done(e.data); w.onerror = () => done('failed'); w.postMessage('') })`,
	"popup":             `new Promise(done => { const w = open('/popup'); const wait = () => w.document.readyState === 'complete' && w.location.pathname === '/popup' ? w.fetch(URL).then(r => r.text()).then(done, () => done('failed')) : setTimeout(wait, 10); wait() })`,
}

// TestRoutesReachAllThatAPageStarts loads the same URL from every place. The server must never receive the request, whether the route was
// added before or after the page was opened.
func TestRoutesReachAllThatAPageStarts(t *testing.T) {
	s := play(t)
	for name, script := range places {
		t.Run(name, func(t *testing.T) {
			s := *s
			s.t = t
			work := s.session("reach-"+strings.ReplaceAll(name, " ", "-"), nil)
			before := s.open(work, s.url+"/")
			id := s.add(work, mock("**/api", "self.imported = 'mocked'", header("Content-Type", "text/javascript")))
			came := s.came("/api")
			for _, tab := range []string{before, s.open(work, s.url+"/")} {
				if got := s.run(tab, strings.ReplaceAll(script, "URL", `new window.URL('/api', location).href`)); !strings.Contains(got, "mocked") {
					t.Errorf("got %q", got)
				}
			}
			if n := s.came("/api"); n > came {
				t.Errorf("the server got %d requests", n-came)
			}
			if n := s.matched(work, id); n < 1 {
				t.Errorf("the route has matched %d", n)
			}
		})
	}
}

// TestRoutesReachFramesOfOtherSites loads from a frame in a separate process.
func TestRoutesReachFramesOfOtherSites(t *testing.T) {
	s := play(t)
	work := s.session("sites", nil)
	elsewhere := strings.Replace(s.url, "127.0.0.1", "localhost", 1)
	s.add(work, mock("**/framed", `<script>fetch('/api').then(r => r.text()).then(t => parent.postMessage(t, '*'))</script>`, header("Content-Type", "text/html")))
	s.add(work, mock("**/api", "mocked"))
	tab := s.open(work, s.url+"/")
	script := fmt.Sprintf(`new Promise(done => { onmessage = e => done(e.data); const f = document.createElement('iframe'); f.src = %q; document.body.append(f) })`, elsewhere+"/framed")
	if got := s.run(tab, script); got != "mocked" || s.came("/framed")+s.came("/api") > 0 {
		t.Errorf("got %q", got)
	}
}

// TestRoutesAnswerDocuments opens a tab at a URL that a route answers, and one that a route blocks.
func TestRoutesAnswerDocuments(t *testing.T) {
	s := play(t)
	work := s.session("documents", nil)
	s.add(work, mock("https://shop.invalid/**", "<title>Mocked shop</title><button>Buy</button>", header("Content-Type", "text/html; charset=utf-8")))
	s.add(work, block("https://closed.invalid/**"))
	got, err := s.Tabs.OpenTab(t.Context(), &domtapv1.OpenTabRequest{SessionId: work, Url: "https://shop.invalid/cart"})
	if err != nil || got.GetTab().GetTitle() != "Mocked shop" || got.GetTab().GetUrl() != "https://shop.invalid/cart" {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := s.Tabs.OpenTab(t.Context(), &domtapv1.OpenTabRequest{SessionId: work, Url: "https://closed.invalid/"}); testenv.Reason(err) != "NAVIGATION_FAILED" || !strings.Contains(err.Error(), "ERR_BLOCKED_BY_CLIENT") {
		t.Errorf("a URL that a route blocks: %v", err)
	}
	if tab := s.open("", s.url+"/"); s.run(tab, fetch("https://shop.invalid/cart", "{}")) != "failed" {
		t.Error("the route of one session answers in another")
	}
}

// TestBadRoutes checks that invalid routes are refused with the name of the invalid field.
func TestBadRoutes(t *testing.T) {
	s := play(t)
	work := s.session("bad", nil)
	for want, r := range map[string]*domtapv1.Route{
		"route: is required":                     nil,
		"route.url_pattern: must have 1":         block(""),
		"route.url_pattern: must close":          block("a{b"),
		"route.resource_types[0]: must be one":   block("**", "picture"),
		"must not be websocket":                  block("**", "websocket"),
		"route.methods[0]":                       {UrlPattern: "**", Methods: []string{"get"}, Action: block("**").GetAction()},
		"route.action: is required":              {UrlPattern: "**"},
		"route.modify: must change":              rewrite("**", new(domtapv1.RouteModify)),
		"route.modify.url":                       rewrite("**", &domtapv1.RouteModify{Url: "file:///etc/passwd"}),
		"route.modify.set_headers[0].name: must": rewrite("**", &domtapv1.RouteModify{SetHeaders: []*domtapv1.Header{header("Host", "x")}}),
		"route.fulfill.body: must have at most":  mock("**", strings.Repeat("x", 1<<20+1)),
		"route.fulfill.headers[0].value":         mock("**", "", header("A", "b\nc")),
	} {
		if _, err := s.Network.AddRoute(t.Context(), &domtapv1.AddRouteRequest{SessionId: work, Route: r}); !isCode(err, codes.InvalidArgument) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	for range 2 {
		s.add(work, mock("**/large", strings.Repeat("x", 1<<20)))
	}
	if _, err := s.Network.AddRoute(t.Context(), &domtapv1.AddRouteRequest{SessionId: work, Route: mock("**/large", "x")}); !isCode(err, codes.ResourceExhausted) {
		t.Errorf("bodies of more than 2 MiB: %v", err)
	}
	if _, err := s.Network.ListRoutes(t.Context(), &domtapv1.ListRoutesRequest{SessionId: "nobody"}); !isCode(err, codes.NotFound) {
		t.Errorf("an unknown session: %v", err)
	}
}
