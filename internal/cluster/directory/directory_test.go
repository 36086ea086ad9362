package directory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/domtap/domtap/internal/cluster"
	"github.com/domtap/domtap/internal/cluster/peers"
	"github.com/domtap/domtap/internal/cluster/registry"
	"github.com/domtap/domtap/internal/testenv"
)

var _ Cluster = (*cluster.Node)(nil)

// fake is a cluster of two nodes that always gives the same answer.
type fake struct {
	place cluster.Place
	err   error
	// asked is the last lookup.
	asked string
}

func (f *fake) TabOwner(_ context.Context, tab string, latest bool) (cluster.Place, error) {
	f.asked = fmt.Sprint("tab ", tab, " ", latest)
	return f.place, f.err
}

func (f *fake) SessionOwner(_ context.Context, name string, latest bool) (cluster.Place, error) {
	f.asked = fmt.Sprint("session ", name, " ", latest)
	return f.place, f.err
}

func (f *fake) Place(session string) (cluster.Place, error) {
	f.asked = "place " + session
	return f.place, f.err
}

func (f *fake) Nodes() []registry.Node {
	return []registry.Node{{ID: "a", Incarnation: "1", Address: "a:1"}, {ID: "b", Incarnation: "2", Address: "b:1"}, {ID: "b", Incarnation: "3", Address: "b:2"}}
}

func (f *fake) Changed() <-chan struct{} { return nil }

func (f *fake) Here() cluster.Place {
	return cluster.Place{Node: "b", Incarnation: "3", Address: "b:2", Local: true}
}

func TestPlacesAreNodes(t *testing.T) {
	f := &fake{place: cluster.Place{Node: "b", Incarnation: "3", Address: "b:2", Local: true}}
	d := New(f)
	want := peers.Node{ID: "b", Incarnation: "3", Address: "b:2", Self: true}
	for question, ask := range map[string]func() (peers.Node, error){
		"tab t1 false":          func() (peers.Node, error) { return d.TabOwner(t.Context(), "t1", peers.Cached) },
		"tab t1 true":           func() (peers.Node, error) { return d.TabOwner(t.Context(), "t1", peers.Latest) },
		"session alice.x false": func() (peers.Node, error) { return d.SessionOwner(t.Context(), "alice.x", peers.Cached) },
		"session alice.x true":  func() (peers.Node, error) { return d.SessionOwner(t.Context(), "alice.x", peers.Latest) },
		"place alice.x":         func() (peers.Node, error) { return d.Place(t.Context(), "alice.x") },
	} {
		if got, err := ask(); err != nil || got != want || f.asked != question {
			t.Errorf("%s: %v, %v, by asking for %q", question, got, err, f.asked)
		}
	}
	nodes := []peers.Node{{ID: "a", Incarnation: "1", Address: "a:1"}, {ID: "b", Incarnation: "2", Address: "b:1"}, want}
	if got := d.Nodes(); !slices.Equal(got, nodes) {
		t.Errorf("the nodes are %v", got)
	}
}

func TestErrorsAreThoseOfClients(t *testing.T) {
	for want, err := range map[error]error{peers.ErrUnknown: cluster.ErrNone, peers.ErrGone: cluster.ErrGone, registry.ErrUnavailable: registry.ErrUnavailable} {
		if _, got := New(&fake{err: fmt.Errorf("find it: %w", err)}).TabOwner(t.Context(), "t1", peers.Cached); !errors.Is(got, want) {
			t.Errorf("%v is %v", err, got)
		}
	}
	for reason, err := range map[string]error{"FENCED": cluster.ErrFenced, "LIMIT_REACHED": cluster.ErrNoRoom, "TAB_RESTORING": context.DeadlineExceeded} {
		_, got := New(&fake{err: fmt.Errorf("find it: %w", err)}).SessionOwner(t.Context(), "s", peers.Latest)
		if code := status.Code(got); testenv.Reason(got) != reason || code != codes.Unavailable && code != codes.ResourceExhausted {
			t.Errorf("%v is %v", err, got)
		}
	}
}
