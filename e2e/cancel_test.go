package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/sessions"
	"github.com/domtap/domtap/internal/testenv"
)

// cancelSite serves pages that keep calls busy: slow documents, windows, dialogs, downloads, uploads, frames of other sites, workers,
// endless scripts. It closes its connections, so that they do not count as leaked by the calls.
func cancelSite(t *testing.T) (url string, asked <-chan struct{}) {
	t.Helper()
	arrivals := make(chan struct{}, 1)
	mux := http.NewServeMux()
	mux.HandleFunc("/", testenv.HTML(`<!doctype html><title>Site</title><h1>Site</h1><label>Name <input></label><label>File <input type=file></label>
		<button onclick="window.open('/plain')">Window</button><button onclick="location='/slow'">Slow</button>
		<button onclick="alert(1)">Ask</button><button onclick="location='/file'">Download</button><table><tr><th>A<tr><td>1</table>
		<iframe id=f></iframe><script>
		f.src = "//" + (location.hostname == "localhost" ? "127.0.0.1" : "localhost") + ":" + location.port + "/plain"
		localStorage.setItem("a", "b"); new Worker("/worker.js")</script>`))
	mux.HandleFunc("/plain", testenv.HTML(`<title>Plain</title><button>B</button>`))
	mux.HandleFunc("/windows", testenv.HTML(`<title>Windows</title><script>for (const n of [1, 2, 3]) open("/plain")</script>`))
	mux.HandleFunc("/asks", testenv.HTML(`<title>Asks</title><script>alert(1)</script>`))
	mux.HandleFunc("/worker.js", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("content-type", "text/javascript") })
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) {
		select {
		case arrivals <- struct{}{}:
		default:
		}
		<-r.Context().Done()
	})
	mux.HandleFunc("/file", func(w http.ResponseWriter, r *http.Request) { // never ends, so that no complete file has to be kept
		w.Header().Set("content-disposition", "attachment; filename=long")
		_, _ = w.Write(make([]byte, 10000))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	s := httptest.NewUnstartedServer(mux)
	s.Config.SetKeepAlivesEnabled(false)
	s.Start()
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL, arrivals
}

// TestACancelledOpenTabLeavesNoPage opens tabs whose callers cancel after 1 to 60 ms: before the browser has created the page, while it is
// prepared, and while it loads. At no time may there be more pages than the limit of tabs.
func TestACancelledOpenTabLeavesNoPage(t *testing.T) {
	const most = 6
	url, _ := cancelSite(t)
	f := testenv.StartRestartingDaemon(t, testenv.RestartingConfig{Browsers: make([]browser.Config, 1), Tabs: tabpool.Config{MaxTabs: most}})
	f.Open(url + "/plain") // stays open, so that the test does not involve the first or last tab of a browser
	before := footprintOf(t, f)
	random := rand.New(rand.NewPCG(1, 1))
	var calls sync.WaitGroup
	next := make(chan time.Duration)
	for range 8 {
		calls.Go(func() {
			for limit := range next {
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				_, err := f.Tabs.OpenTab(ctx, &domtapv1.OpenTabRequest{Url: url + "/slow"})
				cancel()
				if err == nil {
					t.Error("a tab was opened at a URL that does not answer")
				}
			}
		})
	}
	peak := 0
	for range 40 {
		next <- time.Duration(1+random.IntN(60)) * time.Millisecond
		held := footprint{}
		held.targets(t, f.Newest(0))
		peak = max(peak, held["target page"])
	}
	close(next)
	calls.Wait()
	if peak > most {
		t.Errorf("there were %d pages, and at most %d tabs may be open", peak, most)
	}
	asBefore(t, f, before, func() {})
	for range most - 1 { // every slot was released
		f.Open(url + "/plain")
	}
}

// cancelled makes calls and cancels them.
type cancelled struct {
	t       *testing.T
	f       *testenv.RestartingDaemon
	conn    *grpc.ClientConn
	url     string
	asked   <-chan struct{}
	methods []protoreflect.MethodDescriptor

	mu     sync.Mutex
	random *rand.Rand
	tally  map[codes.Code]int
}

// pick returns a random number below n.
func (c *cancelled) pick(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.random.IntN(n)
}

// tab returns one of the open tabs. If there is none, it opens one.
func (c *cancelled) tab() string {
	list, err := c.f.Tabs.ListTabs(c.t.Context(), &domtapv1.ListTabsRequest{})
	if err != nil {
		c.t.Fatal(err)
	}
	if n := len(list.GetTabs()); n > 0 {
		return list.GetTabs()[c.pick(n)].GetId()
	}
	made, err := c.f.Tabs.OpenTab(c.t.Context(), &domtapv1.OpenTabRequest{Url: c.url + "/"})
	if err != nil {
		c.t.Logf("no tab to call: %v", err)
	}
	return made.GetTab().GetId()
}

// session returns a session other than the default session.
func (c *cancelled) session() string {
	list, err := c.f.Sessions.ListSessions(c.t.Context(), &domtapv1.ListSessionsRequest{})
	if err != nil {
		c.t.Fatal(err)
	}
	if n := len(list.GetSessions()); n > 1 {
		return list.GetSessions()[1+c.pick(n-1)].GetId()
	}
	made, err := c.f.Sessions.CreateSession(c.t.Context(), &domtapv1.CreateSessionRequest{})
	if err != nil {
		c.t.Fatal(err)
	}
	return made.GetSession().GetId()
}

// address returns a URL of the site.
func (c *cancelled) address() string {
	return c.url + []string{"/", "/plain", "/slow", "/windows", "/asks", "/file"}[c.pick(6)]
}

// state returns a storage state for a session.
func (c *cancelled) state() *domtapv1.StorageState {
	entries := []*domtapv1.StorageEntry{{Name: "a", Value: "b"}}
	return &domtapv1.StorageState{
		Cookies: []*domtapv1.Cookie{{Name: "a", Value: "b", Domain: "127.0.0.1", Path: "/"}},
		Origins: []*domtapv1.OriginStorage{{Origin: c.url, LocalStorage: entries}, {Origin: "https://example.com", LocalStorage: entries}},
	}
}

// step returns a random action.
func (c *cancelled) step() *domtapv1.Step {
	button := func(name string) *domtapv1.Step {
		return &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Role: "button", Name: name}}}}
	}
	file := &domtapv1.UploadStep{Target: &domtapv1.Target{Label: "File"}, Files: []*domtapv1.UploadFile{{Name: "a", Content: []byte("a")}}}
	steps := []*domtapv1.Step{
		button("Window"), button("Slow"), button("Ask"), button("Download"), {Action: &domtapv1.Step_Upload{Upload: file}},
		{Action: &domtapv1.Step_Screenshot{Screenshot: &domtapv1.ScreenshotStep{}}},
		{Action: &domtapv1.Step_Type{Type: &domtapv1.TypeStep{Target: &domtapv1.Target{Label: "Name"}, Text: strings.Repeat("long ", 50)}}},
		{Action: &domtapv1.Step_Wait{Wait: &domtapv1.WaitStep{Target: &domtapv1.Target{Text: "never"}}}},
	}
	return steps[c.pick(len(steps))]
}

