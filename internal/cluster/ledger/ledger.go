// Package ledger indexes the registry's nodes and sessions by owner. It answers which nodes are live, which sessions they own, which nodes
// are gone, and which sessions need a new owner. It makes no requests and starts no goroutines.
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

// Reasons why a node accepts no session.
var (
	// ErrDraining reports that the node accepts no new sessions because it is draining.
	ErrDraining = errors.New("the node is draining")
	// ErrNoRoom reports that no node, or not the requested one, has room for a session.
	ErrNoRoom = errors.New("no node has room for another session")
	// ErrNoNode reports that there is no such node.
	ErrNoNode = errors.New("there is no such node")
	// ErrSilent reports that the node has not renewed its lease for several seconds.
	ErrSilent = errors.New("the node does not answer")
)

// pickedFor is how long a placement counts toward a node's load before the session appears.
const pickedFor = 5 * time.Second

// Ledger indexes nodes and sessions by owner: a node's key, as returned by registry.NodeKey. The views call its methods, so no method may
// use the views.
type Ledger struct {
	mu    sync.Mutex
	nodes map[string]registry.Entry[registry.Node]
	// renewed maps each node to the time when its last renewal was seen.
	renewed  map[string]time.Time
	sessions map[string]registry.Entry[registry.Session]
	byOwner  map[string]map[string]bool
	// silent holds the nodes that have not renewed their lease for some time.
	silent map[string]bool
	// picked holds the sessions that this node has just placed and that have not appeared yet.
	picked map[string]pick
	// gaps holds the sessions whose last entry the registry has lost. Their last known entries stay in sessions.
	gaps map[string]Gap
	// membership is closed and replaced when a node joins, leaves, or changes in a way that matters to other nodes.
	membership chan struct{}
}

// Gap describes an entry that the registry has lost.
type Gap struct {
	// Base is the revision that the registry has instead, or 0 if it has none.
	Base uint64
	// Since is the time when the loss was detected.
	Since time.Time
}

type pick struct {
	owner string
	at    time.Time
}

func New() *Ledger {
	return &Ledger{
		nodes: map[string]registry.Entry[registry.Node]{}, renewed: map[string]time.Time{}, sessions: map[string]registry.Entry[registry.Session]{},
		byOwner: map[string]map[string]bool{}, silent: map[string]bool{}, picked: map[string]pick{}, gaps: map[string]Gap{}, membership: make(chan struct{}),
	}
}

// OwnerOf returns the key of a session's owner.
func OwnerOf(s registry.Session) string { return registry.NodeKey(s.Node, s.Incarnation) }

// Node applies a change of the view of nodes.
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

// Session applies a change of the view of sessions.
func (l *Ledger) Session(c registry.Change[registry.Session]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.Lost && TokenOf(c.New) < registry.Token(*c.Old) { // otherwise the owner is still known
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

// BaseOf returns the revision that the registry has instead of the lost one, or 0.
func BaseOf(c registry.Change[registry.Session]) uint64 {
	if c.New == nil {
		return 0
	}
	return c.New.Revision
}

// TokenOf returns the fencing token of an entry, or 0 for nil.
func TokenOf(e *registry.Entry[registry.Session]) uint64 {
	if e == nil {
		return 0
	}
	return registry.Token(*e)
}

// Gap reports whether the registry has lost the last entry of a session. Entry still returns that entry.
func (l *Ledger) Gap(name string) (g Gap, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	g, ok = l.gaps[name]
	return g, ok
}

// OpenGaps returns the gaps by session.
func (l *Ledger) OpenGaps() map[string]Gap {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.gaps)
}

// Changed returns a channel that is closed when the live nodes change.
func (l *Ledger) Changed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.membership
}

// Find returns a node by its key. The node may be gone.
func (l *Ledger) Find(owner string) (node registry.Node, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, ok := l.nodes[owner]
	return e.Value, ok
}

// Live lists the nodes with a valid lease, sorted by name. If several incarnations have the same name, it lists the one that renewed its
// lease last.
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

