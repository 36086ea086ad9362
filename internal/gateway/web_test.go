package gateway_test

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"

	"github.com/domtap/domtap/actor/actortest"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/gateway"
	"github.com/domtap/domtap/internal/gateway/guard"
	"github.com/domtap/domtap/internal/server"
)

func TestACallIsAPostOfJSON(t *testing.T) {
	st := newStage(t, settings{})
	st.shop("Pay")
	for name, a := range map[string]answer{
		"names of JSON":   st.post("DomService/GetCompact", `{"tabId": "t1", "maxElements": 10}`),
		"names of proto":  st.post("DomService/GetCompact", `{"tab_id": "t1", "max_elements": 10}`),
		"with a charset":  st.post("DomService/GetCompact", `{"tabId": "t1"}`, with("Content-Type", "application/json; charset=utf-8")),
		"with a deadline": st.post("DomService/GetCompact", `{"tabId": "t1"}`, with("Connect-Timeout-Ms", "30000")),
	} {
		if a.status != http.StatusOK || !strings.Contains(string(a.body), "[0] Pay (button)") || a.header.Get("Content-Encoding") != "" {
			t.Errorf("%s: %v", name, a)
		}
	}
	if a := st.post("TabService/ListTabs", `{}`); a.status != http.StatusOK || !strings.Contains(string(a.body), `"t1"`) {
		t.Errorf("ListTabs: %v", a)
	}
}

func TestErrorsKeepTheirCodeAndDetails(t *testing.T) {
	st := newStage(t, settings{})
	for _, c := range []struct {
		method, body string
		status       int
		code, says   string
		detail       string
	}{
		{"TabService/GetTab", `{"tabId": "t9"}`, 404, "not_found", "t9", `"reason":"NOT_FOUND"`},
		{"TabService/OpenTab", `{"url": "file:///etc/passwd"}`, 403, "permission_denied", "file:", `"reason":"URL_POLICY"`},
		{"DomService/GetDom", `{"tabId": "t1", "maxElements": 1001}`, 400, "invalid_argument", "max_elements", `"field":"max_elements"`},
		{"DomService/GetDom", `{"tab": "t1"}`, 400, "invalid_argument", `"tab"`, ""},
		{"DomService/GetDom", `{`, 400, "invalid_argument", "domtap.v1.GetDomRequest", ""},
		{"DomService/GetDomm", `{}`, 404, "unimplemented", "no such method", ""},
	} {
		a := st.post(c.method, c.body)
		f := a.failure(t)
		if a.status != c.status || f.Code != c.code || !strings.Contains(f.Message, c.says) {
			t.Errorf("%s %s: %v", c.method, c.body, a)
		}
		if c.detail == "" {
			continue
		}
		if len(f.Details) == 0 || !strings.Contains(strings.ReplaceAll(string(f.Details[0].Debug), " ", ""), c.detail) {
			t.Errorf("%s %s: the details are %s", c.method, c.body, a)
		}
	}
}

func TestAuthentication(t *testing.T) {
	st := newStage(t, settings{web: gateway.Config{Hosts: []string{"desk.example"}, Origins: []string{"http://localhost:5173"}}})
	port := st.url[strings.LastIndex(st.url, ":"):]
	for _, c := range []struct {
		name   string
		change []func(*http.Request)
		status int
		says   string
	}{
		{"the token", nil, 200, ""},
		{"no token", []func(*http.Request){with("Authorization", "")}, 401, "domtap token"},
		{"a wrong token", []func(*http.Request){with("Authorization", "Bearer "+token[1:])}, 401, "domtap token"},
		{"a token of another kind", []func(*http.Request){with("Authorization", "Basic "+token)}, 401, "domtap token"},
		{"localhost", []func(*http.Request){with("Host", "localhost"+port)}, 200, ""},
		{"IPv6", []func(*http.Request){with("Host", "[::1]"+port)}, 200, ""},
		{"a name of ours", []func(*http.Request){with("Host", "Desk.Example"+port)}, 200, ""},
		{"a name that leads here", []func(*http.Request){with("Host", "evil.example"+port)}, 403, "--web-host"},
		{"a name with localhost in it", []func(*http.Request){with("Host", "localhost.evil.example")}, 403, "--web-host"},
		{"our own page", []func(*http.Request){with("Origin", st.url), with("Sec-Fetch-Site", "same-origin")}, 200, ""},
		{"another page", []func(*http.Request){with("Origin", "https://evil.example")}, 403, "--web-origin"},
		{"another port", []func(*http.Request){with("Origin", "http://127.0.0.1:1")}, 403, "--web-origin"},
		{"our page by another scheme", []func(*http.Request){with("Origin", strings.Replace(st.url, "http:", "https:", 1))}, 403, "--web-origin"},
		{"a sandboxed page", []func(*http.Request){with("Origin", "null")}, 403, "--web-origin"},
		{"two origins", []func(*http.Request){with("Origin", st.url), func(r *http.Request) { r.Header.Add("Origin", "null") }}, 403, "--web-origin"},
		{"a page that hides its origin", []func(*http.Request){with("Sec-Fetch-Site", "cross-site"), with("Sec-Fetch-Mode", "no-cors")}, 403, "--web-origin"},
		{"a page that is let in", []func(*http.Request){with("Origin", "http://localhost:5173")}, 200, ""},
		{"a page that is let in, without token", []func(*http.Request){with("Origin", "http://localhost:5173"), with("Authorization", "")}, 401, "domtap token"},
		{"GET", []func(*http.Request){func(r *http.Request) { r.Method, r.Body, r.ContentLength = http.MethodGet, nil, 0 }}, 405, ""},
	} {
		a := st.post("TabService/ListTabs", `{}`, c.change...)
		if a.status != c.status || !strings.Contains(string(a.body), c.says) {
			t.Errorf("%s: %v, want %d that says %q", c.name, a, c.status, c.says)
		}
		if allowed := a.header.Get("Access-Control-Allow-Origin"); (allowed != "") != strings.HasPrefix(c.name, "a page that is let in") {
			t.Errorf("%s: pages of %q may read the answer", c.name, allowed)
		}
	}
}