// request returns a request for a method, or nil if the test has none for it.
func (c *cancelled) request(method protoreflect.MethodDescriptor) proto.Message {
	name := string(method.Parent().Name()) + "." + string(method.Name())
	empty := map[string]bool{
		"TabService.ListTabs": true, "TabService.WatchTabs": true, "SessionService.ListSessions": true, "StatsService.GetStats": true, "SearchService.ListSearchProviders": true, "ClusterService.GetCluster": true, "DaemonService.StartLivePage": true, "DaemonService.StopLivePage": true, "ReplayService.GetReplay": true, "Health.Check": true, "Health.List": true, "Health.Watch": true,
	}
	if empty[name] {
		return dynamicpb.NewMessage(method.Input())
	}
	for _, some := range []func(string) proto.Message{c.ofTabs, c.ofPages, c.ofSessions, c.ofTimelines} {
		if request := some(name); request != nil {
			return request
		}
	}
	return nil
}

func (c *cancelled) ofTabs(method string) proto.Message {
	switch method {
	case "TabService.OpenTab":
		return &domtapv1.OpenTabRequest{Url: c.address(), SessionId: []string{"", c.session()}[c.pick(2)], Restore: c.pick(2) == 0}
	case "TabService.GetTab":
		return &domtapv1.GetTabRequest{TabId: c.tab()}
	case "TabService.CloseTab":
		return &domtapv1.CloseTabRequest{TabId: c.tab()}
	case "TabService.SetRestore":
		return &domtapv1.SetRestoreRequest{TabId: c.tab(), Restore: true}
	case "TabService.Navigate":
		return &domtapv1.NavigateRequest{TabId: c.tab(), Url: c.address()}
	case "TabService.GoBack":
		return &domtapv1.GoBackRequest{TabId: c.tab()}
	case "TabService.GoForward":
		return &domtapv1.GoForwardRequest{TabId: c.tab()}
	case "TabService.Reload":
		return &domtapv1.ReloadRequest{TabId: c.tab()}
	case "TabService.AnswerDialog":
		return &domtapv1.AnswerDialogRequest{TabId: c.tab()}
	}
	return nil
}

