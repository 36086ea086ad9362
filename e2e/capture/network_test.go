package capture

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/telemetry/har"
	"github.com/domtap/domtap/internal/testenv"
)

// requestsPage serves a page that makes requests in several ways. Secrets that begin with canary may leave the daemon only in bodies.
func requestsPage(t *testing.T) string {
	return testenv.Pages(t, map[string]http.HandlerFunc{
		"/": func(w http.ResponseWriter, r *http.Request) {
			http.SetCookie(w, &http.Cookie{Name: "sid", Value: "canary1"})
			testenv.HTML(`<title>Requests</title><script>
				fetch("/data?q=1&access_token=canary2", {method: "POST", body: "x", headers: {Authorization: "Bearer canary3", "X-Plain": "plain"}})
					.then((r) => r.text()).then(() => fetch("/moved")).then(() => fetch("/big")).then((r) => r.text()).then(() => console.log("all done"));
			</script>`)(w, r)
		},
		"/data": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("X-Secret-Token", "canary4")
			fmt.Fprint(w, `{"orders": [1, 2, 3]}`)
		},
		"/moved": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/data?code=canary5", http.StatusFound)
		},
		"/big": func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, strings.Repeat("0123456789", 200_000)) },
	})
}

func TestRequestsHaveHeadersTimingAndBodies(t *testing.T) {
	t.Parallel()
	d := testenv.StartDaemon(t)
	tab := d.Open(requestsPage(t))
	logUntil(t, d, tab, said("all done"))
	ctx := testenv.Within(t, time.Minute)
	data := logUntil(t, d, tab, func(e *domtapv1.LogEntry) bool {
		return strings.Contains(e.GetUrl(), "/data?q") && e.GetDurationMs() > 0
	})
	got, err := d.Pages.GetRequest(ctx, &domtapv1.GetRequestRequest{TabId: tab, RequestId: data.GetRequestId(), Body: true})
	if err != nil {
		t.Fatal(err)
	}
	if string(got.GetBody()) != `{"orders": [1, 2, 3]}` || got.GetBodySize() != 21 || got.GetBodyTruncated() || got.GetBodyMissing() != "" {
		t.Errorf("the body is %q, %d, %q", got.GetBody(), got.GetBodySize(), got.GetBodyMissing())
	}
	if got.GetMimeType() != "application/json" || got.GetProtocol() != "http/1.1" || got.GetRemoteAddress() == "" || got.GetTiming().WaitMs == nil || got.GetTiming().GetReceiveMs() < 0 {
		t.Errorf("got %v", got)
	}
	text := fmt.Sprint(got.GetRequestHeaders(), got.GetResponseHeaders(), got.GetUrl(), got.GetEntry())
	if strings.Contains(text, "canary") || !strings.Contains(text, "plain") || !strings.Contains(text, "access_token=***") {
		t.Errorf("the headers are %v", text)
	}
	short, err := d.Pages.GetRequest(ctx, &domtapv1.GetRequestRequest{TabId: tab, RequestId: data.GetRequestId(), Body: true, MaxBodyBytes: proto.Int32(5)})
	if err != nil || string(short.GetBody()) != `{"ord` || !short.GetBodyTruncated() || short.GetBodySize() != 21 {
		t.Errorf("got %v, %v", short, err)
	}
	moved := logUntil(t, d, tab, func(e *domtapv1.LogEntry) bool { return strings.HasSuffix(e.GetUrl(), "/moved") })
	none, err := d.Pages.GetRequest(ctx, &domtapv1.GetRequestRequest{TabId: tab, RequestId: moved.GetRequestId(), Body: true})
	if err != nil || len(none.GetBody()) > 0 || !strings.Contains(none.GetBodyMissing(), "redirect") {
		t.Errorf("got %v, %v", none, err)
	}
	big := logUntil(t, d, tab, func(e *domtapv1.LogEntry) bool { return strings.HasSuffix(e.GetUrl(), "/big") && e.GetDurationMs() > 0 })
	none, err = d.Pages.GetRequest(ctx, &domtapv1.GetRequestRequest{TabId: tab, RequestId: big.GetRequestId(), Body: true})
	if err != nil || len(none.GetBody()) > 0 || none.GetBodyMissing() == "" {
		t.Errorf("2 MB are kept: %v, %v", none.GetBodyMissing(), err)
	}
	if _, err := d.Pages.GetRequest(ctx, &domtapv1.GetRequestRequest{TabId: tab, RequestId: 99_999}); status.Code(err) != codes.NotFound {
		t.Errorf("got %v", err)
	}
}

