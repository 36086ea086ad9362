package urlpolicy

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/netpolicy"
	"github.com/domtap/domtap/internal/stubdns"
	"github.com/domtap/domtap/internal/testenv"
)

// attempts holds the ways in which a page makes the browser connect to a URL. Each is a function of the URL.
var attempts = map[string]string{
	"image":          `u => { new Image().src = u }`,
	"script":         `u => { const e = document.createElement('script'); e.src = u; document.head.append(e) }`,
	"style":          `u => { const e = document.createElement('link'); e.rel = 'stylesheet'; e.href = u; document.head.append(e) }`,
	"import":         `u => { const e = document.createElement('style'); e.textContent = '@import "' + u + '"'; document.head.append(e) }`,
	"font":           `u => { new FontFace('F', 'url("' + u + '")').load().catch(() => {}) }`,
	"frame":          `u => { const e = document.createElement('iframe'); e.src = u; document.body.append(e) }`,
	"sandboxed":      `u => { const e = document.createElement('iframe'); e.sandbox = ''; e.src = u; document.body.append(e) }`,
	"srcdoc":         `u => { const e = document.createElement('iframe'); e.srcdoc = '<img src="' + u + '">'; document.body.append(e) }`,
	"data frame":     `u => { const e = document.createElement('iframe'); e.src = 'data:text/html,' + encodeURIComponent('<img src="' + u + '">'); document.body.append(e) }`,
	"blob frame":     `u => { const e = document.createElement('iframe'); e.src = URL.createObjectURL(new Blob(['<img src="' + u + '">'], {type: 'text/html'})); document.body.append(e) }`,
	"object":         `u => { const e = document.createElement('object'); e.data = u; document.body.append(e) }`,
	"video":          `u => { const e = document.createElement('video'); e.src = u; document.body.append(e); e.load() }`,
	"fetch":          `u => { fetch(u).catch(() => {}) }`,
	"opaque fetch":   `u => { fetch(u, {mode: 'no-cors'}).catch(() => {}) }`,
	"keepalive":      `u => { fetch(u, {method: 'POST', body: 'x', keepalive: true, mode: 'no-cors'}).catch(() => {}) }`,
	"XHR":            `u => { const x = new XMLHttpRequest(); x.open('GET', u); x.send() }`,
	"beacon":         `u => { navigator.sendBeacon(u, 'x') }`,
	"web socket":     `u => { new WebSocket(u.replace('http', 'ws')) }`,
	"event source":   `u => { new EventSource(u) }`,
	"prefetch":       `u => { const e = document.createElement('link'); e.rel = 'prefetch'; e.href = u; document.head.append(e) }`,
	"preload":        `u => { const e = document.createElement('link'); e.rel = 'preload'; e.as = 'image'; e.href = u; document.head.append(e) }`,
	"icon":           `u => { const e = document.createElement('link'); e.rel = 'icon'; e.href = u; document.head.append(e); const f = new Image(); f.src = u }`,
	"worker":         `u => { const w = new Worker('/worker.js'); w.postMessage(u) }`,
	"service worker": `u => { navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready).then(r => r.active.postMessage(u)) }`,
	"form":           `u => { const i = document.createElement('iframe'); i.name = 'f' + Math.random(); const f = document.createElement('form'); f.target = i.name; f.method = 'POST'; f.action = u; document.body.append(i, f); f.submit() }`,
	"popup":          `u => { window.open(u) }`,
	"download":       `u => { const e = document.createElement('iframe'); e.src = u + '/download'; document.body.append(e) }`,
	"redirect":       `u => { fetch('/to/307?url=' + encodeURIComponent(u)).catch(() => {}) }`,
	"framed meta":    `u => { const e = document.createElement('iframe'); e.src = '/meta?url=' + encodeURIComponent(u); document.body.append(e) }`,
	"framed script":  `u => { const e = document.createElement('iframe'); e.src = '/script?url=' + encodeURIComponent(u); document.body.append(e) }`,
}

