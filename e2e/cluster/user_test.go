//go:build cluster

package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/domtap/domtap/client"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

const (
	// callLimit is the timeout of a call, which waits while a session moves or is restored.
	callLimit = 30 * time.Second
	// pauseOfUsers is the pause of a user between two calls.
	pauseOfUsers = 150 * time.Millisecond
)

// user uses one session, with clients that act, read and watch. Its fields record what it observes.
type user struct {
	c       *campaign
	session string
	// restore reports whether the tab is to be restored.
	restore bool
	// first is the number of the node that the acting clients call first. The reading and watching clients start at other nodes.
	first int

	// working is read-locked during each call, and write-locked while the user is paused.
	working sync.RWMutex

	mu  sync.Mutex
	tab string
	// orders counts the attempts. answered contains the orders that were answered with OK since the last check.
	orders   int
	answered []string
	// began and done are the start and end times of the last order that was answered with OK.
	began, done time.Time
	// away is the longest time without an OK since mark.
	away time.Duration
	// gone is the reason why the session no longer exists.
	gone string
	// seen counts errors by description.
	seen map[string]int
	// wrong contains the violations.
	wrong []string
	// followed is the state of the watch. news is closed and replaced with each new state.
	followed *domtapv1.GetDomResponse
	news     chan struct{}
	// rewatch ends the watch, which then starts again.
	rewatch context.CancelFunc
}

// open creates the session with its login and its tab.
func (u *user) open(ctx context.Context, through *client.Client) error {
	if _, err := through.Sessions.CreateSession(ctx, &domtapv1.CreateSessionRequest{SessionId: u.session}); err != nil {
		return err
	}
	opened, err := through.Tabs.OpenTab(ctx, &domtapv1.OpenTabRequest{SessionId: u.session, Url: u.c.st.url + "/login?as=" + u.session, Restore: u.restore})
	if err != nil {
		return err
	}
	tab := opened.GetTab().GetId()
	if _, err := through.Tabs.Navigate(ctx, &domtapv1.NavigateRequest{TabId: tab, Url: u.c.st.url + "/orders/" + u.session}); err != nil {
		return err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.tab, u.gone, u.followed = tab, "", nil
	if u.rewatch != nil {
		u.rewatch()
	}
	return nil
}

// current returns the tab, if there is one.
func (u *user) current() (tab string, ok bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.tab, u.gone == "" && u.tab != ""
}

// callers contains the clients for one purpose; each starts at a different node. After UNAVAILABLE, the next client is used, as behind a
// load balancer.
type callers struct {
	all []*client.Client
	now int
}

func (c *callers) use() *client.Client { return c.all[c.now%len(c.all)] }

// act places orders until ctx ends, through one node after another, starting with node first.
func (u *user) act(ctx context.Context, first int) {
	calls := u.c.callers(first)
	for ctx.Err() == nil {
		u.working.RLock()
		if tab, ok := u.current(); ok {
			u.order(ctx, calls, tab)
		}
		u.working.RUnlock()
		rest(ctx, pauseOfUsers)
	}
}

// rest waits for d, or until ctx ends.
func rest(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d): // the user thinks
	}
}

// order places one order.
func (u *user) order(ctx context.Context, calls *callers, tab string) {
	u.mu.Lock()
	u.orders++
	order := fmt.Sprintf("%s-%d", u.session, u.orders)
	u.mu.Unlock()
	bounded, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	began := time.Now()
	_, err := calls.use().Tab(tab).Act(bounded, client.Fill(client.Selector("#i"), order), client.Click(client.Selector("#go")))
	if ctx.Err() != nil {
		return
	}
	now := time.Now()
	u.mu.Lock()
	defer u.mu.Unlock()
	if err == nil {
		u.answered = append(u.answered, order)
		u.away = max(u.away, now.Sub(u.done))
		u.began, u.done = began, now
		if n := u.c.receipts.times(order); n > 1 { // a page on a busy machine may report late, so check counts again
			u.wrong = append(u.wrong, fmt.Sprintf("lost or doubled: order %s was answered with ok, and placed %d times", order, n))
		}
		return
	}
	u.failed("act", err)
	calls.now++
}

// failed records the error of a call. The caller holds the lock.
func (u *user) failed(what string, err error) {
	word := status.Code(err).String()
	if step, ok := errors.AsType[*client.StepError](err); ok {
		word = "step " + step.Reason
	} else if reason := client.Reason(err); reason != "" {
		word += " " + reason
	}
	u.seen[what+": "+word]++
	u.c.debugf("%s %s: %v", u.session, what, err)
	// A call to a page whose browser dies may report that the page was closed. That is allowed as long as the tab is known.
	if status.Code(err) != codes.NotFound && !errors.Is(err, client.ErrTabGone) {
		return
	}
	if u.restore {
		u.wrong = append(u.wrong, fmt.Sprintf("lost: %s to %s: %v", what, u.session, err))
		return
	}
	u.gone = err.Error()
}

// read reads the page until ctx ends.
func (u *user) read(ctx context.Context) {
	calls := u.c.callers(u.first + 1)
	for ctx.Err() == nil {
		u.working.RLock()
		if tab, ok := u.current(); ok {
			u.readOnce(ctx, calls, tab)
		}
		u.working.RUnlock()
		rest(ctx, 3*pauseOfUsers)
	}
}

func (u *user) readOnce(ctx context.Context, calls *callers, tab string) {
	bounded, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	got, err := calls.use().Dom.GetDom(bounded, &domtapv1.GetDomRequest{TabId: tab})
	if ctx.Err() != nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case err != nil:
		u.failed("read", err)
		calls.now++
	case has(got, "Hello stranger"):
		u.wrong = append(u.wrong, fmt.Sprintf("lost: %s shows %q", u.session, testenv.Texts(got)))
	}
}

