package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/domtap/domtap/internal/cluster/ledger"
	"github.com/domtap/domtap/internal/cluster/placement"
	"github.com/domtap/domtap/internal/cluster/registry"
)

// NATS may lose writes that it has acknowledged, and with them the owner of a session. ADR 43 explains why the repair below never creates a
// second owner.

// ownerQuery asks a node whether it owns a session.
type ownerQuery struct {
	Session string `json:"session"`
	// Token is the session's last known fencing token.
	Token uint64 `json:"token"`
}

// ownerReply is a node's reply to a question.
type ownerReply struct {
	// Owner is the key of the replying node.
	Owner string `json:"owner"`
	// Held reports whether the node owns the session. If not, it never will under Token or a lower token.
	Held  bool   `json:"held,omitempty"`
	Token uint64 `json:"token"`
	// Entry is the last entry of the session known to the node, or nil.
	Entry *registry.Session `json:"entry,omitempty"`
}

// answer replies to another node's question about a session. The reply is nil if the question cannot be decoded.
func (n *Node) answer(text []byte) (reply []byte) {
	var q ownerQuery
	if json.Unmarshal(text, &q) != nil || q.Session == "" {
		return nil
	}
	a := ownerReply{Owner: n.member.Load().key, Token: q.Token}
	if e, ok := n.ledger.Entry(q.Session); ok {
		a.Token, a.Entry = max(a.Token, registry.Token(e)), &e.Value
	}
	a.Held = !n.own.Disclaim(q.Session, a.Token)
	reply, _ = json.Marshal(a) // encoding cannot fail: the values were decoded from JSON
	return reply
}

// reassert stores entries of this node's sessions that the registry has lost. No other node can have become the owner, because that
// requires the end of this node's lease or a write by this node.
func (n sessionManager) reassert() {
	for _, name := range n.own.List(func(h *ownedSession) bool {
		return h.Phase == registry.Ready && h.Lost && h.Member.renewer.Check() == nil
	}) {
		ctx, cancel := context.WithTimeout(n.ctx, n.cfg.Timing.RenewEvery)
		err := n.ready(ctx, name)
		cancel()
		if err == nil {
			n.counts.Reasserted.Add(1)
		}
		n.log.Warn("the place of a session was stored again, which the registry had lost", "session", name, "error", err)
	}
}

// repair reassigns sessions whose entry the registry has lost and that no node owns.
func (w *watch) repair(now time.Time) {
	for name, g := range w.ledger.OpenGaps() {
		// A node that is still unknown after this time has stopped.
		if now.Sub(g.Since) < w.cfg.Timing.Lapsed() || w.member.Load().renewer.Check() != nil {
			continue
		}
		ctx, cancel := context.WithTimeout(w.ctx, 2*w.cfg.Timing.RenewEvery)
		err := w.repairOne(ctx, name, g)
		cancel()
		w.log.Warn("a session is to be restored whose place the registry has lost", "session", name, "error", err)
	}
}

// errHeld reports that a node owns the session.
var errHeld = errors.New("a node has it")

// repairOne repairs one session.
func (w *watch) repairOne(ctx context.Context, name string, g ledger.Gap) error {
	e, ok := w.ledger.Entry(name)
	if !ok || !ledger.IsMovable(e.Value) {
		return nil // the session ended with its node
	}
	if fresh := 2 * registry.Verify; w.reg.Nodes.View().Age() > fresh || w.reg.Sessions.View().Age() > fresh {
		return registry.ErrUnavailable
	}
	token, value, err := w.askAll(ctx, ownerQuery{name, registry.Token(e)}, e.Value)
	if err != nil {
		return err
	}
	owner, ok := placement.Choose(name, w.ledger.Candidates(time.Now()))
	node, known := w.ledger.Find(owner)
	if !ok || !known {
		return ErrNoRoom
	}
	value.Node, value.Incarnation, value.Phase, value.Fence = node.ID, node.Incarnation, registry.Restoring, token+1
	_, err = w.reg.Sessions.Update(ctx, name, value, g.Base)
	return err
}

// askAll asks all nodes with a valid lease about a session. It returns the highest token that any of them knows, with its entry. It fails
// if a node owns the session or does not reply.
func (w *watch) askAll(ctx context.Context, q ownerQuery, value registry.Session) (token uint64, last registry.Session, err error) {
	token, last = q.Token, value
	for owner := range w.ledger.Leases() {
		a, err := w.askOne(ctx, owner, q)
		if err != nil {
			return 0, last, err
		}
		if a.Held {
			return 0, last, errHeld
		}
		if a.Token > token && a.Entry != nil {
			last = *a.Entry
		}
		token = max(token, a.Token)
	}
	return token, last, nil
}

// askOne asks one incarnation of a node.
func (w *watch) askOne(ctx context.Context, owner string, q ownerQuery) (a ownerReply, err error) {
	node, known := w.ledger.Find(owner)
	if !known {
		return a, fmt.Errorf("%s: %w", owner, ErrNoNode)
	}
	text, err := json.Marshal(q)
	if err == nil {
		text, err = w.reg.Ask(ctx, node.ID, text)
	}
	if err == nil {
		err = json.Unmarshal(text, &a)
	}
	if err == nil && a.Owner != owner {
		err = ErrNoNode // another incarnation replied
	}
	return a, err
}
