package replication

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/dom"
	clusterv1 "github.com/domtap/domtap/gen/domtap/cluster/v1"
	"github.com/domtap/domtap/internal/cluster/logs"
	"github.com/domtap/domtap/internal/cluster/registry"
	"github.com/domtap/domtap/internal/cluster/tablog"
)

var quiet = slog.New(slog.DiscardHandler)

// page is a tab of a node. A test changes its page.
type page struct {
	*actor.Replica
	mu      sync.Mutex
	watched []actor.WatchOptions
	fails   error
}

func newPage(id, epoch string) *page {
	return &page{Replica: actor.NewReplica(id, at(epoch, 1), actor.Options{})}
}

// at returns the state of a page that shows its revision.
func at(epoch string, revision uint64) actor.Published {
	e := &dom.Element{Ref: 1, Parent: dom.NoRef, Tag: "h1", Role: "heading", Text: fmt.Sprint(revision)}
	s := &dom.Snapshot{Epoch: epoch, Revision: revision, Document: 1, URL: "http://x/", Elements: dom.ListOf([]*dom.Element{e})}
	return actor.Published{Snapshot: s, Info: actor.Info{ID: "t", Status: actor.StatusReady, URL: s.URL}, Refs: 2}
}

func (p *page) Watch(_ context.Context, o actor.WatchOptions) (func(), error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fails != nil {
		return nil, p.fails
	}
	p.watched = append(p.watched, o)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.watched = p.watched[1:]
	}, nil
}

// watches returns the options of the page's watches.
func (p *page) watches() []actor.WatchOptions {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]actor.WatchOptions(nil), p.watched...)
}

// change publishes the next revision, in a new epoch unless epoch is empty.
func (p *page) change(epoch string) {
	s := p.Head().Snapshot
	if epoch == "" {
		epoch = s.Epoch
	}
	p.Publish(at(epoch, s.Revision+1))
}

// memory is a Log and a Transport in memory, with faults.
type memory struct {
	mu      sync.Mutex
	records []record
	last    uint64
	moved   chan struct{}
	// appends counts the appended records. keyframes counts the keyframes among them.
	appends, keyframes int
	// fault is called before each append. It returns whether the record is stored, and the error.
	fault func() (store bool, err error)
	// drop is called for each record. It reports whether followers miss the record.
	drop func() bool
	// owners maps nodes to their owners.
	owners map[string]*Owner
	down   map[string]bool
	// way is called before the answer to each question other than a renewal. Its error is a transport error.
	way func(ctx context.Context) error
}

type record struct {
	sequence uint64
	data     []byte
	missed   bool
}

func newMemory() *memory {
	return &memory{
		moved: make(chan struct{}), owners: map[string]*Owner{}, down: map[string]bool{}, way: func(context.Context) error { return nil },
		fault: func() (bool, error) { return true, nil }, drop: func() bool { return false },
	}
}

func (m *memory) Append(_ context.Context, _ string, data []byte, keyframe bool, after uint64) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	store, failed := m.fault()
	if !store {
		return 0, failed
	}
	newest := uint64(0)
	if len(m.records) > 0 {
		newest = m.records[len(m.records)-1].sequence
	}
	if after != newest {
		return 0, registry.ErrConflict
	}
	if keyframe {
		m.records = nil
		m.keyframes++
	}
	m.appends++
	m.last++
	m.records = append(m.records, record{m.last, data, m.drop()})
	close(m.moved)
	m.moved = make(chan struct{})
	return m.last, failed
}

func (m *memory) Last(context.Context, string) (uint64, []byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.records) == 0 {
		return 0, nil, logs.ErrGone
	}
	newest := m.records[len(m.records)-1]
	return newest.sequence, newest.data, nil
}

func (m *memory) Ask(ctx context.Context, node string, request []byte) ([]byte, error) {
	m.mu.Lock()
	owner, down, way := m.owners[node], m.down[node], m.way
	m.mu.Unlock()
	if owner == nil || down {
		return nil, errors.New("nobody answers")
	}
	var r clusterv1.InterestRequest
	if proto.Unmarshal(request, &r) == nil && !r.GetRenewal() && !r.GetOver() {
		if err := way(ctx); err != nil {
			return nil, err
		}
	}
	return owner.Answer(ctx, request), nil
}

