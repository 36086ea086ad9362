// Package testenv runs domtap for tests and benchmarks as `domtap serve` does, in the test's own process: a real browser, the actors, and a
// gRPC server on a unix socket. Everything ends with the test. A browser process that outlives the test fails it.
//
// Pages can access only loopback. All other host names fail to resolve.
package testenv

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/server/rpc/listen"
	"github.com/domtap/domtap/internal/server/rules"
	"github.com/domtap/domtap/internal/sessions"
)

// Browser is a browser that records its pages, for oracles and benchmarks that need direct access to a page.
type Browser struct {
	*browser.Browser
	// State is the directory for all files of the browser.
	State string
	mu    sync.Mutex
	pages []*browser.Page
}

// NewPage implements actor.Browser.
func (r *Browser) NewPage(ctx context.Context, o driver.PageOptions) (driver.Page, error) {
	p, err := r.Browser.NewPage(ctx, o)
	if err == nil {
		r.mu.Lock()
		r.pages = append(r.pages, p.(*browser.Page))
		r.mu.Unlock()
	}
	return p, err
}

// Page returns the page that was opened last in a session.
func (r *Browser) Page(session string) *browser.Page {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range slices.Backward(r.pages) {
		if p.Session() == session {
			return p
		}
	}
	return nil
}

// Newest returns the page that was opened last.
func (r *Browser) Newest() *browser.Page {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pages[len(r.pages)-1]
}

// closeLimit limits how long anything that a test started may take to end.
const closeLimit = 20 * time.Second

// NeedBrowser returns the path of the browser. DOMTAP_CHROME overrides the one found. The test is skipped with go test -short, as in make
// check, and on a machine without a browser. scripts/install-chromium installs one.
func NeedBrowser(t testing.TB) (path string) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a browser, and the tests are short")
	}
	path, err := browser.Find(os.Getenv("DOMTAP_CHROME"), true)
	if err != nil {
		t.Skip(err)
	}
	return path
}

// StartBrowser starts a browser with additional flags. It skips a test for which no browser is available.
func StartBrowser(t testing.TB, flags ...string) *Browser {
	t.Helper()
	return startBrowser(t, browser.Config{Flags: flags})
}

func startBrowser(t testing.TB, cfg browser.Config) *Browser {
	t.Helper()
	state := t.TempDir()
	cfg = found(t, cfg, state)
	b, err := browser.Start(context.WithoutCancel(t.Context()), cfg)
	if err != nil {
		t.Fatal(err)
	}
	pid := b.PID()
	t.Cleanup(func() { // runs after the browser has ended, because the children of the headless shell do not name the directory
		if left := Group(pid); len(left) > 0 {
			t.Errorf("processes of the browser's group are left behind: %v", left)
		}
	})
	closeAtEnd(t, "the browser", state, b.Close)
	return &Browser{Browser: b, State: state}
}

// closeAtEnd closes something when the test ends, and fails the test if processes that name the state directory remain.
func closeAtEnd(t testing.TB, what, state string, end func(context.Context) error) {
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), closeLimit)
		defer cancel()
		if err := end(ctx); err != nil {
			t.Errorf("closing %s: %v", what, err)
		}
		if state == "" {
			return
		}
		if left := Processes(state); len(left) > 0 {
			t.Errorf("processes of %s are left behind: %q", what, left)
		}
	})
}

// found completes the configuration with the browser to start.
func found(t testing.TB, cfg browser.Config, state string) browser.Config {
	t.Helper()
	cfg.ChromePath, cfg.Headless, cfg.StateDir = NeedBrowser(t), true, state
	if cfg.Gate != nil { // the gate resolves host names
		return cfg
	}
	cfg.Flags = append([]string{"host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"}, cfg.Flags...)
	return cfg
}

