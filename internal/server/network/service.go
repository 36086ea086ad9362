// Package network implements NetworkService: the routes of sessions, which block, answer or change requests of pages.
//
// Callers must pass valid requests (Rules). Handlers return errors of package actor, which package rpcstatus converts to statuses.
package network

import (
	"context"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rpc/authz"
)

// Service implements NetworkService. Its fields must be set, unless they may be nil.
type Service struct {
	domtapv1.UnimplementedNetworkServiceServer
	// Access provides the only access to sessions.
	Access *authz.Access
}

// access returns the caller's access to the routes of sessions.
func (s *Service) access() authz.Network { return authz.Network{Access: s.Access} }

// AddRoute adds a route to a session.
func (s *Service) AddRoute(ctx context.Context, r *domtapv1.AddRouteRequest) (*domtapv1.AddRouteResponse, error) {
	added, err := s.access().AddRoute(ctx, r.GetSessionId(), routeOf(r.GetRoute()))
	if err != nil {
		return nil, err
	}
	return &domtapv1.AddRouteResponse{Route: routeMessage(added)}, nil
}

// ListRoutes lists the routes of a session.
func (s *Service) ListRoutes(ctx context.Context, r *domtapv1.ListRoutesRequest) (*domtapv1.ListRoutesResponse, error) {
	all, err := s.access().Routes(ctx, r.GetSessionId())
	if err != nil {
		return nil, err
	}
	return &domtapv1.ListRoutesResponse{Routes: routeMessages(all)}, nil
}

// RemoveRoutes removes routes of a session.
func (s *Service) RemoveRoutes(ctx context.Context, r *domtapv1.RemoveRoutesRequest) (*domtapv1.RemoveRoutesResponse, error) {
	removed, err := s.access().RemoveRoutes(ctx, r.GetSessionId(), r.GetRouteIds())
	if err != nil {
		return nil, err
	}
	return &domtapv1.RemoveRoutesResponse{Routes: routeMessages(removed)}, nil
}
