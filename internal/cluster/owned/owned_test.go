package owned

import (
	"testing"

	"github.com/domtap/domtap/internal/cluster/registry"
)

// TestForgoneSessionsNeedANewerToken requires that a node that has forgone a session never owns it under a token up to the forgone one,
// because another node may have been assigned the session as a result.
func TestForgoneSessionsNeedANewerToken(t *testing.T) {
	s := New[string]()
	if !s.Disclaim("a", 3) {
		t.Error("a session that the node does not have is not forgone")
	}
	if s.Disclaim("a", 2); s.Add("a", Session[string]{Token: 3}) {
		t.Error("a session was added under a token that was forgone")
	}
	if upTo, ok := s.DisclaimedUpTo("a"); upTo != 3 || !ok {
		t.Errorf("ForgoneUpTo: %d, %v; want 3", upTo, ok)
	}
	if !s.Add("a", Session[string]{Token: 4}) {
		t.Error("a session was not added under a newer token")
	}
	if s.Disclaim("a", 9) {
		t.Error("a session that the node has was forgone")
	}
	if s.Add("a", Session[string]{Token: 10}) {
		t.Error("a session was added twice")
	}
}

// TestOneCallerClaimsASession requires that only one of several callers can claim a session in order to move it.
func TestOneCallerClaimsASession(t *testing.T) {
	s := New[string]()
	s.Add("a", Session[string]{Phase: registry.Ready})
	if !s.Claim("a") || s.Claim("a") {
		t.Error("not exactly one of two claims succeeded")
	}
	s.Update("a", func(h *Session[string]) { h.Phase = registry.Ready })
	if !s.Claim("a") || s.Claim("b") {
		t.Error("a session that is back cannot be claimed, or one that is not here can")
	}
}

// TestRebaseTakesWhatTheRegistryHasInstead requires that a session continues when the registry has lost its entry, unless the session was
// assigned to another node in the meantime.
func TestRebaseTakesWhatTheRegistryHasInstead(t *testing.T) {
	entry := func(revision, token uint64) *registry.Entry[registry.Session] {
		return &registry.Entry[registry.Session]{Key: "a", Revision: revision, Value: registry.Session{Fence: token}}
	}
	for _, c := range []struct {
		name     string
		has      Session[string]
		was, is  *registry.Entry[registry.Session]
		revision uint64
		lost     bool
	}{
		{"the entry is older again", Session[string]{Revision: 7, Token: 2}, entry(7, 2), entry(5, 2), 5, true},
		{"there is none", Session[string]{Revision: 7, Token: 2}, entry(7, 2), nil, 0, true},
		{"another node was given it", Session[string]{Revision: 7, Token: 2}, entry(7, 2), entry(5, 3), 0, false},
		{"what was lost is older than what the node has", Session[string]{Revision: 9, Token: 2}, entry(7, 2), entry(5, 2), 9, false},
	} {
		s := New[string]()
		s.Add("a", c.has)
		s.Rebase(registry.Change[registry.Session]{Key: "a", Old: c.was, New: c.is})
		if h, _ := s.Get("a"); h.Revision != c.revision || h.Lost != c.lost {
			t.Errorf("%s: revision %d, lost %v; want %d, %v", c.name, h.Revision, h.Lost, c.revision, c.lost)
		}
	}
}
