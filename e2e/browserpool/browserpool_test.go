package browserpool

import (
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/testenv"
)

// limit limits every wait of a test.
const limit = testenv.Patience

// site serves pages that report their cookies and the browser's user agent, and a page that changes periodically.
func site() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"/login": func(w http.ResponseWriter, r *http.Request) {
			http.SetCookie(w, &http.Cookie{Name: "id", Value: r.FormValue("as"), HttpOnly: true, Path: "/", SameSite: http.SameSiteLaxMode})
			testenv.HTML(`<title>In</title><script>localStorage.setItem("theme", "dark")</script><button>Out</button>`)(w, r)
		},
		"/": func(w http.ResponseWriter, r *http.Request) {
			who := "stranger"
			if c, err := r.Cookie("id"); err == nil {
				who = c.Value
			}
			testenv.HTML(`<title>`+who+` with `+r.UserAgent()+`</title><button>Go</button><script>document.title += ", theme " + localStorage.getItem("theme")</script>`)(w, r)
		},
		"/opens": testenv.HTML(`<title>Opens</title><button onclick="window.open('/')">Open</button>`),
		"/ticks": testenv.HTML(`<title>Ticks</title><button>0</button><script>
			let n = 0; setInterval(() => { document.querySelector("button").textContent = String(++n) }, 100)</script>`),
	}
}

// stage is a daemon with two browsers.
type stage struct {
	t *testing.T
	*testenv.RestartingDaemon
	url string
}

func newStage(t *testing.T, patience time.Duration) *stage {
	t.Helper()
	url := testenv.Pages(t, site())
	return &stage{t: t, url: url, RestartingDaemon: testenv.StartRestartingDaemon(t, testenv.RestartingConfig{Browsers: make([]browser.Config, 2), Patience: patience})}
}

// create creates a session with its own user agent, logs it in, and returns the tab.
func (st *stage) create(session string) *domtapv1.Tab {
	st.t.Helper()
	if _, err := st.Sessions.CreateSession(testenv.Within(st.t, limit), &domtapv1.CreateSessionRequest{SessionId: session,
		Settings: &domtapv1.SessionSettings{Emulation: &domtapv1.Emulation{UserAgent: "agent-of-" + session}}}); err != nil {
		st.t.Fatal(err)
	}
	return st.open(session, "/login?as="+session)
}

// open opens a tab in a session. If the error asks to wait for the browser, open retries.
func (st *stage) open(session, path string) *domtapv1.Tab {
	st.t.Helper()
	ctx := testenv.Within(st.t, limit)
	for {
		opened, err := st.Tabs.OpenTab(ctx, &domtapv1.OpenTabRequest{SessionId: session, Url: st.url + path})
		if err == nil {
			return opened.GetTab()
		}
		st.lost(err)
		if ctx.Err() != nil {
			st.t.Fatal(err)
		}
		if err := st.BrowserPool.Ready(ctx, session); err != nil {
			st.t.Fatal(err)
		}
	}
}

// lost checks that an error reports the loss of the browser.
func (st *stage) lost(err error) {
	st.t.Helper()
	if status.Code(err) != codes.Unavailable || testenv.Reason(err) != "PAGE_LOST" {
		st.t.Fatalf("the error is %v (%s)", err, testenv.Reason(err))
	}
}

// session returns a session as ListSessions reports it.
func (st *stage) session(id string) *domtapv1.Session {
	st.t.Helper()
	list, err := st.Sessions.ListSessions(testenv.Within(st.t, limit), new(domtapv1.ListSessionsRequest))
	if err != nil {
		st.t.Fatal(err)
	}
	for _, s := range list.GetSessions() {
		if s.GetId() == id {
			return s
		}
	}
	st.t.Fatalf("there is no session %s", id)
	return nil
}

// watch reads a stream until it ends, and delivers its error. It returns when the stream has started.
func (st *stage) watch(tab string) (messages <-chan *domtapv1.WatchDomResponse, ended <-chan error) {
	st.t.Helper()
	stream, err := st.Dom.WatchDom(testenv.Within(st.t, limit), &domtapv1.WatchDomRequest{TabId: tab})
	if err != nil {
		st.t.Fatal(err)
	}
	first, err := stream.Recv()
	if err != nil {
		st.t.Fatal(err)
	}
	out, end := make(chan *domtapv1.WatchDomResponse, 1<<16), make(chan error, 1)
	out <- first
	go func() { end <- relay(stream, out) }()
	return out, end
}

func relay(stream grpc.ServerStreamingClient[domtapv1.WatchDomResponse], out chan<- *domtapv1.WatchDomResponse) error {
	for {
		m, err := stream.Recv()
		if err != nil {
			return err
		}
		out <- m
	}
}

// copied waits until the pool of browsers has copied the cookies of a session.
func (st *stage) copied(session string) {
	st.t.Helper()
	ctx := testenv.Within(st.t, limit)
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for st.BrowserPool.CopiedCookies(session) == 0 {
		select {
		case <-look.C:
		case <-ctx.Done():
			st.t.Fatalf("the cookies of %s are not copied", session)
		}
	}
}

