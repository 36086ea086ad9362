// Command democluster shows a cluster of three daemons on this machine. A watch continues when the node that it is connected to is killed,
// and when the node that has its tab is killed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc/status"

	"github.com/domtap/domtap/client"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// limit limits the duration of the demo.
const limit = 3 * time.Minute

func main() {
	program := flag.String("domtap", "bin/domtap-cluster", "the program, built with -tags cluster")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := show(ctx, *program, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "democluster:", err)
		os.Exit(1)
	}
}

// page changes twice a second and reads its cookie.
func page(w http.ResponseWriter, r *http.Request) {
	who := "stranger"
	if c, err := r.Cookie("name"); err == nil {
		who = c.Value
	}
	if r.URL.Path == "/login" {
		http.SetCookie(w, &http.Cookie{Name: "name", Value: "Ada", Path: "/"})
	}
	_, _ = fmt.Fprintf(w, `<!doctype html><title>Clock</title><button>Hello %s</button><button id=n>0</button>
		<script>let n = 0; setInterval(() => { document.querySelector("#n").textContent = "tick " + ++n }, 500)</script>`, who)
}

// stage holds the state of the demo.
type stage struct {
	out     io.Writer
	began   time.Time
	cluster *cluster
}

// say prints a line with the time since the start.
func (s *stage) say(format string, args ...any) {
	_, _ = fmt.Fprintf(s.out, "%5.1f s  %s\n", time.Since(s.began).Seconds(), fmt.Sprintf(format, args...))
}

// show runs the demo.
func show(ctx context.Context, program string, out io.Writer) (err error) {
	site := httptest.NewServer(http.HandlerFunc(page))
	defer site.Close()
	s := &stage{out: out, began: time.Now()}
	if s.cluster, err = newCluster(program); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.cluster.close()) }()
	s.say("starting three daemons; each has a browser and a NATS server")
	if err := s.cluster.startAll(ctx); err != nil {
		return err
	}
	tab, home, err := s.open(ctx, site.URL)
	if err != nil {
		return err
	}
	var others []*node
	for _, n := range s.cluster.nodes {
		if n != home {
			others = append(others, n)
		}
	}
	s.say("tab %s of session demo is on %s; a client watches it through %s", tab, home.id, others[0].id)
	return s.watch(ctx, tab, home, others)
}

// open opens the tab and finds its node.
func (s *stage) open(ctx context.Context, url string) (tab string, home *node, err error) {
	c, err := s.cluster.connect(ctx, s.cluster.nodes...)
	if err != nil {
		return "", nil, err
	}
	defer c.Close() // the connection was only used for calls
	made, err := c.Sessions.CreateSession(ctx, &domtapv1.CreateSessionRequest{SessionId: "demo"})
	if err != nil {
		return "", nil, err
	}
	opened, err := c.Tabs.OpenTab(ctx, &domtapv1.OpenTabRequest{SessionId: "demo", Url: url + "/login", Restore: true})
	if err != nil {
		return "", nil, err
	}
	tab = opened.GetTab().GetId()
	_, err = c.Tabs.Navigate(ctx, &domtapv1.NavigateRequest{TabId: tab, Url: url + "/"})
	for _, n := range s.cluster.nodes {
		if strings.HasPrefix(made.GetSession().GetDownloadDir(), n.dir) {
			home = n
		}
	}
	if home == nil && err == nil {
		err = errors.New("no node has the session")
	}
	return tab, home, err
}

// perform performs an act. It returns the time at which it killed a node, or the zero time.
func (s *stage) perform(ctx context.Context, one act) (killed time.Time, err error) {
	s.say("%s", one.say)
	if one.victim == nil {
		return time.Time{}, s.cluster.start(ctx, one.start)
	}
	one.victim.kill()
	return time.Now(), nil
}

// watch follows the tab and kills nodes at the same time. The client knows only the nodes that do not have the tab.
func (s *stage) watch(ctx context.Context, tab string, home *node, others []*node) error {
	c, err := s.cluster.connect(ctx, others...)
	if err != nil {
		return err
	}
	defer c.Close() // the connection ends with the process
	acts := []act{
		{after: 4, say: "kill -9 " + others[0].id + ", the node that the client is connected to", victim: others[0]},
		{after: 4, say: "starting " + others[0].id + " again", start: others[0]},
		{after: 4, say: "kill -9 " + home.id + ", the node that has the tab: the others wait until its lease is over", victim: home},
	}
	// killed is the time when a node was killed. broken reports that the stream broke after that. Messages sent before can still arrive.
	seen, killed, broken := 0, time.Time{}, false
	lost := func(cause error, _ time.Duration) {
		if !broken {
			s.say("the stream broke: %s", status.Convert(cause).Message())
		}
		broken = true
	}
	for update, err := range c.Tab(tab).Follow(ctx, client.FollowOptions{Lost: lost}) {
		if err != nil {
			return err
		}
		reason := update.Message.GetResync().GetReason()
		if update.Message.GetDiff() == nil && reason == "" && update.Message.GetSnapshot() == nil {
			continue
		}
		switch {
		case broken:
			s.say("the watch goes on after %.1f s, at %s, %s", time.Since(killed).Seconds(), update.State.GetUrl(), what(update, reason))
			killed, broken = time.Time{}, false
			if len(acts) == 0 {
				s.say("the page says %q: the session came back with its cookie", greeting(update.State))
				return nil
			}
		case !killed.IsZero():
			continue
		default:
			s.say("  %s", what(update, reason))
		}
		if seen++; len(acts) > 0 && seen%acts[0].after == 0 {
			if killed, err = s.perform(ctx, acts[0]); err != nil {
				return err
			}
			acts = acts[1:]
		}
	}
	return errors.New("the tab was closed")
}

// act is an action after a number of further updates.
type act struct {
	after         int
	say           string
	victim, start *node
}

// what describes an update.
func what(u *client.Update, reason string) string {
	texts := []string{}
	for _, e := range u.State.GetElements() {
		texts = append(texts, e.GetText())
	}
	kind := "a diff"
	if reason != "" {
		kind = "the whole page, because of " + reason
	} else if u.Message.GetSnapshot() != nil {
		kind = "the whole page"
	}
	return fmt.Sprintf("%s: %s", kind, strings.Join(texts, " · "))
}

// greeting returns the text of the page's first element.
func greeting(state *domtapv1.GetDomResponse) string {
	if all := state.GetElements(); len(all) > 0 {
		return all[0].GetText()
	}
	return ""
}
