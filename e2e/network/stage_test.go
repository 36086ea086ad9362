package network

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// site is a server that answers every path and records the requests.
type site struct {
	url string
	mu  sync.Mutex
	// seen lists the requests as method and path.
	seen []string
}

// pages holds the pages of the site. Other paths return "server" and the request.
var pages = map[string]string{
	"/":          `<title>Home</title><p>home`,
	"/sw.html":   `<title>Worker</title>`,
	"/worker.js": `onmessage = e => fetch(e.data).then(r => r.text()).then(t => postMessage(t), e => postMessage('failed'))`,
	"/sw.js": `oninstall = () => skipWaiting(); onactivate = e => e.waitUntil(clients.claim());
		onmessage = e => fetch(e.data).then(r => r.text()).then(t => e.source.postMessage(t), () => e.source.postMessage('failed'))`,
	"/imports.js": `importScripts('/api'); onmessage = e => postMessage(self.imported || 'nothing')`,
}

func start(t *testing.T) *site {
	s := new(site)
	s.url = testenv.Serve(t, s)
	return s
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.seen = append(s.seen, r.Method+" "+r.URL.Path)
	s.mu.Unlock()
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("Cache-Control", "no-store")
	page, known := pages[r.URL.Path]
	switch {
	case strings.HasSuffix(r.URL.Path, ".js"):
		w.Header().Set("Content-Type", "text/javascript")
	case known:
		w.Header().Set("Content-Type", "text/html")
	case r.URL.Path == "/redirect":
		http.Redirect(w, r, "/api", http.StatusFound)
		return
	}
	if !known {
		page = fmt.Sprintf("server %s %s team=%s agent=%t", r.Method, r.URL.Path, r.Header.Get("X-Team"), r.UserAgent() != "")
	}
	_, _ = fmt.Fprint(w, page)
}

// came returns the number of requests for a path.
func (s *site) came(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, one := range s.seen {
		if _, at, _ := strings.Cut(one, " "); at == path {
			n++
		}
	}
	return n
}

// stage is a daemon with a session for the test.
type stage struct {
	*testenv.Daemon
	*site
	t *testing.T
}

// play starts a site. All tests share the daemon.
func play(t *testing.T) *stage { return &stage{testenv.Shared(t), start(t), t} }

// session creates a session.
func (s *stage) session(id string, settings *domtapv1.SessionSettings) string {
	s.t.Helper()
	if _, err := s.Sessions.CreateSession(s.t.Context(), &domtapv1.CreateSessionRequest{SessionId: id, Settings: settings}); err != nil {
		s.t.Fatal(err)
	}
	return id
}

// open opens a page of the site in a session.
func (s *stage) open(session, url string) string {
	s.t.Helper()
	r, err := s.Tabs.OpenTab(testenv.Within(s.t, testenv.Patience), &domtapv1.OpenTabRequest{SessionId: session, Url: url})
	if err != nil {
		s.t.Fatal(err)
	}
	return r.GetTab().GetId()
}

// run evaluates an expression in a tab and returns its value, a string.
func (s *stage) run(tab, expression string) string {
	s.t.Helper()
	r, err := s.Pages.Evaluate(testenv.Within(s.t, testenv.Patience), &domtapv1.EvaluateRequest{TabId: tab, Expression: expression})
	if err != nil {
		s.t.Fatal(err)
	}
	if r.GetException() != "" {
		s.t.Fatalf("%s: %s", expression, r.GetException())
	}
	return strings.Trim(r.GetResultJson(), `"`)
}

// fetch returns a script that loads a URL and returns its text, or "failed".
func fetch(url, options string) string {
	return fmt.Sprintf(`fetch(%q, %s).then(r => r.text()).catch(() => 'failed')`, url, options)
}

// add adds a route.
func (s *stage) add(session string, r *domtapv1.Route) string {
	s.t.Helper()
	added, err := s.Network.AddRoute(testenv.Within(s.t, testenv.Patience), &domtapv1.AddRouteRequest{SessionId: session, Route: r})
	if err != nil {
		s.t.Fatal(err)
	}
	return added.GetRoute().GetId()
}

// matched returns the number of requests on which a route has decided.
func (s *stage) matched(session, id string) uint64 {
	s.t.Helper()
	list, err := s.Network.ListRoutes(s.t.Context(), &domtapv1.ListRoutesRequest{SessionId: session})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, r := range list.GetRoutes() {
		if r.GetId() == id {
			return r.GetMatched()
		}
	}
	s.t.Fatalf("no route %s in %v", id, list)
	return 0
}

// remove removes routes. Without IDs it removes all.
func (s *stage) remove(session string, ids ...string) {
	s.t.Helper()
	if _, err := s.Network.RemoveRoutes(testenv.Within(s.t, testenv.Patience), &domtapv1.RemoveRoutesRequest{SessionId: session, RouteIds: ids}); err != nil {
		s.t.Fatal(err)
	}
}

func block(pattern string, types ...string) *domtapv1.Route {
	return &domtapv1.Route{UrlPattern: pattern, ResourceTypes: types, Action: &domtapv1.Route_Abort{Abort: new(domtapv1.RouteAbort)}}
}

func mock(pattern, body string, headers ...*domtapv1.Header) *domtapv1.Route {
	return &domtapv1.Route{UrlPattern: pattern, Action: &domtapv1.Route_Fulfill{Fulfill: &domtapv1.RouteFulfill{Body: []byte(body), Headers: headers}}}
}

func rewrite(pattern string, m *domtapv1.RouteModify) *domtapv1.Route {
	return &domtapv1.Route{UrlPattern: pattern, Action: &domtapv1.Route_Modify{Modify: m}}
}

func header(name, value string) *domtapv1.Header { return &domtapv1.Header{Name: name, Value: value} }

// isCode reports whether an error has a code.
func isCode(err error, code codes.Code) bool { return status.Code(err) == code }
