//go:build cluster

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/domtap/domtap/client"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/cluster/embedded"
	"github.com/domtap/domtap/internal/server/rpc/listen"
	"github.com/domtap/domtap/internal/testenv"
)

const (
	// backBound limits how long a session with restore may be unavailable.
	backBound = 25 * time.Second
	// settledBound limits how long watches may differ from reads after a fault.
	settledBound = 25 * time.Second
)

// campaign is a cluster under faults, with its users and a record of their observations.
type campaign struct {
	st       *linked
	receipts *receipts
	users    []*user
	random   *rand.Rand
	js       jetstream.JetStream
	// dead contains the nodes to start again.
	dead []*node
	// outcomes maps each kind of fault to its outcome.
	outcomes map[string]*outcome
	// orders counts the orders that were answered with OK.
	orders int
}

// outcome holds the users' observations of one kind of fault.
type outcome struct {
	times int
	// away contains, for each fault, the longest time that a session with restore was unavailable.
	away []time.Duration
	seen map[string]int
	// wrong counts violated guarantees.
	wrong int
}

// TestRandomFaults injects random faults into a cluster in use. DOMTAP_CLUSTER_FAULTS is the number of faults; each kind is equally
// frequent. DOMTAP_SEED repeats the choices of a run. DOMTAP_CLUSTER_FAULT=SIGSTOP selects the kinds with that text in their names. The
// test prints a table.
//
// Six users act, read and watch all the time, four of them in sessions with restore. Each acts through two nodes concurrently, so that two
// owners of its session would be detected, and switches nodes after UNAVAILABLE. The pages report the input that reaches them.
// Requirements:
//
//   - One owner: after input has reached a document that was loaded by the next owner, no input reaches an earlier document of the session.
//   - Nothing is lost or repeated: an order that was answered with OK was placed once, and no order was placed twice. A session with
//     restore keeps its cookie, is never unknown, and is unavailable for at most 25 seconds.
//   - The guarantees of WatchDom: diffs apply, revisions increase, each change of the epoch is announced, and after each fault each watch
//     converges to the state of a read.
//   - A node that was cut off or stopped for longer than its lease detects this.
func TestRandomFaults(t *testing.T) {
	faults, err := strconv.Atoi(os.Getenv("DOMTAP_CLUSTER_FAULTS"))
	if err != nil {
		t.Skip("a fault takes half a minute: set DOMTAP_CLUSTER_FAULTS to how many")
	}
	seed := rand.Uint64()
	if n, err := strconv.ParseUint(os.Getenv("DOMTAP_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("DOMTAP_CLUSTER_FAULTS=%d DOMTAP_SEED=%d", faults, seed)
	c := newCampaign(t, rand.New(rand.NewPCG(seed, 1)))
	ctx, cancel := context.WithCancel(t.Context())
	var working sync.WaitGroup
	for _, u := range c.users {
		working.Go(func() { u.act(ctx, u.first) })
		working.Go(func() { u.act(ctx, u.first+1) })
		working.Go(func() { u.read(ctx) })
		working.Go(func() { u.watch(ctx) })
	}
	var deck []kind
	for n := range faults {
		if len(deck) == 0 {
			deck = slices.DeleteFunc(slices.Clone(kinds), func(k kind) bool { return !strings.Contains(k.name, os.Getenv("DOMTAP_CLUSTER_FAULT")) })
			c.random.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
		}
		one := deck[0]
		deck = deck[1:]
		c.once(n, one)
		if t.Failed() && os.Getenv("DOMTAP_CLUSTER_GO_ON") == "" {
			break
		}
	}
	cancel()
	working.Wait()
	c.report(t.Output())
}

// newCampaign starts the cluster and the sessions.
func newCampaign(t *testing.T, random *rand.Rand) *campaign {
	t.Helper()
	c := &campaign{receipts: newReceipts(), random: random, outcomes: map[string]*outcome{}}
	c.st = newLinked(t, c.receipts.pages())
	token, err := listen.ReadToken(c.st.clusterToken)
	if err != nil {
		t.Fatal(err)
	}
	client := embedded.Client{Name: "recorder", Secret: embedded.Secret(token)}
	for _, at := range c.st.nats {
		client.URLs = append(client.URLs, "nats://"+at)
	}
	conn, err := embedded.Connect(testenv.Within(t, limit), client)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	if c.js, err = jetstream.New(conn); err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		u := &user{c: c, session: fmt.Sprintf("s%d", i), restore: i < 4, first: i, seen: map[string]int{}, news: make(chan struct{}), done: time.Now()}
		if err := u.open(testenv.Within(t, limit), c.callers(i).use()); err != nil {
			t.Fatal(err)
		}
		c.users = append(c.users, u)
		if u.restore {
			home := c.st.home(c.st.nodes[0], u.session)
			testenv.Await(t, "the login is saved", func() bool {
				return home.logged(`msg="a session was saved" session=` + u.session + ` tabs=1 cookies=1`)
			})
		}
	}
	return c
}

// callers returns clients that start at the node with the given number.
func (c *campaign) callers(first int) *callers {
	all := &callers{}
	for i := range c.st.nodes {
		var order []*node
		for j := range c.st.nodes {
			order = append(order, c.st.nodes[(first+i+j)%len(c.st.nodes)])
		}
		all.all = append(all.all, c.st.client(order...))
	}
	return all
}

func (c *campaign) debugf(format string, args ...any) {
	if os.Getenv("DOMTAP_CLUSTER_LOG") != "" {
		fmt.Fprintf(os.Stderr, "%s "+format+"\n", append([]any{time.Now().UTC().Format("15:04:05.000")}, args...)...)
	}
}

// once injects one fault and then checks the requirements.
func (c *campaign) once(n int, k kind) {
	c.st.t.Helper()
	for _, u := range c.users {
		u.mark()
	}
	began := time.Now()
	c.debugf("fault %d: %s", n, k.name)
	fault := k.inject(c)
	if fault.lasts > 0 {
		rest(c.st.t.Context(), fault.lasts)
	}
	if fault.heal(); fault.fenced != nil {
		testenv.Await(c.st.t, "the node knows that it was cut off", func() bool {
			return fault.fenced.loggedSince(fault.mark, "this node was cut off from the cluster")
		})
	}
	wrong := c.awaitUsers(began)
	c.revive()
	wrong = append(wrong, c.settle()...)
	away := c.note(k, wrong)
	c.st.t.Logf("%d. %s (%s): away for %v, all well after %v", n+1, k.name, fault.what, away.Round(10*time.Millisecond), time.Since(began).Round(10*time.Millisecond))
	for _, what := range wrong {
		c.st.t.Errorf("%d. %s (%s): %s", n+1, k.name, fault.what, what)
	}
}

// awaitUsers waits until all users of sessions with restore have acted since the end of the fault.
func (c *campaign) awaitUsers(began time.Time) (wrong []string) {
	over := time.Now()
	for _, u := range c.users {
		if !u.restore {
			continue
		}
		testenv.Await(c.st.t, "session "+u.session+" is back", func() bool { return u.actedSince(over) })
		if away, _ := u.outage(); away > backBound {
			wrong = append(wrong, fmt.Sprintf("lost: session %s was away for %v, of %v since the fault", u.session, away, time.Since(began)))
		}
	}
	return wrong
}

// revive starts the dead nodes and waits until all NATS servers are up to date again.
func (c *campaign) revive() {
	c.st.t.Helper()
	for _, n := range c.dead {
		n.run()
	}
	c.dead = nil
	for _, n := range c.st.nodes {
		n.ready()
	}
	for _, stream := range []string{"KV_domtap_nodes", "KV_domtap_sessions", "KV_domtap_tabs", "KV_domtap_state", "domtap_log"} {
		testenv.Await(c.st.t, "all servers have the stream "+stream, func() bool {
			info, err := c.info(stream)
			return err == nil && info.Cluster != nil && info.Cluster.Leader != "" && len(info.Cluster.Replicas) == 2 &&
				!slices.ContainsFunc(info.Cluster.Replicas, func(p *jetstream.PeerInfo) bool { return p.Offline || !p.Current })
		})
	}
}

// info returns the stream info of NATS.
func (c *campaign) info(stream string) (*jetstream.StreamInfo, error) {
	ctx, cancel := context.WithTimeout(c.st.t.Context(), time.Second)
	defer cancel()
	s, err := c.js.Stream(ctx, stream)
	if err != nil {
		return nil, err
	}
	return s.Info(ctx)
}

// settle pauses the users and returns the violations.
func (c *campaign) settle() (wrong []string) {
	c.st.t.Helper()
	for _, u := range c.users {
		u.working.Lock()
		defer u.working.Unlock()
	}
	through := c.callers(c.random.IntN(3)).use()
	for _, u := range c.users {
		wrong = append(wrong, c.settleOne(u, through)...)
	}
	for _, order := range c.receipts.twice() {
		wrong = append(wrong, "doubled: order "+order)
	}
	return append(wrong, c.receipts.wrong()...)
}

// settleOne implements settle for one user. If the user's session has ended with its node, settleOne creates it again.
func (c *campaign) settleOne(u *user, through *client.Client) []string {
	c.st.t.Helper()
	ctx, cancel := context.WithTimeout(c.st.t.Context(), settledBound)
	defer cancel()
	var wrong []string
	err := u.converges(ctx, through)
	switch _, there := u.current(); {
	case err == nil || !there:
	case !u.restore && errors.Is(err, errUnread): // the session's page or node died
		u.mu.Lock()
		u.gone = err.Error()
		u.mu.Unlock()
	default:
		wrong = append(wrong, err.Error())
	}
	u.mu.Lock()
	c.orders += len(u.answered)
	u.mu.Unlock()
	wrong = append(wrong, u.check()...)
	if _, there := u.current(); !there {
		testenv.Await(c.st.t, "session "+u.session+" can be made again", func() bool { // once the cluster knows that the session's node died
			_, _ = through.Sessions.CloseSession(c.st.t.Context(), &domtapv1.CloseSessionRequest{SessionId: u.session}) // there may be none
			return u.open(testenv.Within(c.st.t, limit), through) == nil
		})
	}
	return wrong
}

// note adds a fault to the outcomes. It returns the longest time that a session with restore was unavailable.
func (c *campaign) note(k kind, wrong []string) (longest time.Duration) {
	o := c.outcomes[k.name]
	if o == nil {
		o = &outcome{seen: map[string]int{}}
		c.outcomes[k.name] = o
	}
	for _, u := range c.users {
		away, seen := u.outage()
		for what, n := range seen {
			o.seen[what] += n
		}
		if u.restore {
			longest = max(longest, away)
		}
	}
	o.times++
	o.wrong += len(wrong)
	o.away = append(o.away, longest)
	return longest
}

// report writes the table.
func (c *campaign) report(to io.Writer) {
	fmt.Fprintf(to, "%d orders were answered with ok; %d events of input\n", c.orders, c.receipts.inputs)
	table := tabwriter.NewWriter(to, 0, 0, 1, ' ', 0)
	fmt.Fprintln(table, "| fault\t| times\t| back after: median, max\t| lost or doubled\t| what clients saw\t|")
	fmt.Fprintln(table, "|---\t|---\t|---\t|---\t|---\t|")
	times := 0
	for _, name := range slices.Sorted(maps.Keys(c.outcomes)) {
		o := c.outcomes[name]
		times += o.times
		slices.Sort(o.away)
		fmt.Fprintf(table, "| %s\t| %d\t| %.1f s, %.1f s\t| %d\t| %s\t|\n", name, o.times, o.away[len(o.away)/2].Seconds(), o.away[len(o.away)-1].Seconds(), o.wrong,
			strings.Join(words(o.seen), ", "))
	}
	_ = table.Flush()
	fmt.Fprintf(to, "%d faults\n", times)
}