func (c *cancelled) ofPages(method string) proto.Message {
	switch method {
	case "DomService.GetDom":
		return &domtapv1.GetDomRequest{TabId: c.tab()}
	case "DomService.GetCompact":
		return &domtapv1.GetCompactRequest{TabId: c.tab()}
	case "DomService.Find":
		return &domtapv1.FindRequest{TabId: c.tab(), Query: "button"}
	case "DomService.WatchDom":
		return &domtapv1.WatchDomRequest{TabId: c.tab()}
	case "DomService.WaitFor":
		return &domtapv1.WaitForRequest{TabId: c.tab(), Until: &domtapv1.WaitCondition{Text: "never"}}
	case "ActionService.Interact":
		return &domtapv1.InteractRequest{TabId: c.tab(), Steps: []*domtapv1.Step{c.step(), c.step()}}
	case "ActionService.FillForm":
		return &domtapv1.FillFormRequest{TabId: c.tab(), Fields: []*domtapv1.FormField{{Label: "Name", Value: "x"}}}
	case "ToolService.ListTools":
		return &domtapv1.ListToolsRequest{TabId: c.tab()}
	case "ToolService.WatchTools":
		return &domtapv1.WatchToolsRequest{TabId: c.tab()}
	case "ToolService.CallTool":
		return &domtapv1.CallToolRequest{TabId: c.tab(), Name: "x"}
	case "PageService.ReadPage":
		return &domtapv1.ReadPageRequest{TabId: c.tab()}
	case "PageService.Screenshot":
		return &domtapv1.ScreenshotRequest{TabId: c.tab(), FullPage: c.pick(2) == 0}
	case "PageService.Pdf":
		return &domtapv1.PdfRequest{TabId: c.tab()}
	case "PageService.Extract":
		return &domtapv1.ExtractRequest{TabId: c.tab(), Selectors: []string{"h1"}}
	case "PageService.Batch":
		return &domtapv1.BatchRequest{Urls: []string{c.address(), c.address(), c.address()}, SessionId: []string{"", "default"}[c.pick(2)]}
	case "PageService.Evaluate":
		return &domtapv1.EvaluateRequest{TabId: c.tab(), Expression: []string{"document", "new Promise(() => 0)", "() => { while (1); }"}[c.pick(3)]}
	case "PageService.ReadLog":
		return &domtapv1.ReadLogRequest{TabId: c.tab()}
	case "PageService.GetRequest":
		return &domtapv1.GetRequestRequest{TabId: c.tab(), RequestId: uint64(1 + c.pick(5)), Body: true}
	case "PageService.ExportHar":
		return &domtapv1.ExportHarRequest{TabId: c.tab(), Bodies: c.pick(2) == 0}
	case "PageService.Audit":
		return &domtapv1.AuditRequest{TabId: c.tab()}
	case "PageService.RecordVideo":
		return &domtapv1.RecordVideoRequest{TabId: c.tab(), Duration: durationpb.New(200 * time.Millisecond)}
	}
	return nil
}

