package cluster

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/domtap/domtap/internal/cluster/lease"
	"github.com/domtap/domtap/internal/cluster/ledger"
	"github.com/domtap/domtap/internal/cluster/placement"
	"github.com/domtap/domtap/internal/cluster/registry"
)

// watch monitors the other nodes. It ends lapsed leases and reassigns the sessions of nodes that are gone. Every node runs a watch;
// compare-and-set ensures that each change is made once. One goroutine uses it.
type watch struct {
	*Node
	observer lease.Observer
	// watched holds the leases that the observer tracks.
	watched map[string]bool
	// ended holds the leases that this node ended. It reassigns their sessions immediately, and so does the leading node. The other nodes
	// act only after the grace period, in case both die first.
	ended map[string]bool
	// since maps sessions to the time when they were first seen without an owner.
	since map[string]time.Time
	// lost maps sessions that ended with their node to the time when that was first seen.
	lost map[string]time.Time
}

func newWatch(n *Node) *watch {
	return &watch{Node: n, observer: lease.Observer{Timing: n.cfg.Timing}, watched: map[string]bool{}, ended: map[string]bool{}, since: map[string]time.Time{}, lost: map[string]time.Time{}}
}

// grace returns how long other nodes wait before they reassign the sessions of a node that is gone.
func (w *watch) grace() time.Duration { return 2 * w.cfg.Timing.RenewEvery }

// run monitors the cluster until the Node is closed.
func (w *watch) run() {
	tick := time.NewTicker(w.cfg.Timing.RenewEvery)
	defer tick.Stop()
	for {
		select {
		case <-w.news:
			w.updateObserver()
		case <-tick.C:
			w.updateObserver()
			w.poll()
			w.repair(time.Now())
			w.removeExpired(time.Now())
		case <-w.ctx.Done():
			return
		}
		w.assign()
	}
}

// updateObserver updates the observer from the views.
func (w *watch) updateObserver() {
	now, leases := time.Now(), w.ledger.Leases()
	delete(leases, w.member.Load().key)
	for key := range w.watched {
		if _, ok := leases[key]; !ok {
			w.observer.Forget(key)
			delete(w.watched, key)
		}
	}
	for key := range w.ended {
		if _, known := w.ledger.Find(key); !known {
			delete(w.ended, key)
		}
	}
	for key, revision := range leases {
		if revision > 0 && revision < w.observer.Revision(key) {
			continue // poll has read a newer revision from the leader
		}
		w.watched[key] = true
		w.observer.Observe(key, revision, now)
	}
	silent := map[string]bool{}
	for _, s := range w.observer.Silent(now, w.cfg.Timing.SuspectAfter()+w.cfg.Timing.RenewEvery) {
		silent[s.Key] = true
	}
	w.ledger.SetSilent(silent)
}

// poll reads from the leader the leases that no longer seem to be renewed, and ends the lapsed ones.
func (w *watch) poll() {
	ctx, cancel := context.WithTimeout(w.ctx, w.cfg.Timing.RenewEvery)
	defer cancel()
	for _, s := range w.observer.Silent(time.Now(), w.cfg.Timing.SuspectAfter()) {
		e, err := w.reg.Nodes.Get(ctx, s.Key)
		if errors.Is(err, registry.ErrUnavailable) {
			return
		}
		if err == nil && e.Revision > s.Revision && !e.Value.Gone {
			w.observer.Observe(s.Key, e.Revision, time.Now())
		}
	}
	for _, s := range w.observer.Silent(time.Now(), w.cfg.Timing.Lapsed()) {
		w.endLease(ctx, s)
	}
}

