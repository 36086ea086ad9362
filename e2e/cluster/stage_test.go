//go:build cluster

package cluster

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/domtap/domtap/client"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/cluster/natstest"
	"github.com/domtap/domtap/internal/server/rpc/listen"
	"github.com/domtap/domtap/internal/testenv"
)

// limit bounds each wait of a test.
const limit = testenv.Patience

// visits records the requests for pages of a site, with their cookies.
type visits struct {
	mu  sync.Mutex
	all []string
}

func (v *visits) add(r *http.Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.all = append(v.all, fmt.Sprintf("%s %s cookie=%q", time.Now().UTC().Format("15:04:05.000"), r.URL, r.Header.Get("cookie")))
}

func (v *visits) String() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return strings.Join(v.all, "\n")
}

// site returns a page that shows the user of its cookie, and a count.
func site(seen *visits) map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"/login": func(w http.ResponseWriter, r *http.Request) {
			seen.add(r)
			http.SetCookie(w, &http.Cookie{Name: "id", Value: r.FormValue("as"), Path: "/"})
			testenv.HTML(`<title>In</title><button>Out</button>`)(w, r)
		},
		"/": func(w http.ResponseWriter, r *http.Request) {
			seen.add(r)
			who := "stranger"
			if c, err := r.Cookie("id"); err == nil {
				who = c.Value
			}
			testenv.HTML(`<title>Shop</title><button id=b>Hello `+who+`</button><button id=n>0</button>
				<script>let n = 0; document.querySelector("#n").onclick = e => { e.target.textContent = String(++n) }</script>`)(w, r)
		},
	}
}

// node is one daemon.
type node struct {
	*testenv.Daemon
	t      *testing.T
	id     string
	state  string
	cmd    *exec.Cmd
	health healthv1.HealthClient
	ended  chan struct{}
	// address is the node's address for clients.
	address string
	// line is the command line.
	line []string

	mu  sync.Mutex
	log strings.Builder
}

// stage is a cluster of daemons. With newStage, it has three daemons, each with a NATS server.
type stage struct {
	t *testing.T
	// url is the URL of the site. program is the path of the daemon.
	url, program string
	// seen records the requests to the site.
	seen *visits
	// token and clusterToken are the token files of clients and of nodes.
	token, clusterToken string
	nodes               []*node
}

// newStage starts three daemons. more returns additional flags for the daemon with number n, counted from 1.
func newStage(t *testing.T, more ...func(n int) []string) *stage {
	t.Helper()
	st := newStageOf(t)
	at := natstest.Free(t, 12)
	for i := range 3 {
		flags := []string{
			"--cluster", "shop", "--cluster-token-file", st.clusterToken, "--cluster-listen", at[i], "--cluster-nats", at[3+i],
			"--cluster-route", at[6+i], "--cluster-routes", strings.Join(at[6:9], ","), "--cluster-store", filepath.Join(t.TempDir(), "nats"),
		}
		for _, f := range more {
			flags = append(flags, f(i+1)...)
		}
		st.start(st.program, fmt.Sprintf("n%d", i+1), at[9+i], flags...)
	}
	for _, n := range st.nodes {
		n.ready()
	}
	return st
}

