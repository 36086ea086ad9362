// Package dom implements DomService: reading the elements of a page, finding them, watching their changes, and waiting for conditions.
//
// A stream of changes is a cursor on a tab's head. A slow reader gets fewer, larger messages and does not delay other readers. Every stream
// ends with a reason.
//
// Callers must pass valid requests (Rules). Handlers return errors of package actor, which package rpcstatus converts to statuses.
package dom

import (
	"context"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/dom/waits"
	"github.com/domtap/domtap/internal/server/replay"
	"github.com/domtap/domtap/internal/server/rpc/authz"
	"github.com/domtap/domtap/internal/server/rpc/connections"
	"github.com/domtap/domtap/internal/server/rpc/streaming"
	"github.com/domtap/domtap/internal/server/tabview"
	"github.com/domtap/domtap/internal/server/tabview/reading"
)

// Service implements DomService. Its fields must be set, unless they may be nil.
type Service struct {
	domtapv1.UnimplementedDomServiceServer
	// Access provides the only access to tabs.
	Access *authz.Access
	// Views records the views that callers have received.
	Views *tabview.Cache
	// Reader reads tabs.
	Reader *reading.Reader
	// Replay serves recordings instead of live tabs. If nil, the tabs are live.
	Replay *replay.Player
	// Streams serves WatchDom.
	Streams *streaming.Streams
}

// GetDom returns the elements of a page.
func (s *Service) GetDom(ctx context.Context, r *domtapv1.GetDomRequest) (*domtapv1.GetDomResponse, error) {
	got, err := s.Reader.Snapshot(ctx, r, r.SinceRevision, true)
	if err != nil {
		return nil, err
	}
	return got.Dom(ctx, r), nil
}

// GetCompact returns the same view as text.
func (s *Service) GetCompact(ctx context.Context, r *domtapv1.GetCompactRequest) (*domtapv1.GetCompactResponse, error) {
	got, err := s.Reader.Snapshot(ctx, r, r.SinceRevision, false)
	if err != nil {
		return nil, err
	}
	return got.Compact(ctx, r), nil
}

// WatchDom streams the changes of a view.
func (s *Service) WatchDom(r *domtapv1.WatchDomRequest, stream domtapv1.DomService_WatchDomServer) error {
	tab, err := s.Reader.Source(stream.Context(), r.GetTabId())
	if err != nil {
		return err
	}
	if s.Replay != nil {
		speed := 1.0
		if r.Speed != nil {
			speed = r.GetSpeed()
		}
		played, stop, err := s.Replay.Follow(stream.Context(), r.GetTabId(), r.GetAt(), speed)
		if err != nil {
			return err
		}
		defer stop()
		tab = played
	} else if r.GetAt() != nil || r.Speed != nil {
		return replay.Refusal()
	}
	shared := s.Views.Of(tab)
	defer shared.BeginStream(connections.Caller(stream.Context(), r.GetClientId()))()
	return s.watch(tab, shared, r, stream)
}

// WaitFor waits until a condition holds.
func (s *Service) WaitFor(ctx context.Context, r *domtapv1.WaitForRequest) (*domtapv1.WaitForResponse, error) {
	tab, err := s.Access.Tab(ctx, r.GetTabId())
	if err != nil {
		return nil, err
	}
	met, err := waits.Wait(ctx, tab, s.Views.Of(tab), r)
	if err != nil {
		return nil, err
	}
	if r.GetFormat() != domtapv1.Format_FORMAT_UNSPECIFIED {
		s.printMet(ctx, tab, r, met)
	}
	return met.Answer, nil
}