func TestPreflightOfAnAllowedOrigin(t *testing.T) {
	st := newStage(t, settings{web: gateway.Config{Origins: []string{"http://localhost:5173"}}})
	ask := func(origin string) answer {
		return st.post("TabService/ListTabs", "", with("Origin", origin), with("Authorization", ""),
			with("Access-Control-Request-Method", "POST"), func(r *http.Request) { r.Method = http.MethodOptions })
	}
	a := ask("http://localhost:5173")
	if a.status != http.StatusNoContent || a.header.Get("Access-Control-Allow-Origin") != "http://localhost:5173" ||
		!strings.Contains(a.header.Get("Access-Control-Allow-Headers"), "Authorization") {
		t.Errorf("%v %v", a, a.header)
	}
	if a := ask("https://evil.example"); a.status != http.StatusForbidden || a.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("%v %v", a, a.header)
	}
	for _, bad := range []string{"*", "localhost:5173", "http://Host", "https://a.example/"} {
		if guard.CheckOrigin(bad) == nil {
			t.Errorf("%s passes for an origin", bad)
		}
	}
}

// protocols lists the protocols that the handler supports, with the options of their official clients.
var protocols = map[string][]connect.ClientOption{
	"connect": nil, "connect-json": {connect.WithProtoJSON()}, "grpc-web": {connect.WithGRPCWeb()},
	"grpc-web-json": {connect.WithGRPCWeb(), connect.WithProtoJSON()},
	"connect-gzip":  {connect.WithSendGzip()},
}

func TestOfficialClientsCallAndStream(t *testing.T) {
	for name, options := range protocols {
		t.Run(name, func(t *testing.T) {
			st := newStage(t, settings{})
			id, page := st.shop("Pay")
			get := connect.NewClient[domtapv1.GetTabRequest, domtapv1.GetTabResponse](
				&http.Client{Transport: bearing{st.client.Transport}}, st.url+"/domtap.v1.TabService/GetTab", options...)
			got, err := get.CallUnary(t.Context(), connect.NewRequest(&domtapv1.GetTabRequest{TabId: id}))
			if err != nil || got.Msg.GetTab().GetTitle() != "Shop" {
				t.Fatalf("GetTab: %v, %v", got, err)
			}
			_, err = get.CallUnary(t.Context(), connect.NewRequest(&domtapv1.GetTabRequest{TabId: "t9"}))
			if connect.CodeOf(err) != connect.CodeNotFound || reasonOf(t, err) != "NOT_FOUND" {
				t.Errorf("GetTab of no tab: %v", err)
			}
			followAndClose(t, st, id, page, options)
		})
	}
}

