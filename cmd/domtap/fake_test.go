package main

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/browser/discovery"
	"github.com/domtap/domtap/internal/endpoint"
)

// fakeDaemon records the requests that it receives and answers them as the test specifies. It serves on a unix socket, like the real
// daemon.
type fakeDaemon struct {
	domtapv1.UnimplementedTabServiceServer
	domtapv1.UnimplementedDomServiceServer
	domtapv1.UnimplementedActionServiceServer
	domtapv1.UnimplementedPageServiceServer
	domtapv1.UnimplementedSessionServiceServer
	domtapv1.UnimplementedStatsServiceServer
	domtapv1.UnimplementedStorageServiceServer
	domtapv1.UnimplementedSearchServiceServer
	domtapv1.UnimplementedNetworkServiceServer
	domtapv1.UnimplementedToolServiceServer
	domtapv1.UnimplementedClusterServiceServer
	domtapv1.UnimplementedDaemonServiceServer

	socket string
	// answer returns the answer to a request after the request was recorded.
	answer func(ctx context.Context, request proto.Message) (proto.Message, error)
	// stream holds the messages of WatchDom. streamEnd returns the error with which the stream ends.
	stream    []*domtapv1.WatchDomResponse
	streamEnd func(ctx context.Context) error

	mu       sync.Mutex
	requests []proto.Message
}

// newFakeDaemon returns a daemon with two tabs that answers every request with an empty message.
func newFakeDaemon(t *testing.T) *fakeDaemon {
	t.Helper()
	f := &fakeDaemon{socket: filepath.Join(shortDir(t), "s")}
	f.answer = func(context.Context, proto.Message) (proto.Message, error) { return nil, nil }
	f.streamEnd = func(context.Context) error { return nil }
	return f
}

// start serves until the test ends.
func (f *fakeDaemon) start(t *testing.T, options ...grpc.ServerOption) *fakeDaemon {
	t.Helper()
	listener, err := net.Listen("unix", f.socket)
	if err != nil {
		t.Fatal(err)
	}
	f.serve(t, listener, options...)
	return f
}

func (f *fakeDaemon) serve(t *testing.T, listener net.Listener, options ...grpc.ServerOption) {
	t.Helper()
	server := grpc.NewServer(append(options, grpc.Creds(insecure.NewCredentials()))...)
	domtapv1.RegisterTabServiceServer(server, f)
	domtapv1.RegisterDomServiceServer(server, f)
	domtapv1.RegisterActionServiceServer(server, f)
	domtapv1.RegisterPageServiceServer(server, f)
	domtapv1.RegisterSessionServiceServer(server, f)
	domtapv1.RegisterStatsServiceServer(server, f)
	domtapv1.RegisterStorageServiceServer(server, f)
	domtapv1.RegisterSearchServiceServer(server, f)
	domtapv1.RegisterNetworkServiceServer(server, f)
	domtapv1.RegisterToolServiceServer(server, f)
	domtapv1.RegisterClusterServiceServer(server, f)
	domtapv1.RegisterDaemonServiceServer(server, f)
	healthv1.RegisterHealthServer(server, health.NewServer())
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-served; err != nil && !errors.Is(err, grpc.ErrServerStopped) { // stopped before it started to serve
			t.Errorf("the fake daemon: %v", err)
		}
	})
}

// last returns the latest request.
func (f *fakeDaemon) last(t *testing.T) proto.Message {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.requests) == 0 {
		t.Fatal("the daemon got no request")
	}
	return f.requests[len(f.requests)-1]
}

// handle records a request and returns its answer: the one of the test, or an empty one.
func handle[A proto.Message](ctx context.Context, f *fakeDaemon, request proto.Message, empty A) (A, error) {
	f.mu.Lock()
	f.requests = append(f.requests, request)
	f.mu.Unlock()
	answer, err := f.answer(ctx, request)
	if typed, ok := answer.(A); ok && answer != nil {
		return typed, err
	}
	return empty, err
}

// twoTabs returns the open tabs.
func twoTabs() []*domtapv1.Tab {
	return []*domtapv1.Tab{
		{Id: "t1", Url: "https://one.example/", Title: "One", Status: domtapv1.TabStatus_TAB_STATUS_READY, HttpStatus: 200},
		{Id: "t2", Url: "about:blank", Status: domtapv1.TabStatus_TAB_STATUS_LOADING},
	}
}