func (c *cancelled) ofSessions(method string) proto.Message {
	settings := &domtapv1.SessionSettings{Emulation: &domtapv1.Emulation{Locale: "de-DE"}}
	switch method {
	case "SessionService.CreateSession":
		return &domtapv1.CreateSessionRequest{SessionId: fmt.Sprint("s", c.pick(1e9)), Settings: settings, StorageState: c.state()}
	case "SessionService.UpdateSession":
		return &domtapv1.UpdateSessionRequest{SessionId: c.session(), Settings: settings}
	case "SessionService.CloseSession":
		return &domtapv1.CloseSessionRequest{SessionId: c.session()}
	case "SessionService.GetStorageState":
		return &domtapv1.GetStorageStateRequest{SessionId: []string{"", c.session()}[c.pick(2)], IndexedDb: c.pick(2) == 0}
	case "SessionService.SetStorageState":
		return &domtapv1.SetStorageStateRequest{SessionId: c.session(), State: c.state(), Replace: true}
	case "SessionService.ListDownloads":
		return &domtapv1.ListDownloadsRequest{}
	case "ContextService.GetHistory":
		return &domtapv1.GetHistoryRequest{TabId: c.tab()}
	case "ContextService.PruneTranscript":
		return &domtapv1.PruneTranscriptRequest{MessagesJson: "[]"}
	case "ContextService.CountTokens":
		return &domtapv1.CountTokensRequest{Text: "x"}
	case "StorageService.ListCookies":
		return &domtapv1.ListCookiesRequest{SessionId: c.session()}
	case "StorageService.SetCookies":
		return &domtapv1.SetCookiesRequest{SessionId: c.session(), Cookies: c.state().GetCookies()}
	case "StorageService.DeleteCookies":
		return &domtapv1.DeleteCookiesRequest{SessionId: c.session(), All: true}
	case "StorageService.GetLocalStorage":
		return &domtapv1.GetLocalStorageRequest{SessionId: c.session()}
	case "StorageService.EditLocalStorage":
		return &domtapv1.EditLocalStorageRequest{SessionId: c.session(), Origin: "https://a.example", Edit: &domtapv1.StorageEdit{Set: []*domtapv1.StorageEntry{{Name: "a", Value: "b"}}}}
	case "StorageService.GetSessionStorage":
		return &domtapv1.GetSessionStorageRequest{TabId: c.tab()}
	case "StorageService.EditSessionStorage":
		return &domtapv1.EditSessionStorageRequest{TabId: c.tab(), Edit: &domtapv1.StorageEdit{Clear: true}}
	case "NetworkService.AddRoute":
		return &domtapv1.AddRouteRequest{SessionId: c.session(), Route: &domtapv1.Route{UrlPattern: "**/never", Action: &domtapv1.Route_Abort{Abort: new(domtapv1.RouteAbort)}}}
	case "NetworkService.ListRoutes":
		return &domtapv1.ListRoutesRequest{SessionId: c.session()}
	case "NetworkService.RemoveRoutes":
		return &domtapv1.RemoveRoutesRequest{SessionId: c.session()}
	case "SearchService.Search":
		return &domtapv1.SearchRequest{Query: "x"}
	case "ClusterService.DrainNode":
		return &domtapv1.DrainNodeRequest{NodeId: "n1"}
	case "ClusterService.MoveSession":
		return &domtapv1.MoveSessionRequest{SessionId: c.session(), NodeId: "n1"}
	}
	return nil
}