// watch follows the tab until ctx ends.
func (u *user) watch(ctx context.Context) {
	through := u.c.callers(u.first + 2).use()
	for ctx.Err() == nil {
		tab, ok := u.current()
		if !ok {
			rest(ctx, pauseOfUsers)
			continue
		}
		once, cancel := context.WithCancel(ctx)
		u.mu.Lock()
		u.rewatch = cancel
		u.mu.Unlock()
		u.follow(once, through.Tab(tab))
		cancel()
		rest(ctx, pauseOfUsers)
	}
}

// follow runs one loop over Follow, which continues after lost streams.
func (u *user) follow(ctx context.Context, tab *client.Tab) {
	for update, err := range tab.Follow(ctx, client.FollowOptions{Lost: u.lost}) {
		if ctx.Err() != nil {
			return
		}
		u.mu.Lock()
		if err != nil {
			u.failed("watch", err)
		} else {
			u.take(update)
		}
		u.mu.Unlock()
	}
}

// lost records the end of a stream.
func (u *user) lost(cause error, _ time.Duration) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if errors.Is(cause, client.ErrMismatch) || status.Code(cause) == codes.Unknown {
		u.wrong = append(u.wrong, fmt.Sprintf("watch of %s: %v", u.session, cause))
	}
	u.failed("watch", cause)
}

// take applies one message of a watch. The caller holds the lock.
func (u *user) take(update *client.Update) {
	last, now, m := u.followed, update.State, update.Message
	if r := m.GetResync(); r != nil {
		u.seen["watch: resync "+r.GetReason()]++
	}
	told := m.GetSnapshot() != nil || m.GetResync() != nil
	switch {
	case last == nil || m.GetTabStatus() != nil:
	case last.GetEpoch() != now.GetEpoch() && !told:
		u.wrong = append(u.wrong, fmt.Sprintf("watch of %s: epoch %s after %s without a word: %v", u.session, now.GetEpoch(), last.GetEpoch(), m))
	case last.GetEpoch() == now.GetEpoch() && now.GetRevision() < last.GetRevision():
		u.wrong = append(u.wrong, fmt.Sprintf("watch of %s: revision %d after %d", u.session, now.GetRevision(), last.GetRevision()))
	case m.GetDiff() != nil && now.GetRevision() == last.GetRevision():
		u.wrong = append(u.wrong, fmt.Sprintf("watch of %s: a diff from revision %d to itself", u.session, now.GetRevision()))
	}
	u.followed = now
	close(u.news)
	u.news = make(chan struct{})
}

// ended reports whether an error means that a session without restore or its page has ended, because the renderer, browser or node died.
func ended(err error) bool {
	return client.Reason(err) == "PAGE_LOST" || strings.Contains(status.Convert(err).Message(), "the node that had it is gone")
}

// errUnread means that a session cannot be read after a fault.
var errUnread = errors.New("the session cannot be read")

// converges waits until the watch has the state of a read, while nothing changes.
func (u *user) converges(ctx context.Context, through *client.Client) error {
	tab, ok := u.current()
	if !ok {
		return nil
	}
	var differs string
	for {
		u.mu.Lock()
		state, news := u.followed, u.news
		u.mu.Unlock()
		got, err := through.Dom.GetDom(ctx, &domtapv1.GetDomRequest{TabId: tab})
		switch {
		case status.Code(err) == codes.NotFound || !u.restore && ended(err):
			return fmt.Errorf("%w: %s: %w", errUnread, u.session, err)
		case err != nil && ctx.Err() == nil:
			differs = err.Error()
		case ctx.Err() != nil:
			return fmt.Errorf("the watch of %s does not have what a read says: %s", u.session, differs)
		case !has(got, "Hello "+u.session):
			differs = fmt.Sprintf("the page shows %q", testenv.Texts(got))
		case state.GetEpoch() != got.GetEpoch():
			differs = fmt.Sprintf("epoch %q at revision %d, and %q at %d", state.GetEpoch(), state.GetRevision(), got.GetEpoch(), got.GetRevision())
		case testenv.Diff(testenv.WithoutBoxes(state.GetElements()), testenv.WithoutBoxes(got.GetElements())) == "":
			return nil
		default:
			differs = testenv.Diff(testenv.WithoutBoxes(state.GetElements()), testenv.WithoutBoxes(got.GetElements()))
		}
		select {
		case <-news:
		case <-time.After(pauseOfUsers): // the read may have been older than the watch
		case <-ctx.Done():
		}
	}
}

// mark resets the counts before a fault.
func (u *user) mark() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.away, u.done, u.seen = 0, time.Now(), map[string]int{}
}

// outage returns the longest time without an OK since mark, and the errors in this time.
func (u *user) outage() (away time.Duration, seen map[string]int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.away, maps.Clone(u.seen)
}

// actedSince reports whether an order that started after a time was answered with OK, or the session is gone.
func (u *user) actedSince(at time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.gone != "" || u.began.After(at)
}

// check returns the violations since the last call. The user is paused.
func (u *user) check() (all []string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, order := range u.answered {
		if n := u.c.receipts.times(order); n != 1 {
			u.wrong = append(u.wrong, fmt.Sprintf("lost or doubled: order %s was answered with ok, and placed %d times", order, n))
		}
	}
	all, u.wrong, u.answered = u.wrong, nil, nil
	return all
}

// words formats counts, the largest first.
func words(counts map[string]int) (text []string) {
	for _, what := range slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return counts[b] - counts[a] }) {
		text = append(text, fmt.Sprintf("%s (%d)", what, counts[what]))
	}
	return text
}