// TestURLPolicy runs all its parts with one browser.
func TestURLPolicy(t *testing.T) {
	t.Parallel()
	s := play(t)
	for name, test := range map[string]func(*stage){
		"nothing that a page tries reaches what is refused": (*stage).pageTries, "navigations are refused wherever they lead": (*stage).navigations,
	} {
		t.Run(name, func(t *testing.T) {
			one := *s
			one.t = t
			test(&one)
		})
	}
}

// A page of an allowed site can access the allowed server, but never the refused one. Each attempt uses a separate host name to verify that
// it was made.
func (s *stage) pageTries() {
	tab := s.Open("http://127.0.0.2:" + s.good.port + "/")
	type try struct{ kind, good, bad, path string }
	var tries []try
	n := 0
	for kind, script := range attempts {
		n++
		one := try{kind: kind, path: fmt.Sprintf("/try/%d", n)}
		for which, site := range map[string]*site{"good": s.good, "bad": s.bad} {
			name := fmt.Sprintf("%s-%d.test", which, n)
			s.names.Set(name, stubdns.At(site.address[:strings.LastIndexByte(site.address, ':')]))
			address := "http://" + name + ":" + site.port + one.path
			if s.run(tab, fmt.Sprintf(`() => { (%s)(%q); return 1 }`, script, address)); which == "bad" {
				one.bad = address
			} else {
				one.good = address
			}
		}
		tries = append(tries, one)
	}
	for _, one := range tries {
		s.eventually(one.kind+" of an allowed host", func() bool { return s.good.came(one.path) || s.good.came(one.path+"/download") })
		s.eventually(one.kind+" of a refused host", func() bool { return s.gate.Verdict(one.bad) != nil })
	}
	s.untouched("a page")
	s.log(tab)
	s.datagrams(tab)
}

// log checks that the log of the tab reports the policy as the reason of refused requests. The browser may report the end of a request
// after the gate has refused it.
func (s *stage) log(tab string) {
	s.t.Helper()
	ctx := testenv.Within(s.t, limit)
	for _, kind := range []string{"image", "fetch", "websocket", "document"} {
		s.eventually("the log tells of a refused "+kind, func() bool {
			r, err := s.Pages.ReadLog(ctx, &domtapv1.ReadLogRequest{TabId: tab, MaxEntries: proto.Int32(1000), ProblemsOnly: true})
			if err != nil {
				s.t.Fatal(err)
			}
			return slices.ContainsFunc(r.GetEntries(), func(e *domtapv1.LogEntry) bool {
				failure := e.GetFailure()
				return e.GetResourceType() == kind && strings.Contains(failure, "the URL policy refuses this: bad-") &&
					strings.Contains(failure, "loopback address (rule public)")
			})
		})
	}
}

// datagrams checks that nothing bypasses the gate over UDP.
func (s *stage) datagrams(tab string) {
	s.t.Helper()
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	came := make(chan string, 100)
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 100)
		for {
			n, _, err := udp.ReadFrom(buf)
			if err != nil {
				return
			}
			came <- string(buf[:n])
		}
	}()
	port := udp.LocalAddr().(*net.UDPAddr).Port
	s.run(tab, fmt.Sprintf(`async () => {
		const c = new RTCPeerConnection({iceServers: [{urls: 'stun:127.0.0.1:%[1]d'}]})
		c.createDataChannel('x')
		const gathered = new Promise(done => { c.onicegatheringstatechange = () => c.iceGatheringState === 'complete' && done() })
		await c.setLocalDescription(await c.createOffer())
		await gathered
		c.close()
		try { const w = new WebTransport('https://127.0.0.1:%[1]d/'); await w.ready } catch {}
		return 1
	}`, port))
	_ = udp.Close()
	<-done
	if len(came) != 0 {
		s.t.Errorf("%d datagrams were sent", len(came))
	}
}

