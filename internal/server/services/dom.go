package services

import (
	"context"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/connections"
	"github.com/domtap/domtap/internal/server/replay"
	"github.com/domtap/domtap/internal/server/waits"
)

type domService struct {
	domtapv1.UnimplementedDomServiceServer
	*core
}

// GetDom returns the elements of a page.
func (s *domService) GetDom(ctx context.Context, r *domtapv1.GetDomRequest) (*domtapv1.GetDomResponse, error) {
	got, err := s.read.Snapshot(ctx, r, r.SinceRevision, true)
	if err != nil {
		return nil, err
	}
	return got.Dom(ctx, r), nil
}

// GetCompact returns the same view as text.
func (s *domService) GetCompact(ctx context.Context, r *domtapv1.GetCompactRequest) (*domtapv1.GetCompactResponse, error) {
	got, err := s.read.Snapshot(ctx, r, r.SinceRevision, false)
	if err != nil {
		return nil, err
	}
	return got.Compact(ctx, r), nil
}

// WatchDom streams the changes of a view.
func (s *domService) WatchDom(r *domtapv1.WatchDomRequest, stream domtapv1.DomService_WatchDomServer) error {
	tab, err := s.read.Source(stream.Context(), r.GetTabId())
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
	return s.Streams.Watch(tab, shared, r, stream)
}

// WaitFor waits until a condition holds.
func (s *domService) WaitFor(ctx context.Context, r *domtapv1.WaitForRequest) (*domtapv1.WaitForResponse, error) {
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
