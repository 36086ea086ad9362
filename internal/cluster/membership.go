package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/domtap/domtap/internal/cluster/lease"
	"github.com/domtap/domtap/internal/cluster/ledger"
	"github.com/domtap/domtap/internal/cluster/registry"
	"github.com/domtap/domtap/internal/retry"
)

// membership keeps a Node in the cluster, one incarnation after another.
type membership struct{ *Node }

// member is one incarnation of this node.
type member struct {
	key, incarnation string
	renewer          *lease.Renewer
}

// acquire acquires the lease of a new incarnation. It retries until ctx ends. After a long network partition a lease may have expired by the
// time the registry confirms that it was stored, or another node may have ended it. Such a lease does not start again: the next incarnation
// acquires a new one.
func (n membership) acquire(ctx context.Context) (*member, error) {
	return retry.Until(ctx, registry.PauseFor, func() (m *member, err error) {
		m = &member{incarnation: rand.Text()}
		m.key = registry.NodeKey(n.cfg.ID, m.incarnation)
		if m.renewer, err = lease.Start(ctx, n.cfg.Timing, leaseStore{n.Node, m}); err != nil && ctx.Err() == nil {
			n.log.Warn("the lease expired before its renewal was confirmed", "incarnation", m.incarnation, "error", err)
			n.retire(ctx, m.key)
		}
		return m, err
	})
}

// live keeps the node in the cluster. When the lease has ended, live stops the sessions that other nodes may have taken over, and joins
// again.
func (n membership) live(m *member) {
	for {
		select {
		case <-m.renewer.Done():
		case <-n.ctx.Done():
			return
		}
		n.log.Warn("this node was cut off from the cluster", "incarnation", m.incarnation, "error", m.renewer.Err())
		n.fence(m)
		_, _ = m.renewer.Release() // the lease has ended; wait for its goroutine
		next, err := n.acquire(n.ctx)
		if err != nil {
			return // the node is being closed
		}
		n.member.Store(next)
		n.log.Info("joined the cluster again", "incarnation", next.incarnation)
		n.retire(n.ctx, m.key)
		n.reclaim(m, next)
		m = next
	}
}

// fence stops the sessions of an incarnation that other nodes take over or restore.
func (n membership) fence(m *member) {
	for _, name := range n.own.Drop(func(h *ownedSession) bool { return h.Member == m && (h.Restore || h.Phase == registry.Restoring) }) {
		n.cfg.Host.Fence(name)
		n.counts.Fenced.Add(1)
	}
}

// retire marks an incarnation as gone, so that other nodes need not wait for its lease to expire. The caller has stopped the sessions that
// others may take over. If retire fails, the other nodes wait.
func (n membership) retire(ctx context.Context, key string) {
	for ctx.Err() == nil {
		e, err := n.reg.Nodes.Get(ctx, key)
		if err != nil || e.Value.Gone {
			return
		}
		e.Value.Gone, e.Value.Drained = true, n.drained.Load() // the last renewal may not include it
		if _, err = n.reg.Nodes.Update(ctx, key, e.Value, e.Revision); err == nil || errors.Is(err, registry.ErrUnavailable) {
			return
		}
		registry.Pause(ctx)
	}
}

// reclaim hands sessions over to the next incarnation if they stayed here while the node was cut off. A session ends if another node has
// used its name in the meantime.
func (n membership) reclaim(old, next *member) {
	for _, name := range n.own.List(func(h *ownedSession) bool { return h.Member == old }) {
		if err := n.reclaimOne(name, old, next); err != nil {
			n.log.Warn("a session was lost while this node was cut off", "session", name, "error", err)
			n.own.Remove(name)
			n.cfg.Host.Fence(name)
			n.counts.Fenced.Add(1)
		}
	}
}

// reclaimOne reclaims one session.
func (n membership) reclaimOne(name string, old, next *member) error {
	h, ok := n.own.Get(name)
	if !ok {
		return nil
	}
	value := n.value(next, registry.Ready, Options{h.Restore, h.Settings})
	value.Fence = h.Token + 1
	ctx, cancel := next.renewer.During(n.ctx)
	defer cancel()
	for ctx.Err() == nil {
		e, err := n.reg.Sessions.Get(ctx, name)
		switch {
		case err == nil && ledger.OwnerOf(e.Value) != old.key && ledger.OwnerOf(e.Value) != next.key:
			return ErrExists
		case err == nil || errors.Is(err, registry.ErrNotFound):
			revision, err := n.store(ctx, name, value, e.Revision)
			if err == nil {
				n.own.Update(name, func(h *ownedSession) { h.Member, h.Revision, h.Token = next, revision, value.Fence })
				return nil
			}
		}
		registry.Pause(ctx)
	}
	return nil // the next incarnation retries
}

// leaseStore stores the lease of an incarnation in the registry.
type leaseStore struct {
	node   *Node
	member *member
}

// Renew implements lease.Store.
func (s leaseStore) Renew(ctx context.Context, a lease.Attempt) (uint64, error) {
	cfg, begun := s.node.cfg, time.Now()
	revision, err := s.node.reg.Nodes.Update(ctx, s.member.key, registry.Node{
		ID: cfg.ID, Incarnation: s.member.incarnation, Address: cfg.Address, Version: cfg.Version, Role: cfg.Role,
		Renewal: a.Number, Load: cfg.Host.Load(), Draining: s.node.draining.Load(), Drained: s.node.drained.Load(),
	}, a.Revision)
	s.node.counts.Renewal(begun, err)
	if errors.Is(err, registry.ErrConflict) {
		return 0, fmt.Errorf("%w: %w", lease.ErrRefused, err)
	}
	return revision, err
}

// Read implements lease.Store.
func (s leaseStore) Read(ctx context.Context) (lease.ReadResult, error) {
	e, err := s.node.reg.Nodes.Get(ctx, s.member.key)
	return lease.ReadResult{Attempt: lease.Attempt{Number: e.Value.Renewal, Revision: e.Revision}, Gone: e.Value.Gone}, err
}