// A refused navigation reports that, immediately or after a redirect, and shows nothing of the target. The tab stays usable.
func (s *stage) navigations() {
	t := s.t
	tab := s.Open("http://good.test:" + s.good.port + "/")
	good, bad := "http://good.test:"+s.good.port, "http://bad.test:"+s.bad.port+"/"
	secure := "https://bad.test:" + s.badSecure.port + "/"
	const public = "public"
	type row struct{ url, host, rule string }
	rows := []row{
		{bad, "bad.test", public},
		{secure, "bad.test", public},
		{"http://127.0.0.3:" + s.bad.port, "127.0.0.3", public},
		{"http://0x7f000003:" + s.bad.port, "127.0.0.3", public},
		{"http://[::ffff:127.0.0.3]:" + s.bad.port, "::ffff:127.0.0.3", public},
		{"http://denied.test:" + s.good.port, "denied.test", "deny=denied.test"},
		{"http://localhost:" + s.bad.port, "localhost", public},
	}
	for _, way := range []string{"/to/301", "/to/302", "/to/303", "/to/307", "/to/308"} {
		rows = append(rows, row{good + way + "?url=" + url.QueryEscape(bad), "bad.test", public})
	}
	rows = append(rows, row{good + "/to/302?url=" + url.QueryEscape(secure), "bad.test", public},
		row{good + "/to/302?url=" + url.QueryEscape(good+"/to/307?url="+url.QueryEscape(secure)), "bad.test", public})
	for _, r := range rows {
		_, err := s.Tabs.Navigate(testenv.Within(t, limit), &domtapv1.NavigateRequest{TabId: tab, Url: r.url})
		s.refused(r.url, err, r.host, r.rule)
		if all := s.All(tab); strings.Contains(all.String(), "secret") && !strings.Contains(all.GetUrl(), "good.test") {
			t.Errorf("%s: %v", r.url, all)
		}
	}
	s.untouched("a navigation")
	for _, address := range []string{good + "/", "https://good.test:" + s.goodSecure.port + "/", good + "/to/302?url=" + url.QueryEscape("https://good.test:"+s.goodSecure.port+"/")} {
		if _, err := s.Tabs.Navigate(testenv.Within(t, limit), &domtapv1.NavigateRequest{TabId: tab, Url: address}); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
	s.schemes(tab, good)
	s.spellings(tab)
	s.opening(bad)
	s.clicks(tab, good, bad, secure)
	s.rewritten(tab, good, bad, secure)
	s.inASession(good, bad)
	s.byIPv6(tab)
	s.rebinding(tab)
	s.untouched("anything")
}

// schemes checks that pages cannot open URLs with schemes that clients may not use, directly or by a redirect.
func (s *stage) schemes(tab, good string) {
	s.t.Helper()
	addresses := []string{
		"file:///etc/passwd", "chrome://version", "view-source:" + good + "/", "data:text/html,<title>x</title>", "about:version", "filesystem:" + good + "/x",
		"intent://x#Intent;end", "devtools://devtools/bundled/inspector.html", "chrome-extension://x/y", "ftp://127.0.0.2/",
	}
	for i, address := range addresses {
		window := "window.open(u);"
		if i > 3 { // they are slow
			window = ""
		}
		s.run(tab, fmt.Sprintf(`() => { const u = %q; %s const f = document.createElement('iframe'); f.src = u; document.body.append(f); setTimeout(() => { location = u }); return 1 }`, address, window))
		s.goTo(tab, good+"/")
		if i > 3 {
			continue
		}
		if _, err := s.Tabs.Navigate(testenv.Within(s.t, limit), &domtapv1.NavigateRequest{TabId: tab, Url: good + "/to/302?url=" + url.QueryEscape(address)}); err == nil {
			s.t.Errorf("a redirect to %s is followed", address)
		}
		s.goTo(tab, good+"/")
	}
	r, err := s.Tabs.ListTabs(testenv.Within(s.t, limit), &domtapv1.ListTabsRequest{})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, one := range r.GetTabs() {
		at, err := strconv.Unquote(s.run(one.GetId(), `() => document.URL`))
		if err != nil || !strings.HasPrefix(at, "http:") && !strings.HasPrefix(at, "about:blank") && !strings.HasPrefix(at, "chrome-error:") {
			s.t.Errorf("a tab is at %s", at)
		}
		if one.GetId() != tab {
			_, _ = s.Tabs.CloseTab(testenv.Within(s.t, limit), &domtapv1.CloseTabRequest{TabId: one.GetId()})
		}
	}
}

// spellings checks that the browser parses hosts as package policy does.
func (s *stage) spellings(tab string) {
	s.t.Helper()
	for _, address := range []string{
		"http://0x7f.1/", "http://2130706433/", "http://017700000001/", "http://127.1/", "http://①②⑦.0.0.1/", "http://%31%32%37.0.0.1/", "http://[::ffff:127.0.0.1]/",
		"http://EXA%4dple.com./", "http://faß.de/", "http://example。com/", `http:\\a.test\@b.test/`, "http:a.test", "http:////a.test/", "http://a@b@c.test/", "\thttp://a\n.test/",
		"http://256.1/", "http://1.2.3.08/", "http://a.0x1/", "http://[::1%25x]/", "http://a%2fb/", "http://0/", "ws://A.test:81/", "http://-a_.test/",
	} {
		var want string
		target, err := netpolicy.TargetOf(address)
		if err == nil {
			want = target.Authority()
		}
		said := s.run(tab, fmt.Sprintf(`() => { try { const u = new URL(%q); return u.hostname.replace(/\.$/, '') + ':' + (u.port || 80) } catch { return '' } }`, address))
		if got, err := strconv.Unquote(said); err != nil || got != strings.Replace(want, "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", 1) {
			s.t.Errorf("the browser takes %q for %s, package policy for %q", address, said, want)
		}
	}
}

// opening checks that no tab is opened for a refused URL.
func (s *stage) opening(bad string) {
	s.t.Helper()
	before, _ := s.Tabs.ListTabs(testenv.Within(s.t, limit), &domtapv1.ListTabsRequest{})
	_, err := s.Tabs.OpenTab(testenv.Within(s.t, limit), &domtapv1.OpenTabRequest{Url: bad})
	s.refused("OpenTab", err, "bad.test", "public")
	r, err := s.Tabs.ListTabs(testenv.Within(s.t, limit), &domtapv1.ListTabsRequest{})
	if err != nil || len(r.GetTabs()) != len(before.GetTabs()) {
		s.t.Errorf("%v, %v", r, err)
	}
	batch, err := s.Pages.Batch(testenv.Within(s.t, limit), &domtapv1.BatchRequest{Urls: []string{bad}})
	if err != nil || !strings.Contains(batch.String(), "URL_POLICY") {
		s.t.Errorf("Batch: %v, %v", batch, err)
	}
}

// clicks checks that a click that leads to a refused URL reports that, and that a window opened by it shows nothing of the target.
func (s *stage) clicks(tab, good, bad, secure string) {
	s.t.Helper()
	for _, target := range []string{bad, secure, good + "/to/302?url=" + url.QueryEscape(secure)} {
		s.goTo(tab, good+"/link?url="+url.QueryEscape(target))
		_, err := s.Actions.Interact(testenv.Within(s.t, limit), click(tab, "Go"))
		s.refused("a click that leads to "+target, err, "bad.test", "public")
	}
	s.goTo(tab, good+"/link?url="+url.QueryEscape(bad))
	r, err := s.Actions.Interact(testenv.Within(s.t, limit), click(tab, "Open"))
	if err != nil || r.GetNewTabId() == "" {
		s.t.Fatalf("%v, %v", r, err)
	}
	if all := s.All(r.GetNewTabId()).String(); strings.Contains(all, "secret") {
		s.t.Errorf("the window shows %s", all)
	}
}

func click(tab, text string) *domtapv1.InteractRequest {
	return &domtapv1.InteractRequest{TabId: tab, Steps: []*domtapv1.Step{{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{
		Target: &domtapv1.Target{Text: text}}}}}}
}

