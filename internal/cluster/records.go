package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/domtap/domtap/internal/cluster/ledger"
	"github.com/domtap/domtap/internal/cluster/owned"
	"github.com/domtap/domtap/internal/cluster/placement"
	"github.com/domtap/domtap/internal/cluster/registry"
)

// records reads and writes the registry's entries of sessions. Each write is retried until its outcome is known or its context ends.
type records struct {
	// id is this node's ID.
	id     string
	reg    *registry.Registry
	ledger *ledger.Ledger
	// own holds the sessions of this node.
	own *owned.Set[*member]
}

// value returns the entry for a session of this node.
func (r *records) value(m *member, phase registry.Phase, o Options) registry.Session {
	return registry.Session{Node: r.id, Incarnation: m.incarnation, Phase: phase, Restore: o.Restore, Settings: o.Settings}
}

// claim stores the entry of a new session and returns it. It may reuse the name of a session that ended with its node; the tabs of that
// session are removed.
func (r *records) claim(ctx context.Context, name string, value registry.Session) (e registry.Entry[registry.Session], err error) {
	replaces := uint64(0)
	for {
		revision, err := r.store(ctx, name, value, replaces)
		e = registry.Entry[registry.Session]{Key: name, Value: value, Revision: revision}
		if err == nil && replaces > 0 {
			return e, r.forgetTabs(ctx, name)
		}
		if err == nil || !errors.Is(err, registry.ErrConflict) {
			return e, err
		}
		found, err := r.reg.Sessions.Get(ctx, name)
		switch {
		case errors.Is(err, registry.ErrNotFound):
			replaces, value.Fence = 0, 0
		case err != nil:
			return e, err
		case !r.vacant(found.Value):
			return e, ErrExists
		default:
			replaces, value.Fence = found.Revision, registry.Token(found)+1
		}
		if registry.Pause(ctx); ctx.Err() != nil {
			return e, context.Cause(ctx)
		}
	}
}

// vacant reports whether a session has ended because its node is gone.
func (r *records) vacant(s registry.Session) bool {
	owner, known := r.ledger.Find(ledger.OwnerOf(s))
	return known && owner.Gone && !ledger.IsMovable(s)
}

// ready marks a session of this node as usable by others.
func (r *records) ready(ctx context.Context, name string) error {
	return r.setPhase(ctx, name, registry.Ready)
}

// setPhase changes the phase of a session of this node and keeps its token.
func (r *records) setPhase(ctx context.Context, name string, phase registry.Phase) error {
	h, ok := r.own.Get(name)
	if !ok {
		return ErrElsewhere
	}
	value := r.value(h.Member, phase, Options{h.Restore, h.Settings})
	value.Fence = h.Token
	ctx, end := h.Member.renewer.During(ctx)
	defer end()
	revision, err := r.store(ctx, name, value, h.Revision)
	if err != nil {
		return err
	}
	if !r.own.Update(name, func(h *ownedSession) { h.Revision, h.Phase, h.Lost = revision, phase, false }) {
		return ErrFenced // the lease expired during the write
	}
	return nil
}

// storeRestore makes one attempt for SetRestore. While the registry may allow other nodes to take the session over, this node must respect
// its lease.
func (r *records) storeRestore(ctx context.Context, session string, h ownedSession, on bool) error {
	if err := h.Member.renewer.Check(); err != nil {
		return fmt.Errorf("set restore of session %s: %w: %w", session, ErrFenced, err)
	}
	r.own.Update(session, func(now *ownedSession) { now.Restore = now.Restore || on })
	value := r.value(h.Member, registry.Ready, Options{on, h.Settings})
	value.Fence = h.Token
	revision, err := r.store(ctx, session, value, h.Revision)
	if err != nil {
		return fmt.Errorf("set restore of session %s: %w", session, err)
	}
	if !r.own.Update(session, func(now *ownedSession) { now.Revision, now.Restore = revision, on }) {
		return ErrFenced // the lease expired during the write
	}
	return nil
}

// storeTries limits how many times store rereads an entry that is older than the one to replace; after that, store accepts the older entry
// as the current one.
const storeTries = 20

// store replaces the given revision of a session's entry and returns the new revision. Revision 0 creates the entry. If the outcome of a
// write is unknown, store reads the entry and retries.
func (r *records) store(ctx context.Context, name string, value registry.Session, revision uint64) (uint64, error) {
	unsure, behind := false, 0
	for {
		var stored uint64
		var err error
		if revision == 0 {
			stored, err = r.reg.Sessions.Create(ctx, name, value)
		} else {
			stored, err = r.reg.Sessions.Update(ctx, name, value, revision)
		}
		switch {
		case err == nil:
			return stored, nil
		case errors.Is(err, registry.ErrConflict) && unsure:
			// An earlier attempt may have caused the conflict.
			e, failed := r.reg.Sessions.Get(ctx, name)
			if failed == nil && e.Revision > revision && same(e.Value, value) {
				return e.Revision, nil
			}
			if failed == nil && e.Revision > revision {
				return 0, err
			}
			// Either the server that answered is no longer the leader or, if this persists, the registry has lost the entry to be replaced.
			if failed == nil || errors.Is(failed, registry.ErrNotFound) {
				if behind++; behind == storeTries {
					return 0, err
				}
			}
		case errors.Is(err, registry.ErrUnavailable) && unsure: // this attempt was not stored, but an earlier one may have been
		case !errors.Is(err, registry.ErrUnknown):
			return 0, err
		}
		unsure = true
		if registry.Pause(ctx); ctx.Err() != nil {
			return 0, errors.Join(context.Cause(ctx), err)
		}
	}
}

// same reports whether two entries agree on a session's owner, phase and token.
func same(a, b registry.Session) bool {
	return a.Node == b.Node && a.Incarnation == b.Incarnation && a.Phase == b.Phase && a.Fence == b.Fence
}

// assignTo assigns a session to a node under the next fencing token. Revisions increase as well, unless the registry has lost some.
func (r *records) assignTo(ctx context.Context, e registry.Entry[registry.Session], owner string) error {
	node, known := r.ledger.Find(owner)
	if !known {
		return ErrNoRoom // the node has just left
	}
	value := e.Value
	value.Node, value.Incarnation, value.Phase, value.Fence = node.ID, node.Incarnation, registry.Restoring, registry.Token(e)+1
	_, err := r.reg.Sessions.Update(ctx, e.Key, value, e.Revision)
	return err
}

// others returns the nodes that can take over a session of this node.
func (r *records) others() []placement.Node { return r.ledger.CandidatesExcept(r.id, time.Now()) }

// tabsOf returns the tabs of a session.
func (r *records) tabsOf(session string) map[string]registry.Tab {
	tabs := map[string]registry.Tab{}
	for _, e := range r.reg.Tabs.View().All() {
		if e.Value.Session == session {
			tabs[e.Key] = e.Value
		}
	}
	return tabs
}

// forgetTabs removes the tabs of a session.
func (r *records) forgetTabs(ctx context.Context, session string) error {
	for id := range r.tabsOf(session) {
		if err := r.reg.Tabs.Remove(ctx, id, func(t registry.Tab) bool { return t.Session == session }); err != nil {
			return err
		}
	}
	return nil
}