func (f *fakeDaemon) ListTabs(ctx context.Context, r *domtapv1.ListTabsRequest) (*domtapv1.ListTabsResponse, error) {
	return handle(ctx, f, r, &domtapv1.ListTabsResponse{Tabs: twoTabs()})
}

func (f *fakeDaemon) GetTab(ctx context.Context, r *domtapv1.GetTabRequest) (*domtapv1.GetTabResponse, error) {
	return handle(ctx, f, r, &domtapv1.GetTabResponse{Tab: twoTabs()[0]})
}

func (f *fakeDaemon) OpenTab(ctx context.Context, r *domtapv1.OpenTabRequest) (*domtapv1.OpenTabResponse, error) {
	return handle(ctx, f, r, &domtapv1.OpenTabResponse{Tab: twoTabs()[0]})
}

func (f *fakeDaemon) CloseTab(ctx context.Context, r *domtapv1.CloseTabRequest) (*domtapv1.CloseTabResponse, error) {
	return handle(ctx, f, r, &domtapv1.CloseTabResponse{})
}

func (f *fakeDaemon) Navigate(ctx context.Context, r *domtapv1.NavigateRequest) (*domtapv1.NavigateResponse, error) {
	return handle(ctx, f, r, &domtapv1.NavigateResponse{Tab: twoTabs()[0]})
}

func (f *fakeDaemon) GoBack(ctx context.Context, r *domtapv1.GoBackRequest) (*domtapv1.GoBackResponse, error) {
	return handle(ctx, f, r, &domtapv1.GoBackResponse{Tab: twoTabs()[0]})
}

func (f *fakeDaemon) GoForward(ctx context.Context, r *domtapv1.GoForwardRequest) (*domtapv1.GoForwardResponse, error) {
	return handle(ctx, f, r, &domtapv1.GoForwardResponse{Tab: twoTabs()[0]})
}

func (f *fakeDaemon) Reload(ctx context.Context, r *domtapv1.ReloadRequest) (*domtapv1.ReloadResponse, error) {
	return handle(ctx, f, r, &domtapv1.ReloadResponse{Tab: twoTabs()[0]})
}

func (f *fakeDaemon) SetRestore(ctx context.Context, r *domtapv1.SetRestoreRequest) (*domtapv1.SetRestoreResponse, error) {
	return handle(ctx, f, r, &domtapv1.SetRestoreResponse{Tab: twoTabs()[0]})
}

func (f *fakeDaemon) AnswerDialog(ctx context.Context, r *domtapv1.AnswerDialogRequest) (*domtapv1.AnswerDialogResponse, error) {
	return handle(ctx, f, r, &domtapv1.AnswerDialogResponse{
		Dialog: &domtapv1.Dialog{Type: domtapv1.DialogType_DIALOG_TYPE_CONFIRM, Message: "Sure?", Id: 1, Answer: domtapv1.DialogAnswer_DIALOG_ANSWER_ACCEPTED},
		Tab:    twoTabs()[1],
	})
}

func (f *fakeDaemon) ListTools(ctx context.Context, r *domtapv1.ListToolsRequest) (*domtapv1.ListToolsResponse, error) {
	return handle(ctx, f, r, &domtapv1.ListToolsResponse{})
}

func (f *fakeDaemon) CallTool(ctx context.Context, r *domtapv1.CallToolRequest) (*domtapv1.CallToolResponse, error) {
	return handle(ctx, f, r, &domtapv1.CallToolResponse{})
}

func (f *fakeDaemon) ListDownloads(ctx context.Context, r *domtapv1.ListDownloadsRequest) (*domtapv1.ListDownloadsResponse, error) {
	return handle(ctx, f, r, &domtapv1.ListDownloadsResponse{Downloads: []*domtapv1.Download{
		{Guid: "g", TabId: "t1", SuggestedFilename: "report.pdf", State: domtapv1.DownloadState_DOWNLOAD_STATE_COMPLETED, ReceivedBytes: 7, Path: "/d/report.pdf"},
		{Guid: "h", TabId: "t2", SuggestedFilename: "a\x1b[31m.zip", State: domtapv1.DownloadState_DOWNLOAD_STATE_CANCELED, TotalBytes: 9, Reason: "its tab was closed"},
	}})
}

func (f *fakeDaemon) CreateSession(ctx context.Context, r *domtapv1.CreateSessionRequest) (*domtapv1.CreateSessionResponse, error) {
	return handle(ctx, f, r, &domtapv1.CreateSessionResponse{Session: &domtapv1.Session{Id: "s1"}})
}