func (c *cancelled) ofTimelines(method string) proto.Message {
	switch method {
	case "TimelineService.GetTimeline":
		return &domtapv1.GetTimelineRequest{TabId: c.tab()}
	case "TimelineService.WatchTimeline":
		return &domtapv1.WatchTimelineRequest{TabId: c.tab()}
	case "TimelineService.PauseClient":
		return &domtapv1.PauseClientRequest{TabId: c.tab(), Client: "nobody"}
	case "TimelineService.ResumeClient":
		return &domtapv1.ResumeClientRequest{TabId: c.tab(), Client: "nobody"}
	case "TimelineService.TakeOver":
		return &domtapv1.TakeOverRequest{TabId: c.tab()}
	case "TimelineService.HandBack":
		return &domtapv1.HandBackRequest{TabId: c.tab()}
	case "TimelineService.ListPauses":
		return &domtapv1.ListPausesRequest{TabId: c.tab()}
	case "RecordingService.Record":
		return &domtapv1.RecordRequest{TabId: c.tab()}
	case "RecordingService.StopRecording":
		return &domtapv1.StopRecordingRequest{TabId: c.tab()}
	case "RecordingService.ListRecordings":
		return &domtapv1.ListRecordingsRequest{}
	case "ReplayService.Seek":
		return &domtapv1.SeekRequest{At: &domtapv1.Moment{When: &domtapv1.Moment_Offset{Offset: durationpb.New(time.Second)}}}
	}
	return nil
}

// leave cancels a call at a random moment: after 1 to 60 ms, or when the web server receives a request for a document that it does not
// deliver.
func (c *cancelled) leave(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := time.Duration(1+c.pick(60)) * time.Millisecond
	switch c.pick(3) {
	case 0: // the daemon knows of the deadline in advance
		return context.WithTimeout(ctx, limit)
	case 1:
		ctx, cancel := context.WithCancel(ctx)
		timer := time.AfterFunc(limit, cancel)
		return ctx, func() {
			timer.Stop()
			cancel()
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 10*limit)
	var waiting sync.WaitGroup
	waiting.Go(func() {
		select {
		case <-c.asked:
			cancel()
		case <-ctx.Done():
		}
	})
	return ctx, func() {
		cancel()
		waiting.Wait()
	}
}

// call calls a method and returns when the call has ended. It reads a stream until its end.
func (c *cancelled) call(ctx context.Context, method protoreflect.MethodDescriptor, request proto.Message) error {
	path := "/" + string(method.Parent().FullName()) + "/" + string(method.Name())
	answer := dynamicpb.NewMessage(method.Output())
	if !method.IsStreamingServer() {
		return c.conn.Invoke(ctx, path, request, answer)
	}
	stream, err := c.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, path)
	if err != nil {
		return err
	}
	err = errors.Join(stream.SendMsg(request), stream.CloseSend())
	for err == nil || errors.Is(err, io.EOF) && ctx.Err() == nil {
		if err = stream.RecvMsg(answer); err != nil {
			break
		}
	}
	return err
}

// round cancels a call of every method, several concurrently.
func (c *cancelled) round() {
	var calls sync.WaitGroup
	next := make(chan protoreflect.MethodDescriptor)
	for range 4 {
		calls.Go(func() {
			for method := range next {
				request := c.request(method)
				ctx, end := c.leave(c.t.Context())
				err := c.call(ctx, method, request)
				end()
				c.mu.Lock()
				c.tally[status.Code(err)]++
				c.mu.Unlock()
			}
		})
	}
	for _, i := range c.order() {
		next <- c.methods[i]
	}
	close(next)
	calls.Wait()
}

func (c *cancelled) order() []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.random.Perm(len(c.methods))
}

