//go:build cluster

package cluster

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/domtap/domtap/client"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// keeping is a page that shows its cookie, local storage, database, the answer of a route, and its scroll position.
const keeping = `<title>Kept</title>
<button id=who>who %s</button><button id=local></button><button id=db></button><button id=api></button><button id=at>at the top</button><button id=save>Save</button>
<div style="height: 6000px"></div>
<script>
	const show = (id, text) => { document.getElementById(id).textContent = text }
	const database = () => new Promise((done, failed) => {
		const r = indexedDB.open("notes", 1)
		r.onupgradeneeded = () => r.result.createObjectStore("store")
		r.onsuccess = () => done(r.result)
		r.onerror = failed
	})
	const look = async () => {
		show("local", "local " + localStorage.getItem("note"))
		const r = (await database()).transaction("store").objectStore("store").get("note")
		r.onsuccess = () => show("db", "database " + r.result)
	}
	document.getElementById("save").onclick = async () => {
		localStorage.setItem("note", "kept")
		const t = (await database()).transaction("store", "readwrite")
		t.objectStore("store").put("kept", "note")
		t.oncomplete = look
	}
	addEventListener("scroll", () => show("at", scrollY > 1000 ? "scrolled" : "at the top"))
	fetch("/api").then(r => r.text()).then(text => show("api", text), () => show("api", "no api"))
	look()
</script>`

// kept contains the texts of that page when everything was restored.
var kept = []string{"who me", "local kept", "database kept", "from the route", "scrolled"}

// hidden starts a site that is reachable only through a proxy with a password.
func hidden(t *testing.T) (proxy string) {
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte("user:pass"))
	return testenv.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Proxy-Authorization") != want:
			w.Header().Set("Proxy-Authenticate", `Basic realm="proxy"`)
			w.WriteHeader(http.StatusProxyAuthRequired)
		case r.URL.Host != "kept.test" || r.URL.Path != "/":
			http.NotFound(w, r)
		default:
			who := "stranger"
			if c, err := r.Cookie("id"); err == nil {
				who = c.Value
			}
			testenv.HTML(fmt.Sprintf(keeping, who))(w, r)
		}
	}))
}

// isKept waits until a read through a node shows that everything was restored.
func (st *stage) isKept(through *node, tab, when string) {
	st.t.Helper()
	ctx := testenv.Within(st.t, limit)
	last := ""
	for {
		got, err := through.Dom.GetDom(ctx, &domtapv1.GetDomRequest{TabId: tab})
		missing := ""
		for _, text := range kept {
			if !has(got, text) {
				missing += " " + text + ";"
			}
		}
		switch {
		case err == nil && missing == "":
			return
		case ctx.Err() != nil:
			st.t.Fatalf("%s, the page lacks%s: %s", when, missing, last)
		}
		last = fmt.Sprint(testenv.Texts(got), err)
		rest(ctx, pauseOfUsers)
	}
}

// TestASessionComesBackWithAllThatItHad moves a session and then kills its node. Each time, cookies, local storage, databases, routes, the
// proxy with its password, the URL and the scroll position are restored. The session is set up and read through nodes that do not have it.
func TestASessionComesBackWithAllThatItHad(t *testing.T) {
	st := newStage(t)
	ctx := testenv.Within(t, 2*limit)
	proxy := hidden(t)
	if _, err := st.nodes[0].Sessions.CreateSession(ctx, &domtapv1.CreateSessionRequest{
		SessionId: "kept", Settings: &domtapv1.SessionSettings{Proxy: &domtapv1.Proxy{Server: proxy, Username: "user", Password: "pass"}},
	}); err != nil {
		t.Fatal(err)
	}
	home := st.home(st.nodes[0], "kept")
	others := st.others(home)
	route := &domtapv1.Route{UrlPattern: "**/api", Action: &domtapv1.Route_Fulfill{Fulfill: &domtapv1.RouteFulfill{Body: []byte("from the route")}}}
	if _, err := others[0].Network.AddRoute(ctx, &domtapv1.AddRouteRequest{SessionId: "kept", Route: route}); err != nil {
		t.Fatal(err)
	}
	cookie := &domtapv1.Cookie{Name: "id", Value: "me", Domain: "kept.test", Path: "/"}
	if _, err := others[1].Storage.SetCookies(ctx, &domtapv1.SetCookiesRequest{SessionId: "kept", Cookies: []*domtapv1.Cookie{cookie}}); err != nil {
		t.Fatal(err)
	}
	opened, err := others[0].Tabs.OpenTab(ctx, &domtapv1.OpenTabRequest{SessionId: "kept", Url: "http://kept.test/", Restore: true})
	if err != nil {
		t.Fatal(err)
	}
	tab := opened.GetTab().GetId()
	scroll := &domtapv1.Step{Action: &domtapv1.Step_Scroll{Scroll: &domtapv1.ScrollStep{DeltaY: 2000}}}
	if _, err := st.client(others...).Tab(tab).Act(ctx, client.Click(client.Selector("#save")), scroll); err != nil {
		t.Fatal(err)
	}
	st.isKept(others[1], tab, "in the beginning")
	next := others[0]
	if out, code := home.domtap("cluster", "move", "kept", next.id); code != 0 {
		t.Fatalf("move: exit code %d, %s", code, out)
	}
	st.isKept(home, tab, "after the move")
	testenv.Await(t, "the next owner saves the session", func() bool { return next.logged(`msg="a session was saved" session=kept tabs=1 cookies=1`) })
	next.signal(syscall.SIGKILL)
	next.await()
	st.isKept(home, tab, "after the death of its node")
	st.hasRoute(ctx, home)
}

// hasRoute checks, through a node, that the session has its route and that answers contain no password.
func (st *stage) hasRoute(ctx context.Context, through *node) {
	st.t.Helper()
	routes, err := through.Network.ListRoutes(ctx, &domtapv1.ListRoutesRequest{SessionId: "kept"})
	if err != nil || len(routes.GetRoutes()) != 1 || routes.GetRoutes()[0].GetFulfill().GetBodySize() != int32(len("from the route")) {
		st.t.Errorf("the routes are %v, %v", routes, err)
	}
	list, err := through.Sessions.ListSessions(ctx, new(domtapv1.ListSessionsRequest))
	if err != nil || !strings.Contains(list.String(), "user") || strings.Contains(list.String(), "pass") {
		st.t.Errorf("the sessions are %v, %v", list, err)
	}
	stored, err := through.Storage.ListCookies(ctx, &domtapv1.ListCookiesRequest{SessionId: "kept"})
	if err != nil || len(stored.GetCookies()) != 1 {
		st.t.Errorf("the cookies are %v, %v", stored, err)
	}
}