// Names returns the names of the accepted sessions, without those that ended with their nodes.
func (l *Ledger) Names(accept func(name string) bool) map[string]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	names := map[string]bool{}
	for name, e := range l.sessions {
		if (IsMovable(e.Value) || !l.nodes[OwnerOf(e.Value)].Value.Gone) && accept(name) {
			names[name] = true
		}
	}
	return names
}

// Drained reports whether an operator has drained a node, according to its last incarnation.
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

// Leases returns the revisions of the leases that have not ended. The revision is 0 for an owner that is known only from its sessions.
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

// AwaitingRestore lists the sessions of an owner that the owner has not restored yet.
func (l *Ledger) AwaitingRestore(owner string) []registry.Entry[registry.Session] {
	return l.Owned(owner, func(s registry.Session) bool { return s.Phase == registry.Restoring })
}

// Orphans lists the sessions that must be reassigned or deleted because their owners are gone.
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
		list = append(list, l.Owned(key, func(s registry.Session) bool { return IsMovable(s) || s.Phase == registry.Creating })...)
	}
	return list
}

// Lost lists the sessions that ended with their owner, by name.
func (l *Ledger) Lost() []registry.Entry[registry.Session] {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []registry.Entry[registry.Session]
	for name, e := range l.sessions {
		if _, open := l.gaps[name]; !open && l.nodes[OwnerOf(e.Value)].Value.Gone && !IsMovable(e.Value) && e.Value.Phase != registry.Creating {
			list = append(list, e)
		}
	}
	return list
}

// IsMovable reports whether another node takes a session over when its owner is gone: a session with Restore, or a session that is not on a
// node yet.
func IsMovable(s registry.Session) bool {
	return s.Phase == registry.Restoring || s.Restore && s.Phase != registry.Creating
}

// Owned lists the accepted sessions of an owner, sorted by name, without those that have a gap.
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

// Entry returns the last known entry of a session.
func (l *Ledger) Entry(name string) (registry.Entry[registry.Session], bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, ok := l.sessions[name]
	return e, ok
}

// SetSilent replaces the set of nodes that receive no sessions because they may be dead.
func (l *Ledger) SetSilent(silent map[string]bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.silent = silent
}

// Candidates returns the nodes that may receive new sessions, by key. Recent placements count toward their load.
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
		if !v.Gone && !l.silent[key] {
			list = append(list, placement.Node{ID: key, Sessions: len(l.byOwner[key]) + extra[key], Capacity: v.Load.MaxSessions, Busy: v.Load.Busy, Draining: v.Draining})
		}
	}
	return list
}

// CandidatesExcept returns the candidates without the incarnations of one node.
func (l *Ledger) CandidatesExcept(id string, now time.Time) []placement.Node {
	return slices.DeleteFunc(l.Candidates(now), func(c placement.Node) bool {
		node, _ := l.Find(c.ID)
		return node.ID == id
	})
}

// Choose chooses a node for a new session and counts the session toward that node's load until it appears.
func (l *Ledger) Choose(session string, now time.Time) (owner string, ok bool) {
	owner, ok = placement.Choose(session, l.Candidates(now))
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, there := l.sessions[session]; ok && session != "" && !there {
		l.picked[session] = pick{owner, now}
	}
	return owner, ok
}

// Target returns the incarnation of a node that can accept a session. If there is none, it returns the reason: ErrNoNode, ErrSilent,
// ErrDraining or ErrNoRoom.
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

// EntryVersion identifies the state of a session's entry at the time of a read.
type EntryVersion struct{ Revision, Token uint64 }

// EntryVersionOf returns the version of an entry.
func EntryVersionOf(e registry.Entry[registry.Session]) EntryVersion {
	return EntryVersion{e.Revision, registry.Token(e)}
}

// Later reports whether the version is newer than an entry. A lower revision alone does not make an entry older, because revisions repeat
// after the registry has lost writes; tokens do not repeat.
func (s EntryVersion) Later(e registry.Entry[registry.Session]) bool {
	return e.Revision < s.Revision && registry.Token(e) <= s.Token
}