// Processes lists the command lines of the running processes that name a directory. It works on Linux only; elsewhere it returns nil.
func Processes(dir string) []string {
	var found []string
	for _, line := range commandLines {
		if bytes.Contains(line, []byte(dir)) {
			found = append(found, string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
		}
	}
	return found
}

// PIDs lists the IDs of the processes that Processes lists.
func PIDs(dir string) []int {
	var found []int
	for pid, line := range commandLines {
		if bytes.Contains(line, []byte(dir)) {
			found = append(found, pid)
		}
	}
	return found
}

// commandLines yields the running processes and their command lines. Each argument ends with a NUL. The command line of a dying process is
// empty. It works on Linux only; elsewhere it yields nothing.
func commandLines(yield func(pid int, line []byte) bool) {
	paths, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is valid
	for _, path := range paths {
		line, err := os.ReadFile(path)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path))) // the pattern matches only numbers
		if err == nil && !yield(pid, line) {
			return
		}
	}
}

// StartPool starts a pool of actors on a browser.
func StartPool(t testing.TB, r *Browser) *tabpool.Pool {
	t.Helper()
	p := tabpool.New(r, tabpool.Config{})
	closeAtEnd(t, "the tabs", "", p.Close)
	return p
}

// Serve serves handlers on loopback and returns the base URL.
func Serve(t testing.TB, handler http.Handler) string {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL
}

// Daemon holds everything that `domtap serve` runs, and clients of its services.
type Daemon struct {
	t       testing.TB
	Browser *Browser
	Tabs    domtapv1.TabServiceClient
	Dom     domtapv1.DomServiceClient
	Actions domtapv1.ActionServiceClient
	Pages   domtapv1.PageServiceClient
	// Socket is the unix socket of the server.
	Socket string
	// Sessions creates and closes sessions.
	Sessions  domtapv1.SessionServiceClient
	Storage   domtapv1.StorageServiceClient
	Timelines domtapv1.TimelineServiceClient
	// Recordings creates recordings in a directory of the test, unless the server's settings name another directory.
	Recordings domtapv1.RecordingServiceClient
	// Network manages the routes of sessions.
	Network domtapv1.NetworkServiceClient
	// Tools calls the tools of pages.
	Tools domtapv1.ToolServiceClient
	// Stop ends the server as SIGTERM does.
	Stop context.CancelFunc
	// Session is the session of requests without a session.
	Session string
	// FreezeIdle immediately freezes the tabs that are not in use, as --freeze-idle does after its delay.
	FreezeIdle func()
	apart      bool // in a session of one test
	conn       grpc.ClientConnInterface
}

// StartDaemon starts a browser, the actors and a server on a unix socket.
func StartDaemon(t testing.TB, flags ...string) *Daemon {
	t.Helper()
	return StartConfigured(t, server.Config{AllowEval: true}, flags...)
}

// StartConfigured starts a daemon as StartDaemon does, with the given server settings.
func StartConfigured(t testing.TB, cfg server.Config, flags ...string) *Daemon {
	t.Helper()
	return StartWith(t, tabpool.Config{}, cfg, browser.Config{Flags: flags})
}

// StartWith starts a daemon as StartDaemon does, with the given settings of tabs, server and browser. testenv sets the path of the browser
// and its state directory.
func StartWith(t testing.TB, tabs tabpool.Config, cfg server.Config, with browser.Config) *Daemon {
	t.Helper()
	return StartWithFronts(t, tabs, cfg, with, func(*server.Server) {})
}

// StartWithFronts starts a daemon as StartWith does. It calls prepare before the server serves, so that prepare can attach fronts to it.
func StartWithFronts(t testing.TB, tabs tabpool.Config, cfg server.Config, with browser.Config, prepare func(*server.Server)) *Daemon {
	t.Helper()
	b := startBrowser(t, with)
	d := serve(t, b, tabs, cfg, prepare)
	d.Browser = b
	return d
}

