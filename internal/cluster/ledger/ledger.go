// Package ledger has what the views of the registry say of nodes and sessions, ordered by owner: who is there, who has what, who is gone, and what
// is to be done about that. It asks nobody, and starts nothing.
package ledger

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/domtap/domtap/internal/cluster/placement"
	"github.com/domtap/domtap/internal/cluster/registry"
)

// Why a node takes no session.
var (
	// ErrDraining: the node takes no new sessions, because it drains.
	ErrDraining = errors.New("the node is draining")
	// ErrNoRoom: no node takes a session, or the one that was asked for does not.
	ErrNoRoom = errors.New("no node has room for another session")
	// ErrNoNode: there is no such node.
	ErrNoNode = errors.New("there is no such node")
	// ErrSilent: the node has not renewed its lease for some seconds.
	ErrSilent = errors.New("the node does not answer")
)

// pickedFor is how long a choice counts as a session that will be there.
const pickedFor = 5 * time.Second

// Ledger is what the views say, ordered by owner: a node's key, as registry.NodeKey makes it. It is called back by the views, so none of
// its methods may use them.
type Ledger struct {
	mu    sync.Mutex
	nodes map[string]registry.Entry[registry.Node]
	// renewed is when the last renewal of each node was learned of.
	renewed  map[string]time.Time
	sessions map[string]registry.Entry[registry.Session]
	byOwner  map[string]map[string]bool
	// quiet are the nodes that have not renewed their lease for some time.
	quiet map[string]bool
	// picked are the sessions that this node placed a moment ago, and that have not appeared yet.
	picked map[string]pick
	// gaps are the sessions whose last entry the registry has lost: what is known of them stays in sessions.
	gaps map[string]Gap
	// membership is closed and replaced when a node comes, goes, or changes what others need to know of it.
	membership chan struct{}
}

// Gap is an entry that the registry has lost.
type Gap struct {
	// Base is the revision that the registry has instead; 0: none.
	Base uint64
	// Since is when that was noticed.
	Since time.Time
}

type pick struct {
	owner string
	at    time.Time
}

func New() *Ledger {
	return &Ledger{
		nodes: map[string]registry.Entry[registry.Node]{}, renewed: map[string]time.Time{}, sessions: map[string]registry.Entry[registry.Session]{},
		byOwner: map[string]map[string]bool{}, quiet: map[string]bool{}, picked: map[string]pick{}, gaps: map[string]Gap{}, membership: make(chan struct{}),
	}
}

// OwnerOf is the key of a session's owner.
func OwnerOf(s registry.Session) string { return registry.NodeKey(s.Node, s.Incarnation) }

// Node takes a change of the view of nodes.
func (l *Ledger) Node(c registry.Change[registry.Node]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.New == nil {
		delete(l.nodes, c.Key)
		delete(l.renewed, c.Key)
	} else {
		l.nodes[c.Key], l.renewed[c.Key] = *c.New, time.Now()
	}
	if c.Old == nil || c.New == nil || c.Old.Value.Gone != c.New.Value.Gone || c.Old.Value.Draining != c.New.Value.Draining {
		close(l.membership)
		l.membership = make(chan struct{})
	}
}

// Session takes a change of the view of sessions.
func (l *Ledger) Session(c registry.Change[registry.Session]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.Lost && TokenOf(c.New) < registry.Token(*c.Old) { // else no owner is lost
		l.gaps[c.Key] = Gap{Base: BaseOf(c), Since: time.Now()}
		return
	}
	delete(l.gaps, c.Key)
	if old, ok := l.sessions[c.Key]; ok {
		delete(l.byOwner[OwnerOf(old.Value)], c.Key)
	}
	delete(l.picked, c.Key)
	if c.New == nil {
		delete(l.sessions, c.Key)
		return
	}
	l.sessions[c.Key] = *c.New
	owner := OwnerOf(c.New.Value)
	if l.byOwner[owner] == nil {
		l.byOwner[owner] = map[string]bool{}
	}
	l.byOwner[owner][c.Key] = true
}

