package timeline

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rpc/deadline"
	"github.com/domtap/domtap/internal/server/rpc/identity"
	"github.com/domtap/domtap/internal/server/rpc/limit"
	"github.com/domtap/domtap/internal/server/rpc/rpcstatus"
	"github.com/domtap/domtap/internal/timeline"
)

// maxPauses limits the pauses of one tab or session.
const maxPauses = 100

// scope is the range of a pause: a tab, or the tabs of a session. For a call, it is the tab and session of the call.
type scope struct{ tab, session string }

// pauses holds the pauses in effect. Their scopes are either a tab or a session.
type pauses struct {
	mu   sync.Mutex
	held map[scope][]*hold
}

// hold is one pause. Its fields do not change.
type hold struct {
	*domtapv1.Pause
	// ended is closed when the pause has ended or was replaced.
	ended chan struct{}
	// waiting counts the waiting calls.
	waiting atomic.Int32
}

// holds reports whether the pause applies to a client.
func (h *hold) holds(client string) bool {
	if h.GetClient() == "" {
		return client != h.GetBy()
	}
	return client == h.GetClient()
}

// find returns the pause that holds the calls of a client, or nil. A pause of the tab takes precedence over a pause of the session.
func (p *pauses) find(at scope, client string) *hold {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.held) == 0 {
		return nil
	}
	for _, s := range []scope{{tab: at.tab}, {session: at.session}} {
		for _, h := range p.held[s] {
			if h.holds(client) {
				return h
			}
		}
	}
	return nil
}

// set starts a pause. It replaces an existing pause of the same client.
func (p *pauses) set(at scope, one *domtapv1.Pause) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := &hold{Pause: one, ended: make(chan struct{})}
	for i, h := range p.held[at] {
		if h.GetClient() == one.GetClient() {
			p.held[at][i] = next
			close(h.ended)
			return nil
		}
	}
	if len(p.held[at]) >= maxPauses {
		return &limit.Exceeded{Limit: "pauses", Max: strconv.Itoa(maxPauses), Message: "there are " + strconv.Itoa(maxPauses) + " pauses, which is the limit: resume clients first"}
	}
	p.held[at] = append(p.held[at], next)
	return nil
}

// clear ends the pause of a client and returns it. It returns nil if there is none.
func (p *pauses) clear(at scope, client string) *domtapv1.Pause {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, h := range p.held[at] {
		if h.GetClient() == client {
			if p.held[at] = append(p.held[at][:i:i], p.held[at][i+1:]...); len(p.held[at]) == 0 {
				delete(p.held, at)
			}
			close(h.ended)
			return h.Pause
		}
	}
	return nil
}

// end ends all pauses of a scope that no longer exists.
func (p *pauses) end(at scope) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, h := range p.held[at] {
		close(h.ended)
	}
	delete(p.held, at)
}

// list returns the pauses of some scopes.
func (p *pauses) list(scopes ...scope) []*domtapv1.Pause {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []*domtapv1.Pause
	for _, at := range scopes {
		for _, h := range p.held[at] {
			one := proto.CloneOf(h.Pause)
			one.Waiting = uint32(max(0, h.waiting.Load()))
			out = append(out, one)
		}
	}
	return out
}

// takenOverBy returns the client that has taken over a tab, or "" if there is none.
func (p *pauses) takenOverBy(tab string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, h := range p.held[scope{tab: tab}] {
		if h.GetClient() == "" {
			return h.GetBy()
		}
	}
	return ""
}

// hold waits until a client may act. It calls waits with true before it waits, and with false afterwards.
func (t *Timelines) hold(ctx context.Context, at scope, client string, waits func(bool)) error {
	h := t.pauses.find(at, client)
	if h == nil {
		return nil
	}
	bounded, cancel := deadline.Reserve(ctx)
	defer cancel()
	for told := false; h != nil; h = t.pauses.find(at, client) {
		if h.GetMode() == domtapv1.PauseMode_PAUSE_MODE_FAIL {
			return paused(h, client)
		}
		if !told {
			told = true
			waits(true)
			defer waits(false)
		}
		h.waiting.Add(1)
		select {
		case <-h.ended:
			h.waiting.Add(-1)
		case <-bounded.Done():
			h.waiting.Add(-1)
			if ctx.Err() != nil {
				return ctx.Err() // the caller is gone
			}
			return paused(h, client)
		}
	}
	return nil
}