// serve runs the actors and a server on a browser.
func serve(t testing.TB, b interface {
	driver.Browser
	sessions.Browser
}, tabs tabpool.Config, cfg server.Config, prepare func(*server.Server),
) *Daemon {
	t.Helper()
	if tabs.AllowURL == nil {
		tabs.AllowURL = rules.AllowURL
	}
	tabs.ReadAhead = true
	// A test that sets no deadline does not test deadlines, and a busy machine may take longer than a client would wait.
	tabs.NavigationTimeout = cmp.Or(tabs.NavigationTimeout, Patience)
	cfg.CallTimeout = cmp.Or(cfg.CallTimeout, Patience)
	pool := tabpool.New(b, tabs)
	cfg.Sessions = sessions.New(pool, b, sessions.Config{})
	if cfg.Recording.Dir == "" {
		cfg.Recording.Dir = t.TempDir()
	}
	server, err := server.New(pool, cfg)
	if err != nil {
		t.Fatal(err)
	}
	prepare(server)
	d := onSocket(t, server)
	d.FreezeIdle = func() { pool.FreezeIdle(0) }
	return d
}

// onSocket runs a server on a unix socket until the test ends, and connects to it.
func onSocket(t testing.TB, s *server.Server) *Daemon {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "s")
	listener, err := listen.Socket(t.Context(), socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, listener) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Errorf("the server ended with: %v", err)
		}
	})
	d := Dial(t, socket)
	d.Stop = stop
	return d
}

// Dial connects to a server that listens on a unix socket. The returned Daemon has no Browser.
func Dial(t testing.TB, socket string) *Daemon {
	t.Helper()
	conn, err := grpc.NewClient("unix:"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(server.MaxMessage)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	d := &Daemon{t: t, Socket: socket, Session: driver.DefaultSession, conn: conn}
	d.connect(conn)
	return d
}

// connect creates the clients of the services.
func (d *Daemon) connect(conn grpc.ClientConnInterface) {
	d.Tabs, d.Dom = domtapv1.NewTabServiceClient(conn), domtapv1.NewDomServiceClient(conn)
	d.Actions, d.Pages = domtapv1.NewActionServiceClient(conn), domtapv1.NewPageServiceClient(conn)
	d.Sessions, d.Network = domtapv1.NewSessionServiceClient(conn), domtapv1.NewNetworkServiceClient(conn)
	d.Storage, d.Timelines = domtapv1.NewStorageServiceClient(conn), domtapv1.NewTimelineServiceClient(conn)
	d.Recordings, d.Tools = domtapv1.NewRecordingServiceClient(conn), domtapv1.NewToolServiceClient(conn)
}

// Open opens a tab and returns its id.
func (d *Daemon) Open(url string) string {
	d.t.Helper()
	r, err := d.Tabs.OpenTab(d.t.Context(), &domtapv1.OpenTabRequest{Url: url})
	if err != nil {
		d.t.Fatal(err)
	}
	return r.GetTab().GetId()
}

// Show navigates a tab to a URL and returns the tab's ID. If tab is empty, Show opens one. A tab costs a renderer process. Therefore a test
// of many pages shows them one after the other in one tab, unless the tab is its subject.
func (d *Daemon) Show(tab, url string) string {
	d.t.Helper()
	if tab == "" {
		return d.Open(url)
	}
	if _, err := d.Tabs.Navigate(d.t.Context(), &domtapv1.NavigateRequest{TabId: tab, Url: url}); err != nil {
		d.t.Fatal(err)
	}
	return tab
}

// FirstControl returns the ref of the first element of a tab that a user can act on.
func (d *Daemon) FirstControl(tab string) uint32 {
	d.t.Helper()
	for _, e := range d.All(tab).GetElements() {
		if e.GetActionable() {
			return e.GetRef()
		}
	}
	d.t.Fatalf("tab %s has nothing to act on", tab)
	return 0
}

// All reads every element of a tab.
func (d *Daemon) All(tab string) *domtapv1.GetDomResponse {
	d.t.Helper()
	r, err := d.Dom.GetDom(d.t.Context(), &domtapv1.GetDomRequest{TabId: tab, FullSnapshot: true})
	if err != nil {
		d.t.Fatal(err)
	}
	return r
}