// TestDeadBrowserIsRestartedAndOthersGoOn kills one of two browsers while streams are active.
func TestDeadBrowserIsRestartedAndOthersGoOn(t *testing.T) {
	t.Parallel()
	st := newStage(t, 0)
	ctx := testenv.Within(t, limit)
	hit := st.create("hit") // the first browser has the default session, so the second browser gets this one
	if !strings.HasPrefix(hit.GetId(), "b1-") {
		t.Fatalf("the tab is %s", hit.GetId())
	}
	spared := st.open("", "/ticks")
	if strings.Contains(spared.GetId(), "-") {
		t.Fatalf("the tab is %s", spared.GetId())
	}
	st.copied("hit")
	unharmed, unharmedEnd := st.watch(spared.GetId())
	_, hitEnd := st.watch(hit.GetId())
	first := <-unharmed
	pid := st.Newest(1).PID()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	err := <-hitEnd
	st.lost(err)
	// Windows that pages open are reported when the click ends, as before.
	opens := st.open("hit", "/opens")
	acted, err := st.Actions.Interact(ctx, testenv.ClickOn(opens.GetId(), 0))
	if err != nil || acted.GetVerdict() != domtapv1.Verdict_VERDICT_NEW_TAB {
		t.Errorf("a click that opens a window: %v, %v", acted.GetVerdict(), err)
	}
	// The session is restored with its settings and cookies, but without its local storage.
	back := st.open("hit", "/")
	if want := "hit with agent-of-hit, theme null"; back.GetTitle() != want {
		t.Errorf("the session came back as %q, want %q", back.GetTitle(), want)
	}
	if _, err := st.Tabs.GetTab(ctx, &domtapv1.GetTabRequest{TabId: hit.GetId()}); status.Code(err) != codes.NotFound {
		t.Errorf("the old tab: %v", err)
	}
	if s := st.session("hit"); s.GetRestarts() != 1 || s.GetRestarting() || s.GetBrowser() != "b1" {
		t.Errorf("the session is %v", s)
	}
	if s := st.session("default"); s.GetRestarts() != 0 || s.GetBrowser() != "" {
		t.Errorf("the default session is %v", s)
	}
	st.ended(pid)
	// The other stream continues without a gap.
	last := first
	for range 5 {
		select {
		case m := <-unharmed:
			if d := m.GetDiff(); d != nil && d.GetFromRevision() != last.GetRevision() {
				t.Errorf("a diff from revision %d follows revision %d", d.GetFromRevision(), last.GetRevision())
			}
			last = m
		case err := <-unharmedEnd:
			t.Fatalf("the stream of the other browser ended: %v", err)
		case <-ctx.Done():
			t.Fatal("the stream of the other browser is silent")
		}
	}
	if up, restarts := st.BrowserPool.Up(), st.BrowserPool.Restarts(); up != 2 || restarts != 1 {
		t.Errorf("%d browsers run, %d were started again", up, restarts)
	}
}

// ended checks that all processes of a browser have ended.
func (st *stage) ended(browser int) {
	st.t.Helper()
	for _, pid := range find(st.t, st.State, "") {
		if group, err := syscall.Getpgid(pid); err == nil && group == browser {
			st.t.Errorf("process %d of browser %d is left", pid, browser)
		}
	}
}

// find returns the processes of a kind below a directory.
func find(t *testing.T, dir, kind string) (pids []int) {
	t.Helper()
	entries, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range entries {
		line, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(line), dir) && strings.Contains(string(line), kind) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
	}
	return pids
}

// TestABrowserThatHangsIsKilled suspends the processes of a browser, so that the browser cannot shut down. Calls and streams must end
// nevertheless, and another browser must replace it. First, the test kills its GPU process, which has no effect.
func TestABrowserThatHangsIsKilled(t *testing.T) {
	t.Parallel() // it mostly waits
	const patience = 8 * time.Second
	url := testenv.Pages(t, site())
	st := &stage{t: t, url: url, RestartingDaemon: testenv.StartRestartingDaemon(t, testenv.RestartingConfig{Browsers: make([]browser.Config, 1), Patience: patience})}
	ctx := testenv.Within(t, limit)
	tab := st.create("one")
	if tab.GetId() != "t1" {
		t.Errorf("the tab is %s", tab.GetId())
	}
	for _, pid := range find(t, st.State, "--type=gpu-process") {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	shot, err := st.Pages.Screenshot(ctx, &domtapv1.ScreenshotRequest{TabId: tab.GetId()})
	if err != nil || len(shot.GetImage()) == 0 {
		t.Fatalf("after the GPU process was killed: %v", err)
	}
	st.copied("one")
	_, ended := st.watch(tab.GetId())
	pid := st.Newest(0).PID()
	if err := syscall.Kill(-pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	reading := make(chan error, 1)
	go func() {
		_, err := st.Tabs.OpenTab(ctx, &domtapv1.OpenTabRequest{Url: url})
		reading <- err
	}()
	st.lost(<-ended)
	st.lost(<-reading)
	back := st.open("one", "/")
	if want := "one with agent-of-one, theme null"; back.GetTitle() != want {
		t.Errorf("the session came back as %q, want %q", back.GetTitle(), want)
	}
	st.ended(pid)
}