func (f *fakeDaemon) ListSessions(ctx context.Context, r *domtapv1.ListSessionsRequest) (*domtapv1.ListSessionsResponse, error) {
	return handle(ctx, f, r, &domtapv1.ListSessionsResponse{Sessions: []*domtapv1.Session{{Id: "default", Tabs: 2}, {Id: "work"}}})
}

func (f *fakeDaemon) UpdateSession(ctx context.Context, r *domtapv1.UpdateSessionRequest) (*domtapv1.UpdateSessionResponse, error) {
	return handle(ctx, f, r, &domtapv1.UpdateSessionResponse{Session: &domtapv1.Session{Id: r.GetSessionId()}})
}

func (f *fakeDaemon) CloseSession(ctx context.Context, r *domtapv1.CloseSessionRequest) (*domtapv1.CloseSessionResponse, error) {
	return handle(ctx, f, r, &domtapv1.CloseSessionResponse{})
}

func (f *fakeDaemon) GetStorageState(ctx context.Context, r *domtapv1.GetStorageStateRequest) (*domtapv1.GetStorageStateResponse, error) {
	return handle(ctx, f, r, &domtapv1.GetStorageStateResponse{State: &domtapv1.StorageState{}})
}

func (f *fakeDaemon) SetStorageState(ctx context.Context, r *domtapv1.SetStorageStateRequest) (*domtapv1.SetStorageStateResponse, error) {
	return handle(ctx, f, r, &domtapv1.SetStorageStateResponse{})
}

func (f *fakeDaemon) ListCookies(ctx context.Context, r *domtapv1.ListCookiesRequest) (*domtapv1.ListCookiesResponse, error) {
	return handle(ctx, f, r, &domtapv1.ListCookiesResponse{})
}

func (f *fakeDaemon) SetCookies(ctx context.Context, r *domtapv1.SetCookiesRequest) (*domtapv1.SetCookiesResponse, error) {
	return handle(ctx, f, r, &domtapv1.SetCookiesResponse{})
}

func (f *fakeDaemon) DeleteCookies(ctx context.Context, r *domtapv1.DeleteCookiesRequest) (*domtapv1.DeleteCookiesResponse, error) {
	return handle(ctx, f, r, &domtapv1.DeleteCookiesResponse{})
}

func (f *fakeDaemon) GetLocalStorage(ctx context.Context, r *domtapv1.GetLocalStorageRequest) (*domtapv1.GetLocalStorageResponse, error) {
	return handle(ctx, f, r, &domtapv1.GetLocalStorageResponse{})
}

func (f *fakeDaemon) EditLocalStorage(ctx context.Context, r *domtapv1.EditLocalStorageRequest) (*domtapv1.EditLocalStorageResponse, error) {
	return handle(ctx, f, r, &domtapv1.EditLocalStorageResponse{})
}

func (f *fakeDaemon) GetSessionStorage(ctx context.Context, r *domtapv1.GetSessionStorageRequest) (*domtapv1.GetSessionStorageResponse, error) {
	return handle(ctx, f, r, &domtapv1.GetSessionStorageResponse{})
}

func (f *fakeDaemon) EditSessionStorage(ctx context.Context, r *domtapv1.EditSessionStorageRequest) (*domtapv1.EditSessionStorageResponse, error) {
	return handle(ctx, f, r, &domtapv1.EditSessionStorageResponse{})
}

func (f *fakeDaemon) GetDom(ctx context.Context, r *domtapv1.GetDomRequest) (*domtapv1.GetDomResponse, error) {
	return handle(ctx, f, r, &domtapv1.GetDomResponse{})
}

func (f *fakeDaemon) GetCompact(ctx context.Context, r *domtapv1.GetCompactRequest) (*domtapv1.GetCompactResponse, error) {
	return handle(ctx, f, r, &domtapv1.GetCompactResponse{})
}

func (f *fakeDaemon) Find(ctx context.Context, r *domtapv1.FindRequest) (*domtapv1.FindResponse, error) {
	return handle(ctx, f, r, &domtapv1.FindResponse{})
}

func (f *fakeDaemon) WaitFor(ctx context.Context, r *domtapv1.WaitForRequest) (*domtapv1.WaitForResponse, error) {
	return handle(ctx, f, r, &domtapv1.WaitForResponse{})
}

