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

// gate knows the sessions of this node, and the calls to them.
type gate struct {
	mu    sync.Mutex
	holds map[string]*hold
}

// hold is a session that this node has.
type hold struct {
	// calls and streams are under way; stopping says that the session is to leave when the calls have ended.
	calls, streams int
	stopping       bool
	// ended is closed and replaced when the last call ends, and when a save does.
	ended chan struct{}
	// touched counts the begins and ends of calls.
	touched uint64
	saving  saving
}

// enter counts a call or a stream of a session; nil: this node does not have it. It fails with an *apierr.Error of kind NotFound while the
// session is about to leave.
func (g *gate) enter(session string, stream bool) (*hold, error) {
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

// leaves counts one call or stream less.
func (g *gate) leaves(h *hold, count *int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	h.touched++
	if *count--; h.calls == 0 {
		h.announce()
	}
}

// announce tells those who wait for the end of calls or a save; the caller holds the lock.
func (h *hold) announce() {
	close(h.ended)
	h.ended = make(chan struct{})
}

// saveEnds notes the end of a save, which began when the session was as in now.
func (g *gate) saveEnds(h *hold, now savedState, sum [sha256.Size]byte, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	h.saving.running = false
	if err == nil {
		h.saving.done(now)
		h.saving.sum = sum
	}
	h.announce()
}

// add notes a session that this node has from now on.
func (g *gate) add(session string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.holds[session] = &hold{ended: make(chan struct{})}
}

// drop forgets a session.
func (g *gate) drop(session string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.holds, session)
}

// Has reports whether this node has a session, which is not about to leave.
func (g *gate) Has(session string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	h := g.holds[session]
	return h != nil && !h.stopping
}

// held lists the sessions of this node that are not about to leave, by name.
func (g *gate) held() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := maps.Clone(g.holds)
	maps.DeleteFunc(all, func(_ string, h *hold) bool { return h.stopping })
	return slices.Sorted(maps.Keys(all))
}

// quiesce refuses new calls to a session, and waits until none is under way, and no save, which would replace what is saved when the
// session has stopped.
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
			return fmt.Errorf("%d calls are under way: %w", h.calls, context.Cause(ctx))
		}
	}
	return nil
}

// resume lets calls to a session in again.
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