func (m *memory) Follow(_ string, take func(uint64, []byte) error) Follower {
	return &follower{memory: m, take: take, known: make(chan uint64, 1)}
}

// follower applies the records that it does not miss. It applies missed records when it learns of later ones.
type follower struct {
	memory *memory
	take   func(uint64, []byte) error
	known  chan uint64
}

func (f *follower) Known(sequence uint64) {
	select {
	case f.known <- sequence:
	default:
	}
}

func (f *follower) Run(ctx context.Context) error {
	last, until := uint64(0), uint64(0)
	for {
		f.memory.mu.Lock()
		all, moved := append([]record(nil), f.memory.records...), f.memory.moved
		f.memory.mu.Unlock()
		for _, r := range all {
			if r.sequence <= last || r.missed && r.sequence > until {
				continue
			}
			last = r.sequence
			if err := f.take(r.sequence, r.data); errors.Is(err, logs.ErrRestart) {
				last, until = 0, max(until, r.sequence)
				break
			}
		}
		if last == 0 && len(all) > 0 && until >= all[len(all)-1].sequence && all[0].sequence <= until {
			continue // it starts over immediately
		}
		select {
		case <-moved:
		case n := <-f.known:
			until = max(until, n)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// owner creates a node with one tab.
func (m *memory) owner(t *testing.T, node string, p *page, token uint64, allowed func() bool) *Owner {
	t.Helper()
	o := NewOwner(t.Context(), OwnerConfig{
		Log: m, Allowed: allowed, Tab: func(id string) (Tab, uint64, error) {
			if id != p.ID() {
				return nil, 0, errors.New("no such tab")
			}
			return p, token, nil
		},
	})
	m.mu.Lock()
	m.owners[node] = o
	m.mu.Unlock()
	return o
}

// counts returns the numbers of appended records, of appended keyframes, and of records in the log now.
func (m *memory) counts() (appends, keyframes, now int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.appends, m.keyframes, len(m.records)
}

func always() bool { return true }

// open opens a copy of the tab t.
func open(t *testing.T, r *Replicas, owner string) (*Copy, func()) {
	t.Helper()
	c, release, err := r.Open(t.Context(), "t", owner)
	if err != nil {
		t.Fatal(err)
	}
	return c, release
}

// text returns the text of a copy.
func text(c *Copy) string {
	return firstText(c.Head())
}

func TestCopiesFollowAndEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, p := newMemory(), newPage("t", "a")
		o := m.owner(t, "n1", p, 1, always)
		replicas := NewReplicas(t.Context(), "n2/1", m, quiet)
		if n, _, _ := m.counts(); n != 0 || o.Published() != 0 {
			t.Error("a tab is published that nobody follows")
		}
		c, release := open(t, replicas, "n1")
		if text(c) != "1" {
			t.Errorf("the copy shows %s", text(c))
		}
		same, releaseOther := open(t, replicas, "n1")
		if same != c || replicas.Len() != 1 {
			t.Error("a node has two copies of one tab")
		}
		p.change("")
		p.change("")
		synctest.Wait()
		if n, _, _ := m.counts(); text(c) != "3" || n > 3 {
			t.Errorf("the copy shows %s after %d records", text(c), n)
		}
		p.change("b")
		synctest.Wait()
		if text(c) != "4" || c.Head().Snapshot.Epoch != "b" {
			t.Errorf("the copy shows %s of epoch %s", text(c), c.Head().Snapshot.Epoch)
		}
		release()
		synctest.Wait()
		if o.Published() != 1 {
			t.Error("it is not published though it is followed")
		}
		releaseOther()
		synctest.Wait()
		if o.Published() != 0 || len(p.watches()) != 0 || replicas.Len() != 0 {
			t.Error("it is published though nobody follows")
		}
		replicas.Close()
		o.Close()
	})
}

func TestWatchReturnsWithWhatThePageIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, p := newMemory(), newPage("t", "a")
		o := m.owner(t, "n1", p, 1, always)
		replicas := NewReplicas(t.Context(), "n2/1", m, quiet)
		c, release := open(t, replicas, "n1")
		p.change("")
		p.change("")
		stop, err := c.Watch(t.Context(), actor.WatchOptions{Structural: true, Attributes: []string{"id"}})
		if err != nil || text(c) != "3" {
			t.Errorf("after Watch the copy shows %s, %v", text(c), err)
		}
		if w := p.watches(); len(w) != 1 || !w[0].Structural || len(w[0].Attributes) != 1 {
			t.Errorf("the page is watched for %+v", w)
		}
		stop()
		time.Sleep(2 * Renewal)
		synctest.Wait()
		if w := p.watches(); len(w) != 1 || w[0].Structural {
			t.Errorf("after its release the page is watched for %+v", w)
		}
		p.fails = errors.New("the page hangs")
		if _, err := c.Watch(t.Context(), actor.WatchOptions{Notices: true}); err == nil {
			t.Error("a watch that the page refuses succeeded")
		}
		time.Sleep(2 * Silence)
		if c.Err() != nil {
			t.Errorf("the copy ended: %v", c.Err())
		}
		release()
		replicas.Close()
		o.Close()
	})
}

// TestEarlierNeedsDoNotCount makes two requests of one copy arrive in the wrong order.
func TestEarlierNeedsDoNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, p := newMemory(), newPage("t", "a")
		o := m.owner(t, "n1", p, 1, always)
		ask := func(order uint64, structural bool) {
			request, err := proto.Marshal(&clusterv1.InterestRequest{TabId: "t", Replica: "r", Order: order, Structural: structural})
			if err != nil {
				t.Fatal(err)
			}
			var reply clusterv1.InterestReply
			if err := proto.Unmarshal(o.Answer(t.Context(), request), &reply); err != nil || reply.GetError() != "" || reply.GetSequence() == 0 {
				t.Errorf("the answer is %v, %v", &reply, err)
			}
		}
		ask(2, true)
		ask(1, false)
		if w := p.watches(); len(w) != 1 || !w[0].Structural {
			t.Errorf("the page is watched for %+v", w)
		}
		ask(3, false)
		if w := p.watches(); len(w) != 1 || w[0].Structural {
			t.Errorf("the page is watched for %+v", w)
		}
		o.Close()
		if w := p.watches(); len(w) != 0 {
			t.Errorf("after the end the page is watched for %+v", w)
		}
	})
}

func TestCopiesOfSilentOwnersEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, p := newMemory(), newPage("t", "a")
		o := m.owner(t, "n1", p, 1, always)
		replicas := NewReplicas(t.Context(), "n2/1", m, quiet)
		if _, _, err := replicas.Open(t.Context(), "t", "nobody"); err == nil {
			t.Error("a tab of nobody was opened")
		}
		if _, _, err := replicas.Open(t.Context(), "other", "n1"); err == nil {
			t.Error("a tab was opened that the node has not")
		}
		c, release := open(t, replicas, "n1")
		m.mu.Lock()
		m.down["n1"] = true
		m.mu.Unlock()
		start := time.Now()
		<-c.Done()
		if took := time.Since(start); took > Silence+2*Renewal || c.Err() == nil {
			t.Errorf("it ended after %v with %v", took, c.Err())
		}
		release()
		time.Sleep(Expiry)
		synctest.Wait()
		if o.Published() != 0 {
			t.Error("interest that nobody renews does not end")
		}
		replicas.Close()
		o.Close()
	})
}

func TestClosedTabsEndTheirCopies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, p := newMemory(), newPage("t", "a")
		o := m.owner(t, "n1", p, 1, always)
		replicas := NewReplicas(t.Context(), "n2/1", m, quiet)
		c, release := open(t, replicas, "n1")
		p.End(nil)
		<-c.Done()
		if c.Err() != nil || c.Head().Info.Status != actor.StatusClosed {
			t.Errorf("the copy of a closed tab ended with %v", c.Err())
		}
		release()
		replicas.Close()
		o.Close()
	})
}