// followAndClose watches a tab to its end. Each change must arrive before the next one is made.
func followAndClose(t *testing.T, st *stage, id string, page *actortest.Page, options []connect.ClientOption) {
	t.Helper()
	s := st.watch(t.Context(), &domtapv1.WatchDomRequest{TabId: id, Format: domtapv1.Format_FORMAT_DIFF}, options...)
	if m := next(t, s); m.GetSnapshot().GetElements()[0].GetText() != "Pay" || m.GetSequence() != 1 {
		t.Fatalf("the first message is %v", m)
	}
	for i, text := range []string{"One", "Two", "Three"} {
		add(page, text)
		m := next(t, s)
		if d := m.GetDiff(); d.GetAddedCount() != 1 || d.GetAdded()[0].GetText() != text || m.GetSequence() != uint64(i+2) ||
			!strings.Contains(m.GetText(), text) {
			t.Fatalf("after %s: %v", text, m)
		}
	}
	if a := st.post("TabService/CloseTab", `{"tabId": "`+id+`"}`); a.status != http.StatusOK {
		t.Fatal(a)
	}
	if m := next(t, s); m.GetTabStatus().GetStatus() != domtapv1.TabStatus_TAB_STATUS_CLOSED {
		t.Errorf("the last message is %v", m)
	}
	if s.Receive() || s.Err() != nil {
		t.Errorf("the stream goes on with %v, or ends with %v", s.Msg(), s.Err())
	}
}

func reasonOf(t *testing.T, err error) string {
	t.Helper()
	known, ok := err.(*connect.Error)
	if !ok {
		return ""
	}
	for _, d := range known.Details() {
		value, err := d.Value()
		if err != nil {
			t.Fatal(err)
		}
		if i, ok := value.(*errdetails.ErrorInfo); ok {
			return i.GetReason()
		}
	}
	return ""
}

// Messages sent over HTTP are counted like those sent over gRPC.
func TestCallsAreEnteredIntoTheAccounts(t *testing.T) {
	st := newStage(t, settings{})
	id, page := st.shop("Pay")
	st.post("DomService/GetCompact", `{"tabId": "`+id+`"}`)
	st.post("DomService/GetCompact", `{"tabId": "`+id+`", "maxElements": 1001}`)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	s := st.watch(ctx, &domtapv1.WatchDomRequest{TabId: id})
	next(t, s)
	st.expectWatching(+1)
	add(page, "New")
	next(t, s)
	leave()
	st.expectWatching(-1)
	get := connect.NewClient[domtapv1.GetStatsRequest, domtapv1.GetStatsResponse](
		&http.Client{Transport: bearing{st.client.Transport}}, st.url+"/domtap.v1.StatsService/GetStats")
	answer, err := get.CallUnary(t.Context(), connect.NewRequest(&domtapv1.GetStatsRequest{TabId: id}))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]*domtapv1.MethodStats{}
	for _, m := range answer.Msg.GetTotal().GetMethods() {
		found[m.GetMethod()] = m
	}
	if m := found["GetCompact"]; m.GetCalls() != 2 || m.GetFailed() != 1 || m.GetMessages() != 1 || m.GetBytes() == 0 || m.GetTokens() == 0 {
		t.Errorf("GetCompact: %v", m)
	}
	if m := found["WatchDom"]; m.GetCalls() != 1 || m.GetMessages() != 2 || m.GetBytes() == 0 {
		t.Errorf("WatchDom: %v", m)
	}
}