// tidy closes the tabs and sessions that canceled calls nevertheless created, as their clients would.
func (c *cancelled) tidy() {
	c.t.Helper()
	ctx := testenv.Within(c.t, settleLimit)
	tabs, err := c.f.Tabs.ListTabs(ctx, &domtapv1.ListTabsRequest{})
	if err != nil {
		c.t.Fatal(err)
	}
	for _, tab := range tabs.GetTabs() {
		if _, err := c.f.Tabs.CloseTab(ctx, &domtapv1.CloseTabRequest{TabId: tab.GetId()}); err != nil && status.Code(err) != codes.NotFound {
			c.t.Errorf("a tab cannot be closed: %v", err)
		}
	}
	all, err := c.f.Sessions.ListSessions(ctx, &domtapv1.ListSessionsRequest{})
	if err != nil {
		c.t.Fatal(err)
	}
	for _, one := range all.GetSessions()[1:] {
		if _, err := c.f.Sessions.CloseSession(ctx, &domtapv1.CloseSessionRequest{SessionId: one.GetId()}); err != nil && status.Code(err) != codes.NotFound {
			c.t.Errorf("a session cannot be closed: %v", err)
		}
	}
}

// each finds all methods of the API and of the health service.
func (c *cancelled) each() {
	for _, name := range []protoreflect.FullName{"domtap.v1", "grpc.health.v1"} {
		protoregistry.GlobalFiles.RangeFilesByPackage(name, func(file protoreflect.FileDescriptor) bool {
			for i := range file.Services().Len() {
				methods := file.Services().Get(i).Methods()
				for j := range methods.Len() {
					if c.methods = append(c.methods, methods.Get(j)); c.request(methods.Get(j)) == nil {
						c.t.Fatalf("%s has no request: give it one in request, so that it is known what it leaves when it is cancelled", methods.Get(j).FullName())
					}
				}
			}
			return true
		})
	}
}

// TestCancelledCallsLeaveNothing cancels calls of every method at random moments. When all calls have ended, the resources of the daemon
// and its browser must be the same as before. DOMTAP_CANCELS sets the number of calls. A failure prints the seed, and DOMTAP_SEED repeats
// it.
func TestCancelledCallsLeaveNothing(t *testing.T) {
	total, seed := 60, uint64(1)
	if n, err := strconv.Atoi(os.Getenv("DOMTAP_CANCELS")); err == nil {
		total, seed = n, rand.Uint64()
	}
	if n, err := strconv.ParseUint(os.Getenv("DOMTAP_SEED"), 10, 64); err == nil {
		seed = n
	}
	c := &cancelled{t: t, random: rand.New(rand.NewPCG(seed, 1)), tally: map[codes.Code]int{}}
	c.url, c.asked = cancelSite(t)
	c.f = testenv.StartRestartingDaemon(t, testenv.RestartingConfig{
		Browsers: make([]browser.Config, 1), Tabs: tabpool.Config{MaxTabs: 30}, RPC: server.Config{AllowEval: true}})
	var err error
	if c.conn, err = grpc.NewClient("unix:"+c.f.Socket, grpc.WithTransportCredentials(insecure.NewCredentials())); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.conn.Close() }()
	c.each()
	c.round() // starts what is started only once, such as the print process
	c.tidy()
	before := footprintOf(t, c.f)
	began := time.Now()
	made := 0
	for ; made < total; made += len(c.methods) {
		c.round()
	}
	t.Logf("seed %d: %d calls in %v: %v", seed, made, time.Since(began), c.tally)
	asBefore(t, c.f, before, c.tidy)
	if c.tally[codes.Canceled] == 0 || c.tally[codes.DeadlineExceeded] == 0 {
		t.Errorf("the calls were not cancelled: %v", c.tally)
	}
	if t.Failed() {
		t.Logf("DOMTAP_SEED=%d", seed)
	}
}