// TestCopiesOutliveAnElection makes the log refuse records for as long as an election may take, and then forever.
func TestCopiesOutliveAnElection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, p := newMemory(), newPage("t", "a")
		var stalled atomic.Bool
		m.fault = func() (bool, error) {
			if stalled.Load() {
				return false, registry.ErrUnavailable
			}
			return true, nil
		}
		o := m.owner(t, "n1", p, 1, always)
		replicas := NewReplicas(t.Context(), "n2/1", m, quiet)
		c, release := open(t, replicas, "n1")
		stalled.Store(true)
		p.change("")
		time.Sleep(Stall - 2*Renewal)
		synctest.Wait()
		if c.Err() != nil || text(c) != "1" {
			t.Errorf("while nothing is written, the copy shows %s and ended with %v", text(c), c.Err())
		}
		stalled.Store(false)
		time.Sleep(2 * Renewal)
		synctest.Wait()
		if text(c) != "2" {
			t.Errorf("after the election the copy shows %s", text(c))
		}
		stalled.Store(true)
		p.change("")
		start := time.Now()
		<-c.Done()
		if took := time.Since(start); took > Stall+2*Renewal {
			t.Errorf("a copy that stays behind ended after %v", took)
		}
		release()
		replicas.Close()
		o.Close()
	})
}

// busy is a Transport to an owner whose page is always ahead of its log, although the log advances.
type busy struct {
	*memory
	asked atomic.Uint64
}

func (b *busy) Ask(context.Context, string, []byte) ([]byte, error) {
	n := b.asked.Add(1)
	if n > 1 {
		n-- // the first question is answered once the log has the page
	}
	return proto.Marshal(&clusterv1.InterestReply{Sequence: n, Behind: true})
}

func TestCopiesOfBusyPagesLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		w := tablog.Writer{Token: 1}
		record, err := w.Keyframe(at("a", 1))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Append(t.Context(), "t", record, true, 0); err != nil {
			t.Fatal(err)
		}
		replicas := NewReplicas(t.Context(), "n2/1", &busy{memory: m}, quiet)
		c, release := open(t, replicas, "n1")
		time.Sleep(3 * Stall)
		if c.Err() != nil {
			t.Errorf("the copy ended with %v", c.Err())
		}
		release()
		replicas.Close()
	})
}

// TestStaleOwnersDoNotPublish takes the session over while the old owner still acts as the owner.
func TestStaleOwnersDoNotPublish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, before, now := newMemory(), newPage("t", "a"), newPage("t", "b")
		old := m.owner(t, "n1", before, 1, always)
		replicas := NewReplicas(t.Context(), "n3/1", m, quiet)
		c, release := open(t, replicas, "n1")
		taken := m.owner(t, "n2", now, 2, always)
		other, releaseOther := open(t, replicas, "n2")
		if other == c {
			t.Error("the copy of the old owner is that of the new one")
		}
		before.change("")
		now.change("")
		synctest.Wait()
		for range 3 {
			before.change("")
			synctest.Wait()
		}
		if other.Head().Snapshot.Epoch != "b" || text(other) != "2" {
			t.Errorf("the copy shows %s of epoch %s", text(other), other.Head().Snapshot.Epoch)
		}
		<-c.Done() // the old owner reports that it may not publish
		if c.Err() == nil {
			t.Error("the copy of the old owner ended without an error")
		}
		release()
		releaseOther()
		replicas.Close()
		old.Close()
		taken.Close()
	})
}

func TestOwnersWithoutALeaseDoNotPublish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, p := newMemory(), newPage("t", "a")
		var mu sync.Mutex
		lease := true
		o := m.owner(t, "n1", p, 1, func() bool {
			mu.Lock()
			defer mu.Unlock()
			return lease
		})
		replicas := NewReplicas(t.Context(), "n2/1", m, quiet)
		c, release := open(t, replicas, "n1")
		mu.Lock()
		lease = false
		mu.Unlock()
		before, _, _ := m.counts()
		p.change("")
		<-c.Done()
		if after, _, _ := m.counts(); after != before {
			t.Error("it published without a lease")
		}
		release()
		replicas.Close()
		o.Close()
	})
}

func TestKeyframesComeInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, p := newMemory(), newPage("t", "a")
		o := m.owner(t, "n1", p, 1, always)
		replicas := NewReplicas(t.Context(), "n2/1", m, quiet)
		_, release := open(t, replicas, "n1")
		for range 2*maxDeltas + 10 {
			p.change("")
			synctest.Wait()
		}
		if all, keyframes, now := m.counts(); keyframes != 3 || now > maxDeltas+1 {
			t.Errorf("%d keyframes in %d records, of which %d are left", keyframes, all, now)
		}
		time.Sleep(maxInterval + time.Second)
		synctest.Wait()
		if _, keyframes, _ := m.counts(); keyframes != 4 {
			t.Errorf("%d keyframes after a silence", keyframes)
		}
		release()
		replicas.Close()
		o.Close()
	})
}

// TestCopiesConverge changes a page while the log fails, stores records without an answer, and hides records from followers. The copy never
// goes back to an earlier state, and finally equals the page.
func TestCopiesConverge(t *testing.T) {
	for seed := range uint64(30) {
		synctest.Test(t, func(t *testing.T) {
			random, pauses := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 2))
			m, p := newMemory(), newPage("t", "a")
			healthy := false
			m.fault = func() (bool, error) {
				switch n := random.IntN(10); {
				case healthy || n < 6:
					return true, nil
				case n == 6:
					return true, registry.ErrUnknown
				case n == 7:
					return false, registry.ErrUnknown
				case n == 8:
					return false, registry.ErrConflict
				}
				return false, registry.ErrUnavailable
			}
			m.drop = func() bool { return random.IntN(4) == 0 }
			o := m.owner(t, "n1", p, 1, always)
			replicas := NewReplicas(t.Context(), "n2/1", m, quiet)
			c, release := open(t, replicas, "n1")
			newest := uint64(0)
			for range 200 {
				p.change("")
				time.Sleep(time.Duration(pauses.IntN(400)) * time.Millisecond)
				revision := c.Head().Snapshot.Revision
				if revision < newest || text(c) != fmt.Sprint(revision) {
					t.Fatalf("seed %d: the copy went from %d to %d and shows %s", seed, newest, revision, text(c))
				}
				newest = revision
			}
			m.mu.Lock()
			healthy = true
			m.mu.Unlock()
			time.Sleep(5 * Renewal)
			synctest.Wait()
			if want := p.Head().Snapshot.Revision; c.Head().Snapshot.Revision != want {
				t.Errorf("seed %d: the copy has revision %d, the page %d", seed, c.Head().Snapshot.Revision, want)
			}
			release()
			replicas.Close()
			o.Close()
		})
	}
}

// TestACopyOfALogThatBeginsAnewEnds empties the log, as a restart of all its servers does. The copy would mistake the next records for old
// ones.
func TestACopyOfALogThatBeginsAnewEnds(t *testing.T) {
	for _, epoch := range []string{"", "b"} {
		synctest.Test(t, func(t *testing.T) {
			m, p := newMemory(), newPage("t", "a")
			o := m.owner(t, "n1", p, 1, always)
			r := NewReplicas(t.Context(), "n2", m, slog.New(slog.DiscardHandler))
			c, release := open(t, r, "n1")
			for range 5 {
				p.change("")
				synctest.Wait()
			}
			m.mu.Lock()
			m.records, m.last = nil, 0
			m.mu.Unlock()
			p.change(epoch)
			select {
			case <-c.Done():
			case <-time.After((maxUnknownDocuments + 1) * Renewal):
				t.Fatal("the copy stays behind, and nobody notices")
			}
			if !apierr.Is(c.Err(), apierr.Lost) || !errors.Is(c.Err(), errRestarted) {
				t.Errorf("the copy ended with %v", c.Err())
			}
			release()
			c, release = open(t, r, "n1")
			if text(c) != firstText(p.Head()) {
				t.Errorf("the next copy shows %q, and the page is %q", text(c), firstText(p.Head()))
			}
			release()
			r.Close()
			o.Close()
		})
	}
}

// firstText returns the text of a page's first element.
func firstText(h *actor.Head) string {
	for e := range h.Snapshot.Elements.All() {
		return e.Text
	}
	return ""
}
