package member

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/internal/cluster"
)

// gate tracks the sessions of this node and the calls to them.
type gate struct {
	mu    sync.Mutex
	holds map[string]*heldSession
}

// heldSession is a session that this node has.
type heldSession struct {
	// calls and streams count the calls and streams in progress. stopping is set when the session is to leave after its calls have ended.
	calls, streams int
	stopping       bool
	// ended is closed and replaced when the last call ends and when a save ends.
	ended chan struct{}
	// touched counts the starts and ends of calls and streams.
	touched uint64
	saving  saving
}

// enter adds a call or a stream of a session. It returns nil if this node does not have the session. It fails with an *apierr.Error of kind
// NotFound while the session is about to leave.
func (g *gate) enter(session string, stream bool) (*heldSession, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	h := g.holds[session]
	switch {
	case h == nil:
		return nil, nil
	case h.stopping:
		return nil, apierr.Unknown("session", "unknown session %q: list the sessions, or create it", session)
	case stream:
		h.streams++
	default:
		h.calls++
	}
	h.touched++
	return h, nil
}

// leaves removes a call or a stream from its count.
func (g *gate) leaves(h *heldSession, count *int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	h.touched++
	if *count--; h.calls == 0 {
		h.announce()
	}
}

// announce wakes goroutines that wait for the end of calls or of a save. The caller holds the lock.
func (h *heldSession) announce() {
	close(h.ended)
	h.ended = make(chan struct{})
}

// saveEnds records the end of a save. now is the session's state at the start of the save.
func (g *gate) saveEnds(h *heldSession, now savedState, sum [sha256.Size]byte, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	h.saving.running = false
	if err == nil {
		h.saving.done(now)
		h.saving.sum = sum
	}
	h.announce()
}

// add adds a session that this node now has.
func (g *gate) add(session string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.holds[session] = &heldSession{ended: make(chan struct{})}
}

// drop removes a session.
func (g *gate) drop(session string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.holds, session)
}

// Has reports whether this node has a session that is not about to leave.
func (g *gate) Has(session string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	h := g.holds[session]
	return h != nil && !h.stopping
}

// held returns the sessions of this node that are not about to leave, sorted by name.
func (g *gate) held() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := maps.Clone(g.holds)
	maps.DeleteFunc(all, func(_ string, h *heldSession) bool { return h.stopping })
	return slices.Sorted(maps.Keys(all))
}

// quiesce refuses new calls to a session. It waits for the calls in progress and for a running save, which would otherwise overwrite the
// state that is saved when the session has stopped.
func (g *gate) quiesce(ctx context.Context, session string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	h := g.holds[session]
	if h == nil || h.stopping {
		return cluster.ErrElsewhere
	}
	h.stopping = true
	for h.calls > 0 || h.saving.running {
		ended := h.ended
		g.mu.Unlock()
		select {
		case <-ended:
			g.mu.Lock()
		case <-ctx.Done():
			g.mu.Lock()
			h.stopping = false
			return fmt.Errorf("%d calls are in progress: %w", h.calls, context.Cause(ctx))
		}
	}
	return nil
}

// resume accepts calls to a session again.
func (g *gate) resume(session string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if h := g.holds[session]; h != nil {
		h.stopping = false
	}
}

// Idle implements cluster.Host.
func (g *gate) Idle(session string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	h := g.holds[session]
	return h != nil && h.calls == 0 && h.streams == 0
}
