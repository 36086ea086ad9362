package cluster

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/domtap/domtap/internal/cluster/ledger"
	"github.com/domtap/domtap/internal/cluster/placement"
	"github.com/domtap/domtap/internal/cluster/registry"
	"github.com/domtap/domtap/internal/retry"
)

// maxRestores limits how many sessions a node restores concurrently. Each starts at least one renderer.
const maxRestores = 4

// restoreTries is how many attempts a node makes to restore a session before it passes the session to another node.
const restoreTries = 3

// sessionManager manages a Node's own sessions.
type sessionManager struct{ *Node }

// run restores sessions that were assigned to this node and ends sessions that other nodes own, until the Node is closed.
func (n sessionManager) run() {
	tick := time.NewTicker(n.cfg.Timing.RenewEvery) // retries what failed
	defer tick.Stop()
	var restoring sync.WaitGroup
	defer restoring.Wait()
	slots := make(chan struct{}, maxRestores)
	// underWay holds the sessions with a running restore. That includes a restore that is being canceled because this node was cut off: if
	// the session is assigned to this node again, it waits for the canceled restore to end.
	var underWay sync.Map
	for {
		select {
		case <-n.work:
		case <-tick.C:
			n.sweep(n.member.Load())
			n.reassert()
		case <-n.ctx.Done():
			return
		}
		n.yield()
		m := n.member.Load()
		for _, e := range n.ledger.AwaitingRestore(m.key) {
			if _, busy := underWay.Load(e.Key); busy {
				continue
			}
			if !n.own.Add(e.Key, ownedSession{
				Member: m, Restore: e.Value.Restore, Revision: e.Revision, Token: registry.Token(e), Phase: registry.Restoring, Settings: e.Value.Settings,
			}) {
				n.retake(e)
				continue
			}
			underWay.Store(e.Key, true)
			restoring.Go(func() {
				n.restore(slots, e, m)
				underWay.Delete(e.Key)
				notify(n.work)
			})
		}
	}
}

// retake assigns a session to this node again, with a token higher than those that this node has disclaimed. This is needed when another
// node requested the session before this node learned that it was the owner, and then assigned it to no node.
func (n sessionManager) retake(e registry.Entry[registry.Session]) {
	upTo, ok := n.own.DisclaimedUpTo(e.Key)
	if !ok || upTo < registry.Token(e) {
		return // this node already has the session
	}
	value := e.Value
	value.Fence = upTo + 1
	ctx, cancel := context.WithTimeout(n.ctx, n.cfg.Timing.RenewEvery)
	defer cancel()
	_, err := n.reg.Sessions.Update(ctx, e.Key, value, e.Revision) // the next tick retries a failure
	n.log.Warn("this node received a session under a token that it had given up", "session", e.Key, "error", err)
}

// yield ends sessions that another node owns now, for example because a client created a session of the same name while this node was cut
// off.
func (n sessionManager) yield() {
	for _, name := range n.own.List(func(h *ownedSession) bool { return h.Phase == registry.Ready }) {
		h, ok := n.own.Get(name)
		e, known := n.ledger.Entry(name)
		if !ok || !known || e.Revision <= h.Revision || ledger.OwnerOf(e.Value) == h.Member.key || e.Value.Node == n.cfg.ID {
			continue
		}
		n.log.Warn("another node owns the session now", "session", name, "owner", e.Value.Node)
		n.own.Remove(name)
		n.cfg.Host.Fence(name)
		n.counts.Fenced.Add(1)
	}
}

// sweep deletes entries of sessions that this node no longer has or never had. Such entries remain when the registry was unavailable at the
// time a name was released. No session belongs to an entry of this incarnation without an owned session.
func (n sessionManager) sweep(m *member) {
	for _, e := range n.ledger.Owned(m.key, func(s registry.Session) bool { return s.Phase != registry.Restoring }) {
		if _, ok := n.own.Get(e.Key); ok {
			continue
		}
		if err := n.reg.Sessions.Delete(n.ctx, e.Key, e.Revision); errors.Is(err, registry.ErrUnavailable) {
			return
		}
	}
}

// restore restores a session that was assigned to this node. It retries until the session is restored, fenced, or passed to another node.
func (n sessionManager) restore(slots chan struct{}, e registry.Entry[registry.Session], m *member) {
	ctx, cancel := m.renewer.During(n.ctx)
	defer cancel()
	token := registry.Token(e)
	held := func(h *ownedSession) bool { return h.Token == token && h.Member == m }
	for try := 1; ; try++ {
		err := n.tryRestore(ctx, slots, e, token, held)
		if err == nil {
			n.counts.Restored.Add(1)
			n.log.Info("a session was restored", "session", e.Key)
			return
		}
		n.counts.Unrestored.Add(1)
		n.log.Warn("a session could not be restored", "session", e.Key, "try", try, "error", err)
		if h, ok := n.own.Get(e.Key); !ok || !held(&h) || try%restoreTries == 0 && n.passOn(ctx, e) || retry.Pause(ctx, n.cfg.Timing.RenewEvery) != nil {
			break
		}
		e = n.reread(ctx, e)
	}
	n.own.RemoveIf(e.Key, held)
}

// reread reads the entry of one of this node's sessions again. A write with an unknown outcome may have been stored, and the next write has
// to replace it.
func (n sessionManager) reread(ctx context.Context, e registry.Entry[registry.Session]) registry.Entry[registry.Session] {
	now, err := n.reg.Sessions.Get(ctx, e.Key)
	if err != nil || ledger.OwnerOf(now.Value) != ledger.OwnerOf(e.Value) || registry.Token(now) != registry.Token(e) {
		return e
	}
	n.own.Update(e.Key, func(h *ownedSession) {
		if h.Token == registry.Token(e) {
			h.Revision = now.Revision
		}
	})
	return now
}

// tryRestore makes one attempt to restore a session. It gives up after two lease periods, because a browser that takes longer may hang
// forever.
func (n sessionManager) tryRestore(ctx context.Context, slots chan struct{}, e registry.Entry[registry.Session], token uint64, held func(*ownedSession) bool) error {
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, 2*n.cfg.Timing.TTL)
	defer cancel()
	if err := n.restoreState(ctx, e, token); err != nil {
		return err
	}
	err := ErrFenced
	if h, ok := n.own.Get(e.Key); ok && held(&h) {
		err = n.ready(ctx, e.Key)
	}
	if err != nil {
		n.cfg.Host.Fence(e.Key)
	}
	return err
}

// passOn assigns a session to another node with room, if there is one, after this node failed to restore it.
func (n sessionManager) passOn(ctx context.Context, e registry.Entry[registry.Session]) bool {
	owner, ok := placement.Choose(e.Key, n.others())
	if !ok {
		return false
	}
	err := n.assignTo(ctx, e, owner)
	return err == nil || errors.Is(err, registry.ErrConflict)
}

// restoreState restores a session on this host, without updating the registry.
func (n sessionManager) restoreState(ctx context.Context, e registry.Entry[registry.Session], token uint64) error {
	state, err := n.cfg.States.Take(ctx, e.Key, token)
	if err != nil {
		return err
	}
	return n.cfg.Host.Restore(ctx, Session{
		Name: e.Key, Token: token, Restore: e.Value.Restore, Settings: e.Value.Settings, Tabs: n.tabsOf(e.Key), State: state,
	})
}