// BaseOf is the revision that the registry has instead of what it lost.
func BaseOf(c registry.Change[registry.Session]) uint64 {
	if c.New == nil {
		return 0
	}
	return c.New.Revision
}

// TokenOf is the fencing token of an entry; 0: there is none.
func TokenOf(e *registry.Entry[registry.Session]) uint64 {
	if e == nil {
		return 0
	}
	return registry.Token(*e)
}

// Gap finds out whether the registry has lost the last entry of a session, which Entry returns all the same.
func (l *Ledger) Gap(name string) (g Gap, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	g, ok = l.gaps[name]
	return g, ok
}

// OpenGaps lists the gaps, by session.
func (l *Ledger) OpenGaps() map[string]Gap {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.gaps)
}

// Changed is closed when the nodes that Nodes lists change.
func (l *Ledger) Changed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.membership
}

// Find finds a node by its key. It may be gone.
func (l *Ledger) Find(owner string) (node registry.Node, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, ok := l.nodes[owner]
	return e.Value, ok
}

// Live lists the nodes whose lease has not ended, by name, one for each name: the one that renewed its lease last.
func (l *Ledger) Live() []registry.Node {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := map[string]registry.Entry[registry.Node]{}
	for _, e := range l.nodes {
		if !e.Value.Gone && e.Revision >= last[e.Value.ID].Revision {
			last[e.Value.ID] = e
		}
	}
	list := make([]registry.Node, 0, len(last))
	for _, e := range last {
		list = append(list, e.Value)
	}
	slices.SortFunc(list, func(a, b registry.Node) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// Names are the names of the sessions that a test accepts, without those that ended with their nodes.
func (l *Ledger) Names(accept func(name string) bool) map[string]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	names := map[string]bool{}
	for name, e := range l.sessions {
		if (Movable(e.Value) || !l.nodes[OwnerOf(e.Value)].Value.Gone) && accept(name) {
			names[name] = true
		}
	}
	return names
}

// Drained reports whether an operator drains a node, as its last incarnation said.
func (l *Ledger) Drained(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	var last registry.Entry[registry.Node]
	for _, e := range l.nodes {
		if e.Value.ID == id && e.Revision > last.Revision {
			last = e
		}
	}
	return last.Value.Drained
}

// Leases are the revisions of the leases that have not ended; 0 for an owner of sessions of which nothing else is known.
func (l *Ledger) Leases() map[string]uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := map[string]uint64{}
	for key, e := range l.nodes {
		if !e.Value.Gone {
			all[key] = e.Revision
		}
	}
	for owner, sessions := range l.byOwner {
		if _, ok := l.nodes[owner]; !ok && len(sessions) > 0 {
			all[owner] = 0
		}
	}
	return all
}

// Given lists the sessions that an owner has to restore.
func (l *Ledger) Given(owner string) []registry.Entry[registry.Session] {
	return l.Owned(owner, func(s registry.Session) bool { return s.Phase == registry.Restoring })
}

// Orphans lists the sessions whose owner is gone for good, and for which something is to be done.
func (l *Ledger) Orphans() []registry.Entry[registry.Session] {
	l.mu.Lock()
	var gone []string
	for key, e := range l.nodes {
		if e.Value.Gone && len(l.byOwner[key]) > 0 {
			gone = append(gone, key)
		}
	}
	l.mu.Unlock()
	var list []registry.Entry[registry.Session]
	for _, key := range gone {
		list = append(list, l.Owned(key, func(s registry.Session) bool { return Movable(s) || s.Phase == registry.Making })...)
	}
	return list
}

// Lost lists the sessions that ended with their owner, by name.
func (l *Ledger) Lost() []registry.Entry[registry.Session] {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []registry.Entry[registry.Session]
	for name, e := range l.sessions {
		if _, open := l.gaps[name]; !open && l.nodes[OwnerOf(e.Value)].Value.Gone && !Movable(e.Value) && e.Value.Phase != registry.Making {
			list = append(list, e)
		}
	}
	return list
}