// TestPageThatDiedBeforeItWasTakenIsClosed crashes the blank page that was created in advance for the next tab.
func TestPageThatDiedBeforeItWasTakenIsClosed(t *testing.T) {
	b := testenv.StartBrowser(t)
	b.KeepWarm(1)
	for _, name := range []string{"first", "second"} { // opening the first prepares the page for the second
		if _, err := b.NewContext(t.Context(), name, sessions.Settings{}); err != nil {
			t.Fatal(err)
		}
		if name == "first" {
			testenv.Await(t, "a session is ready", func() bool { return b.Warm() == 1 })
			b.KeepWarm(0)
		}
	}
	crashReady(t, b)
	openPage(t, b, "second")
	testenv.Await(t, "there is the new page alone", func() bool {
		held := footprint{}
		held.targets(t, b.Browser)
		return held["target page"] == 1
	})
}

// TestAbandonedPDFIsFreed ends a call before the PDF is ready. The browser keeps the PDF until it is told to close it, so exactly one more
// command must follow.
func TestAbandonedPDFIsFreed(t *testing.T) {
	ready, printing, release := make(chan struct{}), make(chan struct{}), make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("/", testenv.HTML(`<!doctype html><title>Paper</title><script>
		const ask = (path) => { const held = new XMLHttpRequest(); held.open("GET", path, false); held.send() }
		addEventListener("beforeprint", () => ask("/held"))
		ask("/ready")</script>`))
	mux.HandleFunc("/ready", func(http.ResponseWriter, *http.Request) { close(ready) })
	mux.HandleFunc("/held", func(_ http.ResponseWriter, r *http.Request) {
		close(printing)
		<-release
	})
	site := httptest.NewServer(mux)
	defer site.Close()
	b := testenv.StartBrowser(t)
	page := openPage(t, b, driver.DefaultSession)
	if _, err := page.Navigate(testenv.Within(t, settleLimit), site.URL); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(testenv.Within(t, settleLimit))
	defer cancel()
	select {
	case <-ready:
	case <-ctx.Done():
		t.Fatal("the page did not run")
	}
	go func() {
		select {
		case <-printing:
			cancel()
		case <-ctx.Done():
		}
	}()
	if _, err := page.Print(ctx, driver.PrintOptions{Limit: 1e6}); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	sent := b.Sent()
	close(release)
	testenv.Await(t, "the PDF is closed", func() bool { return b.Sent() > sent })
}

// openPage opens a page and ignores its events.
func openPage(t *testing.T, b *testenv.Browser, session string) driver.Page {
	t.Helper()
	page, err := b.NewPage(testenv.Within(t, settleLimit), driver.PageOptions{Session: session})
	if err != nil {
		t.Fatal(err)
	}
	var reading sync.WaitGroup
	reading.Go(func() {
		for range page.Events() {
		}
	})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), settleLimit)
		defer cancel()
		if err := page.Close(ctx); err != nil {
			t.Error(err)
		}
		reading.Wait()
	})
	return page
}

// crashReady crashes the only page of a browser.
func crashReady(t *testing.T, b *testenv.Browser) {
	t.Helper()
	var open struct {
		Infos []struct {
			ID string `json:"targetId"`
		} `json:"targetInfos"`
	}
	var attached struct {
		Session string `json:"sessionId"`
	}
	if err := b.Call(t.Context(), "", "Target.getTargets", struct{}{}, &open); err != nil || len(open.Infos) != 1 {
		t.Fatalf("the targets are %v, %v", open, err)
	}
	if err := b.Call(t.Context(), "", "Target.attachToTarget", map[string]any{"targetId": open.Infos[0].ID, "flatten": true}, &attached); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var crashing sync.WaitGroup
	crashing.Go(func() { _ = b.Call(ctx, attached.Session, "Page.crash", struct{}{}, nil) }) // it never returns
	testenv.Await(t, "the renderer is gone", func() bool {
		held := footprint{}
		held.processes(b.PID())
		return held["process renderer"] == 0
	})
	cancel()
	crashing.Wait()
	pings(t, b) // then the daemon has processed the crash
}

// pings waits until a browser has answered some calls. By then, the daemon has received the earlier messages of the browser.
func pings(t *testing.T, b *testenv.Browser) {
	t.Helper()
	for range 3 {
		if err := b.Ping(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