func (f *fakeDaemon) FillForm(ctx context.Context, r *domtapv1.FillFormRequest) (*domtapv1.FillFormResponse, error) {
	return handle(ctx, f, r, &domtapv1.FillFormResponse{})
}

func (f *fakeDaemon) Interact(ctx context.Context, r *domtapv1.InteractRequest) (*domtapv1.InteractResponse, error) {
	return handle(ctx, f, r, &domtapv1.InteractResponse{})
}

func (f *fakeDaemon) ReadPage(ctx context.Context, r *domtapv1.ReadPageRequest) (*domtapv1.ReadPageResponse, error) {
	return handle(ctx, f, r, &domtapv1.ReadPageResponse{})
}

func (f *fakeDaemon) Screenshot(ctx context.Context, r *domtapv1.ScreenshotRequest) (*domtapv1.ScreenshotResponse, error) {
	return handle(ctx, f, r, &domtapv1.ScreenshotResponse{Image: []byte("picture")})
}

func (f *fakeDaemon) Pdf(ctx context.Context, r *domtapv1.PdfRequest) (*domtapv1.PdfResponse, error) {
	return handle(ctx, f, r, &domtapv1.PdfResponse{Pdf: []byte("%PDF")})
}

func (f *fakeDaemon) Extract(ctx context.Context, r *domtapv1.ExtractRequest) (*domtapv1.ExtractResponse, error) {
	return handle(ctx, f, r, &domtapv1.ExtractResponse{ResultJson: "{}"})
}

func (f *fakeDaemon) Batch(ctx context.Context, r *domtapv1.BatchRequest) (*domtapv1.BatchResponse, error) {
	return handle(ctx, f, r, &domtapv1.BatchResponse{})
}

func (f *fakeDaemon) Evaluate(ctx context.Context, r *domtapv1.EvaluateRequest) (*domtapv1.EvaluateResponse, error) {
	return handle(ctx, f, r, &domtapv1.EvaluateResponse{ResultJson: "1"})
}

func (f *fakeDaemon) ReadLog(ctx context.Context, r *domtapv1.ReadLogRequest) (*domtapv1.ReadLogResponse, error) {
	return handle(ctx, f, r, &domtapv1.ReadLogResponse{})
}

func (f *fakeDaemon) GetRequest(ctx context.Context, r *domtapv1.GetRequestRequest) (*domtapv1.GetRequestResponse, error) {
	return handle(ctx, f, r, &domtapv1.GetRequestResponse{})
}

func (f *fakeDaemon) ExportHar(ctx context.Context, r *domtapv1.ExportHarRequest) (*domtapv1.ExportHarResponse, error) {
	return handle(ctx, f, r, &domtapv1.ExportHarResponse{Har: []byte("{}")})
}

func (f *fakeDaemon) Audit(ctx context.Context, r *domtapv1.AuditRequest) (*domtapv1.AuditResponse, error) {
	return handle(ctx, f, r, &domtapv1.AuditResponse{Text: "# 0 errors, 0 warnings\n"})
}

func (f *fakeDaemon) RecordVideo(r *domtapv1.RecordVideoRequest, stream grpc.ServerStreamingServer[domtapv1.RecordVideoResponse]) error {
	answer, err := handle(stream.Context(), f, r, &domtapv1.RecordVideoResponse{Gif: []byte("GIF89a;"), Frames: 1, Last: true})
	if err != nil {
		return err
	}
	return stream.Send(answer)
}

func (f *fakeDaemon) GetStats(ctx context.Context, r *domtapv1.GetStatsRequest) (*domtapv1.GetStatsResponse, error) {
	return handle(ctx, f, r, &domtapv1.GetStatsResponse{})
}

func (f *fakeDaemon) Search(ctx context.Context, r *domtapv1.SearchRequest) (*domtapv1.SearchResponse, error) {
	return handle(ctx, f, r, &domtapv1.SearchResponse{Text: "# brave: no web results\n", Provider: "brave"})
}

func (f *fakeDaemon) ListSearchProviders(ctx context.Context, r *domtapv1.ListSearchProvidersRequest) (*domtapv1.ListSearchProvidersResponse, error) {
	return handle(ctx, f, r, &domtapv1.ListSearchProvidersResponse{})
}

func (f *fakeDaemon) AddRoute(ctx context.Context, r *domtapv1.AddRouteRequest) (*domtapv1.AddRouteResponse, error) {
	return handle(ctx, f, r, &domtapv1.AddRouteResponse{Route: &domtapv1.Route{Id: "r1"}})
}