// Movable reports whether a session is taken over when its owner is gone: one with restore, and one that is on no node yet.
func Movable(s registry.Session) bool {
	return s.Phase == registry.Restoring || s.Restore && s.Phase != registry.Making
}

// Owned lists the sessions of an owner that a test accepts, by name, without those of which the registry has lost something.
func (l *Ledger) Owned(owner string, accept func(registry.Session) bool) []registry.Entry[registry.Session] {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []registry.Entry[registry.Session]
	for name := range l.byOwner[owner] {
		if _, open := l.gaps[name]; open {
			continue
		}
		if e := l.sessions[name]; accept(e.Value) {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b registry.Entry[registry.Session]) int { return cmp.Compare(a.Key, b.Key) })
	return list
}

// Entry finds a session.
func (l *Ledger) Entry(name string) (registry.Entry[registry.Session], bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, ok := l.sessions[name]
	return e, ok
}

// SetQuiet replaces the set of nodes that get no sessions, because they may be dead.
func (l *Ledger) SetQuiet(quiet map[string]bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.quiet = quiet
}

// Candidates are the nodes for new sessions, by key. What was picked a moment ago counts.
func (l *Ledger) Candidates(now time.Time) []placement.Node {
	l.mu.Lock()
	defer l.mu.Unlock()
	extra := map[string]int{}
	for name, p := range l.picked {
		if now.Sub(p.at) > pickedFor {
			delete(l.picked, name)
			continue
		}
		extra[p.owner]++
	}
	var list []placement.Node
	for key, e := range l.nodes {
		v := e.Value
		if !v.Gone && !l.quiet[key] {
			list = append(list, placement.Node{ID: key, Sessions: len(l.byOwner[key]) + extra[key], Capacity: v.Load.MaxSessions, Busy: v.Load.Busy, Draining: v.Draining})
		}
	}
	return list
}

// CandidatesBut is candidates without the incarnations of one node.
func (l *Ledger) CandidatesBut(id string, now time.Time) []placement.Node {
	return slices.DeleteFunc(l.Candidates(now), func(c placement.Node) bool {
		node, _ := l.Find(c.ID)
		return node.ID == id
	})
}

// Choose chooses a node for a new session, and counts it there until it appears.
func (l *Ledger) Choose(session string, now time.Time) (owner string, ok bool) {
	owner, ok = placement.Choose(session, l.Candidates(now))
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, there := l.sessions[session]; ok && session != "" && !there {
		l.picked[session] = pick{owner, now}
	}
	return owner, ok
}

// Target finds the incarnation of a node that can take a session; the error says why there is none: ErrNoNode,
// ErrSilent, ErrDraining or ErrNoRoom.
func (l *Ledger) Target(id string, now time.Time) (owner string, err error) {
	if !slices.ContainsFunc(l.Live(), func(one registry.Node) bool { return one.ID == id }) {
		return "", ErrNoNode
	}
	err = ErrSilent
	for _, c := range l.Candidates(now) {
		node, _ := l.Find(c.ID)
		switch {
		case node.ID != id:
		case c.Draining:
			err = ErrDraining
		case c.Sessions >= c.Capacity:
			err = ErrNoRoom
		default:
			return c.ID, nil
		}
	}
	return "", err
}

// Sighting is the entry of a session that somebody has seen.
type Sighting struct{ Revision, Token uint64 }

// SightingOf is that of an entry.
func SightingOf(e registry.Entry[registry.Session]) Sighting {
	return Sighting{e.Revision, registry.Token(e)}
}

// Later reports whether it is a later one than an entry. Revisions come again when the registry has lost some, but tokens do not.
func (s Sighting) Later(e registry.Entry[registry.Session]) bool {
	return e.Revision < s.Revision && registry.Token(e) <= s.Token
}