func TestAStreamCanBeReadWithoutALibrary(t *testing.T) {
	st := newStage(t, settings{})
	id, page := st.shop("Pay")
	quiet, err := st.client.Do(st.stream(t.Context(), `{"tabId": "`+id+`", "omitInitial": true}`))
	if err != nil { // the answer starts when the watch does, not with the first change
		t.Fatal(err)
	}
	defer func() { _ = quiet.Body.Close() }()
	resp, err := st.client.Do(st.stream(t.Context(), `{"tabId": "`+id+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if m, _ := unframe(t, resp.Body); !strings.Contains(string(m), `"Pay"`) {
		t.Fatalf("the first message is %s", m)
	}
	add(page, "New")
	if m, _ := unframe(t, resp.Body); !strings.Contains(string(m), `"New"`) {
		t.Fatalf("the second message is %s", m)
	}
	page.Crash("oom")
	if m, end := unframe(t, resp.Body); end || !strings.Contains(string(m), "TAB_STATUS_CRASHED") {
		t.Fatalf("the third message is %s", m)
	}
	if m, end := unframe(t, resp.Body); !end || !strings.Contains(string(m), `"unavailable"`) || !strings.Contains(string(m), "Reload or Navigate") {
		t.Errorf("the stream ends with %s", m)
	}
}

// stream returns a request for WatchDom.
func (st *stage) stream(ctx context.Context, body string) *http.Request {
	r := st.request(ctx, "DomService/WatchDom", frame(body))
	r.Header.Set("Content-Type", "application/connect+json")
	return r
}

func TestAStreamEndsWithItsClient(t *testing.T) {
	for name, options := range protocols {
		t.Run(name, func(t *testing.T) {
			st := newStage(t, settings{})
			id, _ := st.shop("Pay")
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			s := st.watch(ctx, &domtapv1.WatchDomRequest{TabId: id}, options...)
			next(t, s)
			st.expectWatching(+1)
			leave()
			st.expectWatching(-1)
		})
	}
}

func TestAStreamGoesOnWhereItWasCut(t *testing.T) {
	st := newStage(t, settings{})
	id, page := st.shop("Pay")
	ctx, leave := context.WithCancel(t.Context())
	s := st.watch(ctx, &domtapv1.WatchDomRequest{TabId: id})
	at := next(t, s)
	leave()
	add(page, "Meanwhile")
	again := st.watch(t.Context(), &domtapv1.WatchDomRequest{TabId: id, FromRevision: &at.Revision, Epoch: at.GetEpoch()})
	if m := next(t, again); m.GetDiff().GetFromRevision() != at.GetRevision() || m.GetDiff().GetAdded()[0].GetText() != "Meanwhile" {
		t.Errorf("it goes on with %v", m)
	}
}

// The stream of a reader that reads nothing is ended after SendTimeout. Other readers are not affected before or after that. The timeout is
// long for a reader that reads, so that a busy machine does not end its stream.
func TestAReaderThatDoesNotReadCostsOthersNothing(t *testing.T) {
	st := newStage(t, settings{rpc: server.Config{SendTimeout: 5 * time.Second}})
	id, page := st.shop("Pay")
	lazy := &http.Client{Transport: &http.Transport{DialContext: smallWindow}}
	defer lazy.CloseIdleConnections()
	resp, err := lazy.Do(st.stream(t.Context(), `{"tabId": "`+id+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	st.expectWatching(+1)
	unlimited := int32(0) // a budget could omit the last button
	keen := st.watch(t.Context(), &domtapv1.WatchDomRequest{TabId: id, MaxTokens: &unlimited})
	next(t, keen)
	st.expectWatching(+1)
	const fills = 200 // enough messages to fill all buffers between the daemon and the slow reader
	for i := range fills {
		rewrite(page, i)
		if m := next(t, keen); m.GetResync() == nil {
			t.Fatalf("got %v, want a resync", m)
		}
	}
	st.expectWatching(-1)
	add(page, "Last")
	if m := next(t, keen); m.GetDiff().GetAddedCount() != 1 {
		t.Errorf("the other reader gets %v", m)
	}
}

// rewrite replaces the page's content by about 30 KB.
func rewrite(page *actortest.Page, i int) {
	page.Update(func(main *actortest.Frame) {
		main.Body = nil
		for range 250 {
			main.Body = append(main.Body, actortest.Button(strings.Repeat(string(rune('a'+i%26)), 90)))
		}
	})
}

// smallWindow connects with a small receive buffer, which fills up soon.
func smallWindow(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, address)
	if err == nil {
		err = c.(*net.TCPConn).SetReadBuffer(16 << 10)
	}
	return c, err
}

func TestStoppingEndsStreamsWithAReason(t *testing.T) {
	st := newStage(t, settings{})
	id, _ := st.shop("Pay")
	s := st.watch(t.Context(), &domtapv1.WatchDomRequest{TabId: id})
	next(t, s)
	st.stop()
	if s.Receive() || connect.CodeOf(s.Err()) != connect.CodeUnavailable || reasonOf(t, s.Err()) != "PAGE_LOST" {
		t.Errorf("the stream ended with %v", s.Err())
	}
}

func TestOverTLSItSpeaksHTTP2(t *testing.T) {
	there := httptest.NewTLSServer(http.NotFoundHandler())
	defer there.Close()
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	secure := tls.NewListener(plain, &tls.Config{Certificates: there.TLS.Certificates, NextProtos: []string{"h2", "http/1.1"}})
	st := newStage(t, settings{web: gateway.Config{Listener: secure, TLS: true}})
	st.client = there.Client()
	st.client.Transport.(*http.Transport).ForceAttemptHTTP2 = true
	id, page := st.shop("Pay")
	resp, err := st.client.Do(st.request(t.Context(), "TabService/ListTabs", `{}`))
	if err != nil || resp.StatusCode != http.StatusOK || resp.ProtoMajor != 2 {
		t.Fatalf("%+v, %v", resp, err)
	}
	_ = resp.Body.Close()
	if a := st.post("TabService/ListTabs", `{}`, with("Origin", st.url)); a.status != http.StatusOK {
		t.Error(a)
	}
	if a := st.post("TabService/ListTabs", `{}`, with("Origin", "https://evil.example")); a.status != http.StatusForbidden {
		t.Error(a)
	}
	followAndClose(t, st, id, page, nil)
}