func (f *fakeDaemon) ListRoutes(ctx context.Context, r *domtapv1.ListRoutesRequest) (*domtapv1.ListRoutesResponse, error) {
	return handle(ctx, f, r, &domtapv1.ListRoutesResponse{})
}

func (f *fakeDaemon) RemoveRoutes(ctx context.Context, r *domtapv1.RemoveRoutesRequest) (*domtapv1.RemoveRoutesResponse, error) {
	return handle(ctx, f, r, &domtapv1.RemoveRoutesResponse{})
}

func (f *fakeDaemon) GetCluster(ctx context.Context, r *domtapv1.GetClusterRequest) (*domtapv1.GetClusterResponse, error) {
	return handle(ctx, f, r, &domtapv1.GetClusterResponse{Cluster: "shop", NodeId: "n1"})
}

func (f *fakeDaemon) DrainNode(ctx context.Context, r *domtapv1.DrainNodeRequest) (*domtapv1.DrainNodeResponse, error) {
	return handle(ctx, f, r, &domtapv1.DrainNodeResponse{NodeId: r.GetNodeId()})
}

func (f *fakeDaemon) StartLivePage(ctx context.Context, r *domtapv1.StartLivePageRequest) (*domtapv1.StartLivePageResponse, error) {
	return handle(ctx, f, r, &domtapv1.StartLivePageResponse{Url: "http://127.0.0.1:7412/", Started: true})
}

func (f *fakeDaemon) StopLivePage(ctx context.Context, r *domtapv1.StopLivePageRequest) (*domtapv1.StopLivePageResponse, error) {
	return handle(ctx, f, r, &domtapv1.StopLivePageResponse{Stopped: true})
}

func (f *fakeDaemon) MoveSession(ctx context.Context, r *domtapv1.MoveSessionRequest) (*domtapv1.MoveSessionResponse, error) {
	return handle(ctx, f, r, &domtapv1.MoveSessionResponse{SessionId: r.GetSessionId(), FromNodeId: "n1", NodeId: r.GetNodeId()})
}

func (f *fakeDaemon) WatchDom(r *domtapv1.WatchDomRequest, stream grpc.ServerStreamingServer[domtapv1.WatchDomResponse]) error {
	if _, err := handle(stream.Context(), f, r, &domtapv1.WatchDomResponse{}); err != nil {
		return err
	}
	for _, message := range f.stream {
		if err := stream.Send(message); err != nil {
			return err
		}
	}
	return f.streamEnd(stream.Context())
}

// result is the result of a command line.
type result struct {
	code        int
	out, errors string
}

// command is a command line and its environment.
type command struct {
	env   map[string]string
	in    string
	ctx   context.Context
	start func(ctx context.Context, at endpoint.Places) error
	// terminal is the key of the terminal in which the command runs.
	terminal string
	// browsers holds the profile folders of the browsers of this machine.
	browsers []discovery.Folder
	// tried is the result of the attempt to start a browser.
	tried error
}

// run runs a command line in this process. Without a start function, it cannot start a daemon.
func (c command) run(t *testing.T, args ...string) result {
	t.Helper()
	env := func(name string) (string, bool) {
		value, set := c.env[name]
		return value, set
	}
	var out, complaints bytes.Buffer
	a := newApp(env, strings.NewReader(c.in), &out, &complaints)
	a.Launch = func(ctx context.Context, at endpoint.Places, _ []string) error {
		if c.start == nil {
			return errors.New("no daemon in this test")
		}
		return c.start(ctx, at)
	}
	a.TryBrowser = func(context.Context, browser.Config) error { return c.tried }
	a.Terminal = func() string { return c.terminal }
	a.Running = &discovery.Finder{ReadFile: os.ReadFile, Stat: os.Stat, Dial: new(net.Dialer).DialContext, Folders: c.browsers}
	ctx := c.ctx
	if ctx == nil {
		ctx = t.Context()
	}
	code := a.Run(ctx, newRoot(a, args...), args)
	return result{code, out.String(), complaints.String()}
}

// at returns a command that finds the daemon and its second tab through the environment.
func (f *fakeDaemon) at() command {
	return command{env: map[string]string{"DOMTAP_ADDR": "unix://" + f.socket, "DOMTAP_TAB": "t2"}}
}

// shortDir returns a directory whose path is short enough for a socket, unlike the path of t.TempDir.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "domtap")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
