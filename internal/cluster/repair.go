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

// NATS may lose what it acknowledged, and with it who has a session. ADR 43 says why what follows makes no second owner.

// question asks a node whether it has a session.
type question struct {
	Session string `json:"session"`
	// Token is the last fencing token of the session that is known.
	Token uint64 `json:"token"`
}

// answer is what a node says to a question.
type answer struct {
	// Owner is the key of the node that answers.
	Owner string `json:"owner"`
	// Held: it has the session. If not, it never will under Token, or one before.
	Held  bool   `json:"held,omitempty"`
	Token uint64 `json:"token"`
	// Entry is the last entry of the session that it knows, if it knows one.
	Entry *registry.Session `json:"entry,omitempty"`
}

// answer says whether this node has a session that another node asks for; nil: the question is not understood.
func (n *Node) answer(text []byte) (reply []byte) {
	var q question
	if json.Unmarshal(text, &q) != nil || q.Session == "" {
		return nil
	}
	a := answer{Owner: n.member.Load().key, Token: q.Token}
	if e, ok := n.ledger.Entry(q.Session); ok {
		a.Token, a.Entry = max(a.Token, registry.Token(e)), &e.Value
	}
	a.Held = !n.own.Forgo(q.Session, a.Token)
	reply, _ = json.Marshal(a) // it has been read from JSON
	return reply
}

// reassert stores the entries of this node's sessions again that the registry has lost. Nobody else can have become the owner: that takes
// the end of this node's lease, or a write of this node.
func (n attendant) reassert() {
	for _, name := range n.own.List(func(h *holding) bool { return h.Phase == registry.Ready && h.Lost && h.Member.keeper.Check() == nil }) {
		ctx, cancel := context.WithTimeout(n.ctx, n.cfg.Timing.Every)
		err := n.ready(ctx, name)
		cancel()
		if err == nil {
			n.counts.Reasserted.Add(1)
		}
		n.log.Warn("the place of a session was stored again, which the registry had lost", "session", name, "error", err)
	}
}

// repair gives sessions away whose entry the registry has lost, and that no node has.
func (w *watch) repair(now time.Time) {
	for name, g := range w.ledger.OpenGaps() {
		// Who is not known as a node by then has stopped.
		if now.Sub(g.Since) < w.cfg.Timing.Lapsed() || w.member.Load().keeper.Check() != nil {
			continue
		}
		ctx, cancel := context.WithTimeout(w.ctx, 2*w.cfg.Timing.Every)
		err := w.repairOne(ctx, name, g)
		cancel()
		w.log.Warn("a session is to be restored whose place the registry has lost", "session", name, "error", err)
	}
}

// errHeld: a node has the session.
var errHeld = errors.New("a node has it")

// repairOne is repair for one session.
func (w *watch) repairOne(ctx context.Context, name string, g ledger.Gap) error {
	e, ok := w.ledger.Entry(name)
	if !ok || !ledger.Movable(e.Value) {
		return nil // it ended with its node
	}
	if fresh := 2 * registry.Verify; w.reg.Nodes.View().Age() > fresh || w.reg.Sessions.View().Age() > fresh {
		return registry.ErrUnavailable
	}
	token, value, err := w.askAll(ctx, question{name, registry.Token(e)}, e.Value)
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

// askAll asks all nodes whose lease has not ended for a session, and returns the highest token that one of them knows, and its entry. It fails
// when a node has the session, or does not answer.
func (w *watch) askAll(ctx context.Context, q question, value registry.Session) (token uint64, last registry.Session, err error) {
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
func (w *watch) askOne(ctx context.Context, owner string, q question) (a answer, err error) {
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
		err = ErrNoNode // another incarnation answers
	}
	return a, err
}