func (s *stage) goTo(tab, address string) {
	s.t.Helper()
	if _, err := s.Tabs.Navigate(testenv.Within(s.t, limit), &domtapv1.NavigateRequest{TabId: tab, Url: address}); err != nil {
		s.t.Fatal(err)
	}
}

// rewritten checks that a route cannot redirect to a refused URL, and that scripts do not learn the target of a route.
func (s *stage) rewritten(tab, good, bad, secure string) {
	s.t.Helper()
	for _, target := range []string{bad, secure, good + "/to/302?url=" + url.QueryEscape(bad)} {
		added, err := s.Network.AddRoute(testenv.Within(s.t, limit), &domtapv1.AddRouteRequest{Route: &domtapv1.Route{
			UrlPattern: "**/rewritten*", Action: &domtapv1.Route_Modify{Modify: &domtapv1.RouteModify{Url: target}}}})
		if err != nil {
			s.t.Fatal(err)
		}
		_, err = s.Tabs.Navigate(testenv.Within(s.t, limit), &domtapv1.NavigateRequest{TabId: tab, Url: good + "/rewritten"})
		s.refused("a route to "+target, err, "bad.test", "public")
		s.goTo(tab, good+"/link?url="+url.QueryEscape(good+"/rewritten"))
		_, err = s.Actions.Interact(testenv.Within(s.t, limit), click(tab, "Go"))
		s.refused("a click and a route to "+target, err, "bad.test", "public")
		s.goTo(tab, good+"/")
		if got := s.run(tab, fmt.Sprintf(`() => fetch(%q).then(r => r.text()).catch(String)`, good+"/rewritten")); strings.Contains(got, "bad.test") || strings.Contains(got, "secret") {
			s.t.Errorf("a script reads %s of a route to %s", got, target)
		}
		if _, err := s.Network.RemoveRoutes(testenv.Within(s.t, limit), &domtapv1.RemoveRoutesRequest{RouteIds: []string{added.GetRoute().GetId()}}); err != nil {
			s.t.Fatal(err)
		}
	}
}

