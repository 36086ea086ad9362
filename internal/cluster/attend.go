package cluster

import (
	"context"
	"sync"
	"time"

	"github.com/domtap/domtap/internal/cluster/registry"
)

// restoresAtOnce is how many sessions a node restores at the same time: each starts a renderer or more.
const restoresAtOnce = 4

// attendant looks after a Node's own sessions.
type attendant struct{ *Node }

// run restores the sessions that were given to this node, and ends those that others have, until the Node is closed.
func (n attendant) run() {
	tick := time.NewTicker(n.cfg.Timing.Every) // for what failed
	defer tick.Stop()
	var restoring sync.WaitGroup
	defer restoring.Wait()
	slots := make(chan struct{}, restoresAtOnce)
	for {
		select {
		case <-n.work:
		case <-tick.C:
		case <-n.ctx.Done():
			return
		}
		n.yield()
		m := n.member.Load()
		for _, e := range n.ledger.given(m.key) {
			if n.own.add(e.Key, holding{member: m, restore: e.Value.Restore, revision: e.Revision, token: registry.Token(e), phase: registry.Restoring, settings: e.Value.Settings}) {
				restoring.Go(func() { n.restore(slots, e, m) })
			}
		}
	}
}

// yield ends the sessions that are another node's by now, as when somebody made one of that name while this node was cut off.
func (n attendant) yield() {
	for _, name := range n.own.list(func(h *holding) bool { return h.phase == registry.Ready }) {
		h, ok := n.own.get(name)
		e, known := n.ledger.entry(name)
		if !ok || !known || e.Revision <= h.revision || ownerOf(e.Value) == h.member.key || e.Value.Node == n.cfg.ID {
			continue
		}
		n.log.Warn("a session is another node's by now", "session", name, "owner", e.Value.Node)
		n.own.remove(name)
		n.cfg.Host.Fence(name)
	}
}

// restore restores a session that was given to this node. When that fails, run tries again.
func (n attendant) restore(slots chan struct{}, e registry.Entry[registry.Session], m *member) {
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-n.ctx.Done():
		n.own.remove(e.Key)
		return
	}
	token := registry.Token(e)
	err := n.restoreState(n.ctx, e, token)
	if err == nil {
		if err = n.ready(n.ctx, e.Key); err == nil {
			n.log.Info("a session was restored", "session", e.Key)
			return
		}
		n.cfg.Host.Fence(e.Key)
	}
	n.log.Warn("a session could not be restored", "session", e.Key, "error", err)
	pause(n.ctx)
	n.own.drop(func(h *holding) bool { return h.token == token && h.member == m })
	poke(n.work)
}

// restoreState is restore without what the registry has to know.
func (n attendant) restoreState(ctx context.Context, e registry.Entry[registry.Session], token uint64) error {
	state, err := n.cfg.States.Load(ctx, e.Key)
	if err != nil {
		return err
	}
	return n.cfg.Host.Restore(ctx, Session{
		Name: e.Key, Token: token, Restore: e.Value.Restore, Settings: e.Value.Settings, Tabs: n.tabsOf(e.Key), State: state,
	})
}