// newStageOf creates the site and the token files of a cluster without daemons.
func newStageOf(t *testing.T) *stage {
	t.Helper()
	testenv.NeedBrowser(t)
	st := &stage{t: t, program: program(t), seen: &visits{}}
	st.url = testenv.Pages(t, site(st.seen))
	st.clusterToken = filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(st.clusterToken, []byte("a-token-of-the-cluster-of-forty-three-bytes\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	st.token = filepath.Join(t.TempDir(), "clients")
	if _, err := listen.Token(st.token); err != nil {
		t.Fatal(err)
	}
	return st
}

// start starts a daemon, which ends with the test.
func (st *stage) start(path, id, address string, flags ...string) {
	t := st.t
	t.Helper()
	state, err := os.MkdirTemp("", "domtap") // short, because it contains a socket
	if err != nil {
		t.Fatal(err)
	}
	line := append([]string{path, "serve", "--state-dir", state, "--socket", filepath.Join(state, "s"), "--listen", address, "--token-file", st.token,
		"--log-level", "debug", "--downloads-dir", filepath.Join(state, "downloads"), "--max-sessions", "20"}, flags...)
	if slices.Contains(flags, "--cluster") {
		line = append(line, "--cluster-node", id)
	}
	n := &node{t: t, id: id, state: state, address: address, line: line}
	n.run()
	t.Cleanup(func() {
		n.signal(syscall.SIGCONT) // the node's process may have been suspended
		n.signal(syscall.SIGKILL) // tests of a graceful stop stop the daemon themselves
		n.await()
		// The browser of a killed daemon ends by itself.
		testenv.Await(t, "no process is left of "+id, func() bool { return len(testenv.Processes(state)) == 0 })
		_ = os.RemoveAll(state)
	})
	st.nodes = append(st.nodes, n)
}

// run starts the process of a daemon, for the first time or again.
func (n *node) run() {
	n.t.Helper()
	cmd, ended := exec.Command(n.line[0], n.line[1:]...), make(chan struct{})
	cmd.Stderr = n
	if err := cmd.Start(); err != nil {
		n.t.Fatal(err)
	}
	go func() {
		defer close(ended)
		_ = cmd.Wait() // the test that ended it expects the error
	}()
	n.cmd, n.ended = cmd, ended
	socket := filepath.Join(n.state, "s")
	n.Daemon = testenv.Dial(n.t, socket)
	conn, err := grpc.NewClient("unix:"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() { _ = conn.Close() })
	n.health = healthv1.NewHealthClient(conn)
}

// Write receives the daemon's log.
func (n *node) Write(text []byte) (int, error) {
	if os.Getenv("DOMTAP_CLUSTER_LOG") != "" {
		fmt.Fprintf(os.Stderr, "%s %s", n.id, text)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.log.Write(text)
	return len(text), nil
}

// logged reports whether the daemon has logged something.
func (n *node) logged(text string) bool { return n.loggedSince(0, text) }

// mark returns the current length of the daemon's log, for loggedSince.
func (n *node) mark() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.log.Len()
}

// loggedSince reports whether the daemon has logged something after a mark.
func (n *node) loggedSince(mark int, text string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Contains(n.log.String()[mark:], text)
}

func (n *node) signal(s syscall.Signal) { _ = n.cmd.Process.Signal(s) } // the process may have ended

// await waits until the process has ended.
func (n *node) await() {
	select {
	case <-n.ended:
	case <-time.After(limit):
		n.t.Errorf("daemon %s does not end", n.id)
		n.signal(syscall.SIGKILL)
	}
}

// serving reports whether the node is healthy for calls about tabs.
func (n *node) serving() bool {
	r, err := n.health.Check(n.t.Context(), &healthv1.HealthCheckRequest{Service: domtapv1.TabService_ServiceDesc.ServiceName})
	return err == nil && r.GetStatus() == healthv1.HealthCheckResponse_SERVING
}

func (n *node) ready() {
	n.t.Helper()
	testenv.Await(n.t, n.id+" serves", func() bool {
		select {
		case <-n.ended:
			n.t.Fatalf("daemon %s has ended: %v", n.id, n.cmd.ProcessState)
		default:
		}
		return n.serving()
	})
}

// create creates, through any node, a session that is logged in and has a tab.
func (st *stage) create(through *node, session string, restore bool) string {
	st.t.Helper()
	ctx := testenv.Within(st.t, limit)
	if _, err := through.Sessions.CreateSession(ctx, &domtapv1.CreateSessionRequest{SessionId: session}); err != nil {
		st.t.Fatal(err)
	}
	opened, err := through.Tabs.OpenTab(ctx, &domtapv1.OpenTabRequest{SessionId: session, Url: st.url + "/login?as=" + session, Restore: restore})
	if err != nil {
		st.t.Fatal(err)
	}
	if _, err := through.Tabs.Navigate(ctx, &domtapv1.NavigateRequest{TabId: opened.GetTab().GetId(), Url: st.url + "/"}); err != nil {
		st.t.Fatal(err)
	}
	return opened.GetTab().GetId()
}

// home returns the node that has a session. It recognizes the node by the session's downloads folder.
func (st *stage) home(through *node, session string) *node {
	st.t.Helper()
	list, err := through.Sessions.ListSessions(testenv.Within(st.t, limit), new(domtapv1.ListSessionsRequest))
	if err != nil {
		st.t.Fatal(err)
	}
	for _, s := range list.GetSessions() {
		for _, n := range st.nodes {
			if s.GetId() == session && strings.HasPrefix(s.GetDownloadDir(), n.state) {
				return n
			}
		}
	}
	st.t.Fatalf("no node has session %s: %v", session, list)
	return nil
}

// client returns a client that knows the given nodes of the cluster.
func (st *stage) client(nodes ...*node) *client.Client {
	st.t.Helper()
	var addresses []string
	for _, n := range nodes {
		addresses = append(addresses, n.address)
	}
	c, err := client.Connect(st.t.Context(), client.Options{Address: strings.Join(addresses, ","), TokenFile: st.token})
	if err != nil {
		st.t.Fatal(err)
	}
	st.t.Cleanup(func() { _ = c.Close() })
	return c
}

// others returns all nodes of the cluster except one.
func (st *stage) others(excluded *node) []*node {
	return slices.DeleteFunc(slices.Clone(st.nodes), func(n *node) bool { return n == excluded })
}