// endLease ends a lapsed lease. The write succeeds only if the revision is still current, which proves that the holder has stopped
// renewing. After an error the next poll retries, if the lease still exists.
func (w *watch) endLease(ctx context.Context, s lease.Silent) {
	node, known := w.ledger.Find(s.Key)
	if !known {
		node.ID, node.Incarnation, _ = strings.Cut(s.Key, "/")
	}
	node.Gone = true
	var err error
	if s.Revision == 0 { // the node itself is unknown; only its sessions are known
		_, err = w.reg.Nodes.Create(ctx, s.Key, node)
	} else {
		_, err = w.reg.Nodes.Update(ctx, s.Key, node, s.Revision)
	}
	if err != nil {
		w.log.Debug("a lease was not ended", "lease", s.Key, "error", err)
		return
	}
	w.ended[s.Key] = true
	w.counts.Ended.Add(1)
	w.log.Warn("a node is gone", "gone", node.ID, "incarnation", node.Incarnation, "silent", s.For)
}

// assign reassigns the sessions of nodes that are gone.
func (w *watch) assign() {
	orphans := w.ledger.Orphans()
	now, since := time.Now(), map[string]time.Time{}
	leads := len(orphans) > 0 && w.leads()
	var due []registry.Entry[registry.Session]
	for _, e := range orphans {
		first, ok := w.since[e.Key]
		if !ok {
			first = now
		}
		since[e.Key] = first
		if leads || w.ended[ledger.OwnerOf(e.Value)] || now.Sub(first) >= w.grace() {
			due = append(due, e)
		}
	}
	w.since = since
	if len(due) == 0 || w.member.Load().renewer.Check() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(w.ctx, 4*w.cfg.Timing.RenewEvery)
	defer cancel()
	w.distribute(ctx, due)
}

// leads reports whether this node is the leading one: the first live node by name.
func (w *watch) leads() bool {
	live := w.ledger.Live()
	return len(live) > 0 && live[0].ID == w.cfg.ID
}

// distribute assigns sessions to the nodes with the most room. The next tick retries failures.
func (w *watch) distribute(ctx context.Context, orphans []registry.Entry[registry.Session]) {
	var names []string
	for _, e := range orphans {
		if ledger.IsMovable(e.Value) {
			names = append(names, e.Key)
		}
	}
	places, left := placement.ChooseAll(names, w.ledger.Candidates(time.Now()))
	if len(left) > 0 {
		w.log.Warn("no node has room for the sessions of a node that is gone", "sessions", len(left))
	}
	for _, e := range orphans {
		var err error
		if owner, ok := places[e.Key]; ok {
			err = w.assignTo(ctx, e, owner)
		} else if e.Value.Phase == registry.Creating {
			err = w.reg.Sessions.Delete(ctx, e.Key, e.Revision) // its creation never finished
		}
		if errors.Is(err, registry.ErrUnavailable) {
			return
		}
	}
}

// removeExpired removes from the registry the sessions that ended with their node more than KeepLost ago. Only the leading node does so.
func (w *watch) removeExpired(now time.Time) {
	lost, since := w.ledger.Lost(), map[string]time.Time{}
	leads := len(lost) > 0 && w.leads() && w.member.Load().renewer.Check() == nil
	ctx, cancel := context.WithTimeout(w.ctx, 2*w.cfg.Timing.RenewEvery)
	defer cancel()
	for _, e := range lost {
		first, ok := w.lost[e.Key]
		if !ok {
			first = now
		}
		since[e.Key] = first
		if leads && now.Sub(first) >= w.cfg.KeepLost {
			w.forget(ctx, e)
		}
	}
	w.lost = since
}

// forget removes a session that ended with its node from the registry, its tabs first. Entries that have changed since stay. The next tick
// retries failures.
func (w *watch) forget(ctx context.Context, e registry.Entry[registry.Session]) {
	for _, tab := range w.reg.Tabs.View().All() {
		if tab.Value.Session != e.Key {
			continue
		}
		if err := w.reg.Tabs.Delete(ctx, tab.Key, tab.Revision); err != nil {
			return
		}
	}
	if w.cfg.States.Delete(ctx, e.Key, registry.Token(e)) != nil {
		return
	}
	if err := w.reg.Sessions.Delete(ctx, e.Key, e.Revision); err == nil {
		w.log.Info("a session that ended with its node was removed", "session", e.Key, "node", e.Value.Node)
	}
}