// inASession checks the same in a separate session.
func (s *stage) inASession(good, bad string) {
	s.t.Helper()
	made, err := s.Sessions.CreateSession(testenv.Within(s.t, limit), &domtapv1.CreateSessionRequest{SessionId: "other"})
	if err != nil {
		s.t.Fatal(err)
	}
	id := made.GetSession().GetId()
	if _, err := s.Tabs.OpenTab(testenv.Within(s.t, limit), &domtapv1.OpenTabRequest{Url: good + "/", SessionId: id}); err != nil {
		s.t.Error(err)
	}
	_, err = s.Tabs.OpenTab(testenv.Within(s.t, limit), &domtapv1.OpenTabRequest{Url: good + "/to/302?url=" + url.QueryEscape(bad), SessionId: id})
	s.refused("a session", err, "bad.test", "public")
}

// byIPv6 checks an allowed address.
func (s *stage) byIPv6(tab string) {
	s.t.Helper()
	l, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		s.t.Log("no IPv6 here: ", err)
		return
	}
	_ = l.Close()
	six := serve(s.t, "::1", strconv.Itoa(l.Addr().(*net.TCPAddr).Port), false)
	s.goTo(tab, "http://[::1]:"+six.port+"/")
	if !six.came("/") {
		s.t.Error("the server with an IPv6 address was not reached")
	}
}

// rebinding checks a host name that changes from an allowed address to a refused one, on which a server listens on the same port.
func (s *stage) rebinding(tab string) {
	s.t.Helper()
	inside := serve(s.t, "127.0.0.4", s.good.port, false)
	s.names.Set("rebind.test", stubdns.At("127.0.0.2"))
	page := "http://rebind.test:" + s.good.port
	s.goTo(tab, page+"/")
	s.names.Set("rebind.test", stubdns.At("127.0.0.4"))
	s.good.drop()
	s.run(tab, `() => fetch('/again').then(r => r.text(), String)`)
	if s.gate.Verdict(page) == nil || inside.conns.Load() != 0 || s.good.came("/again") {
		s.t.Errorf("a name that moved inside was followed: %d connections, %v", inside.conns.Load(), s.gate.Verdict(page))
	}
}