// paused returns the error of a call that a pause holds.
func paused(h *hold, client string) error {
	why := fmt.Sprintf("client %q is paused by %q", client, h.GetBy())
	if h.GetClient() == "" {
		why = fmt.Sprintf("%q has taken over the tab", h.GetBy())
	}
	if h.GetReason() != "" {
		why += ": " + h.GetReason()
	}
	return rpcstatus.New(codes.FailedPrecondition, why+"; nothing was done: wait until the person resumes you or hands the tab back, then read the page before you act again",
		rpcstatus.Info("CLIENT_PAUSED", map[string]string{"client": client, "by": h.GetBy(), "reason": h.GetReason()}))
}

// Pause pauses a client. If the pause names no client, it pauses all clients except the caller, as TakeOver does. The names in it are the
// daemon's.
func (t *Timelines) Pause(who identity.Principal, one *domtapv1.Pause) error {
	if one.Mode == domtapv1.PauseMode_PAUSE_MODE_UNSPECIFIED {
		one.Mode = domtapv1.PauseMode_PAUSE_MODE_WAIT
	}
	one.Since = timestamppb.New(time.Now())
	if err := t.pauses.set(scope{one.GetTabId(), one.GetSessionId()}, one); err != nil {
		return err
	}
	action := domtapv1.TimelineAction_TIMELINE_ACTION_PAUSED
	if one.GetClient() == "" {
		action = domtapv1.TimelineAction_TIMELINE_ACTION_TAKEN_OVER
	}
	t.control(who, one, action, one.GetBy())
	return nil
}

// Resume ends the pause of a client. If client is empty, it ends a TakeOver. by is the client that resumes.
func (t *Timelines) Resume(who identity.Principal, tab, session, client, by string) (*domtapv1.Pause, error) {
	if client != "" && client == by {
		return nil, rpcstatus.New(codes.FailedPrecondition, fmt.Sprintf("client %q is paused and cannot resume itself: resume it from another client", client),
			rpcstatus.Info("CLIENT_PAUSED", map[string]string{"client": client}))
	}
	ended := t.pauses.clear(scope{tab, session}, client)
	switch {
	case ended == nil && client == "":
		return nil, rpcstatus.New(codes.FailedPrecondition, "no client has taken over the tab: ListPauses lists the pauses", rpcstatus.Info("NOT_PAUSED", nil))
	case ended == nil:
		return nil, rpcstatus.New(codes.FailedPrecondition, fmt.Sprintf("client %q is not paused there: ListPauses lists the pauses", client),
			rpcstatus.Info("NOT_PAUSED", map[string]string{"client": client}))
	}
	action := domtapv1.TimelineAction_TIMELINE_ACTION_RESUMED
	if client == "" {
		action = domtapv1.TimelineAction_TIMELINE_ACTION_HANDED_BACK
	}
	t.control(who, ended, action, by)
	return ended, nil
}

// CloseSession ends the pauses of a closed session.
func (t *Timelines) CloseSession(session string) { t.pauses.end(scope{session: session}) }

// control records a person's action in the timelines.
func (t *Timelines) control(who identity.Principal, one *domtapv1.Pause, action domtapv1.TimelineAction, by string) {
	reason := one.GetReason()
	if action == domtapv1.TimelineAction_TIMELINE_ACTION_RESUMED || action == domtapv1.TimelineAction_TIMELINE_ACTION_HANDED_BACK {
		reason = "" // the reason belongs to the pause
	}
	tabs := t.inSession(one.GetSessionId())
	if one.GetTabId() != "" {
		tabs = nil
		if tab, err := t.Of(who, one.GetTabId()); err == nil {
			tabs = append(tabs, tab)
		}
	}
	for _, tab := range tabs {
		tab.Sync()
		tab.Add(&timeline.Entry{Time: timestamppb.Now(), Client: by, Owner: who.Name(), Event: &domtapv1.TimelineEntry_Control{Control: &domtapv1.TimelineControl{
			Action: action, Client: one.GetClient(), Reason: reason, Mode: one.GetMode(), Session: one.GetSessionId() != ""}}})
	}
}

// Pauses lists the pauses of a tab and of its session, or the pauses of a session.
func (t *Timelines) Pauses(tab *Tab, session string) []*domtapv1.Pause {
	if tab != nil {
		return t.pauses.list(scope{tab: tab.tab.ID()}, scope{session: tab.session})
	}
	return t.pauses.list(scope{session: session})
}

// Holds reports whether a client's acting calls on a tab are held.
func (t *Timelines) Holds(tab *Tab, client string) bool {
	return t.pauses.find(scope{tab.tab.ID(), tab.session}, client) != nil
}

// TakenOverBy returns the client that has taken over a tab, or "" if there is none.
func (t *Timelines) TakenOverBy(tab *Tab) string { return t.pauses.takenOverBy(tab.tab.ID()) }