// TestARendererForgetsItsRecordsOfRequests has a page make 2,000 requests. After that, its renderer drops its records of them, with the
// stored bodies, and must keep reporting, including the end of requests in flight.
func TestARendererForgetsItsRecordsOfRequests(t *testing.T) {
	t.Parallel()
	d := testenv.StartDaemon(t)
	answer := make(chan struct{})
	tab := d.Open(testenv.Pages(t, map[string]http.HandlerFunc{
		"/": testenv.HTML(`<title>Poll</title><script>
			const get = (url) => fetch(url).then((r) => r.text());
			const poll = async (n) => { for (let i = 0; i < n; i += 50) await Promise.all(Array.from({ length: 50 }, () => get("data:,x"))); }; // no work for a server
			let slow;
			const run = async () => {
				await poll(1900);
				slow = get("/slow");
				await get("/early");
				console.log("some done");
			};
			run();
		</script>`),
		"/slow": func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-answer:
				testenv.HTML("slow")(w, r)
			case <-r.Context().Done():
			}
		},
		"/early": testenv.HTML("early"),
		"/late":  testenv.HTML("late"),
	}))
	ctx := testenv.Within(t, 2*time.Minute)
	body := func(path string) (text, missing string) {
		one := logUntil(t, d, tab, func(e *domtapv1.LogEntry) bool { return strings.HasSuffix(e.GetUrl(), path) && e.GetDurationMs() > 0 })
		got, err := d.Pages.GetRequest(ctx, &domtapv1.GetRequestRequest{TabId: tab, RequestId: one.GetRequestId(), Body: true})
		if err != nil {
			t.Fatal(err)
		}
		return string(got.GetBody()), got.GetBodyMissing()
	}
	logUntil(t, d, tab, said("some done"))
	if text, missing := body("/early"); text != "early" {
		t.Errorf("the early body is %q: %s", text, missing)
	}
	testenv.Evaluate[any](t, d, `poll(200)`)
	testenv.Await(t, "the early body to be gone after 2,000 requests", func() bool {
		text, missing := body("/early")
		return text == "" && missing != ""
	})
	testenv.Evaluate[string](t, d, `get("/late")`)
	if text, missing := body("/late"); text != "late" {
		t.Errorf("the late body is %q: %s", text, missing)
	}
	close(answer)
	testenv.Evaluate[string](t, d, `slow`)
	body("/slow")
}

func TestAnArchiveHasTheRequestsWithoutSecrets(t *testing.T) {
	t.Parallel()
	d := testenv.StartDaemon(t)
	tab := d.Open(requestsPage(t))
	logUntil(t, d, tab, said("all done"))
	logUntil(t, d, tab, func(e *domtapv1.LogEntry) bool { return strings.HasSuffix(e.GetUrl(), "/big") && e.GetDurationMs() > 0 })
	ctx := testenv.Within(t, time.Minute)
	for _, bodies := range []bool{false, true} {
		got, err := d.Pages.ExportHar(ctx, &domtapv1.ExportHarRequest{TabId: tab, Bodies: bodies})
		if err != nil {
			t.Fatal(err)
		}
		if err := har.Validate(got.GetHar()); err != nil {
			t.Fatal(err)
		}
		if !bodies && strings.Contains(string(got.GetHar()), "canary") { // bodies are unchanged
			t.Errorf("the archive has secrets: %s", got.GetHar())
		}
		if has := strings.Contains(string(got.GetHar()), `\"orders\"`); has != bodies || bodies != (got.GetBodies() >= 2) {
			t.Errorf("with bodies %v, it has %d", bodies, got.GetBodies())
		}
		var archive struct {
			Log struct {
				Pages   []struct{ ID string }
				Entries []struct {
					PageRef  string
					Request  struct{ URL, Method string }
					Response struct{ Status int }
				}
			}
		}
		if err := json.Unmarshal(got.GetHar(), &archive); err != nil {
			t.Fatal(err)
		}
		if n := len(archive.Log.Entries); n < 5 || int(got.GetRequests()) != n || len(archive.Log.Pages) != 1 {
			t.Errorf("it has %d entries and %d pages, and says %d", n, len(archive.Log.Pages), got.GetRequests())
		}
		for _, e := range archive.Log.Entries {
			if e.PageRef != "page_1" || e.Response.Status == 0 && !strings.HasSuffix(e.Request.URL, "favicon.ico") {
				t.Errorf("got %+v", e)
			}
		}
	}
}

func TestBodiesAreNotToldWhereSomethingIsMasked(t *testing.T) {
	t.Parallel()
	d := testenv.StartDaemon(t)
	ctx := testenv.Within(t, time.Minute)
	made, err := d.Sessions.CreateSession(ctx, &domtapv1.CreateSessionRequest{SessionId: "masked", Settings: &domtapv1.SessionSettings{Mask: &domtapv1.Mask{Selectors: []string{"b"}}}})
	if err != nil {
		t.Fatal(err)
	}
	opened, err := d.Tabs.OpenTab(ctx, &domtapv1.OpenTabRequest{Url: requestsPage(t), SessionId: made.GetSession().GetId()})
	if err != nil {
		t.Fatal(err)
	}
	tab := opened.GetTab().GetId()
	logUntil(t, d, tab, said("all done"))
	data := logUntil(t, d, tab, func(e *domtapv1.LogEntry) bool {
		return strings.Contains(e.GetUrl(), "/data?q") && e.GetDurationMs() > 0
	})
	_, err = d.Pages.GetRequest(ctx, &domtapv1.GetRequestRequest{TabId: tab, RequestId: data.GetRequestId(), Body: true})
	if status.Code(err) != codes.FailedPrecondition {
		t.Errorf("got %v", err)
	}
	if _, err = d.Pages.ExportHar(ctx, &domtapv1.ExportHarRequest{TabId: tab, Bodies: true}); status.Code(err) != codes.FailedPrecondition {
		t.Errorf("got %v", err)
	}
	if _, err := d.Pages.ExportHar(ctx, &domtapv1.ExportHarRequest{TabId: tab}); err != nil {
		t.Errorf("without bodies: %v", err)
	}
	stream, err := d.Pages.RecordVideo(ctx, &domtapv1.RecordVideoRequest{TabId: tab})
	if err == nil {
		_, err = stream.Recv()
	}
	if status.Code(err) != codes.FailedPrecondition {
		t.Errorf("a video: %v", err)
	}
}
