// Package sessions implements SessionService: sessions, their settings, their storage states and their downloads.
//
// Callers must pass valid requests (Rules). Handlers return errors of package actor, which package rpcstatus converts to statuses.
package sessions

import (
	"context"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/messages"
	"github.com/domtap/domtap/internal/server/rpc/authz"
	"github.com/domtap/domtap/internal/server/rpc/identity"
	"github.com/domtap/domtap/internal/server/storage"
	"github.com/domtap/domtap/internal/server/timeline"
	"github.com/domtap/domtap/internal/sessions"
	"github.com/domtap/domtap/internal/telemetry/usage"
)

// Service implements SessionService. Its fields must be set, unless they may be nil.
type Service struct {
	domtapv1.UnimplementedSessionServiceServer
	// Access provides the only access to sessions.
	Access *authz.Access
	// Usage and Timelines are told of closed sessions.
	Usage     *usage.Recorder
	Timelines *timeline.Timelines
}

// CreateSession creates a session.
func (s *Service) CreateSession(ctx context.Context, r *domtapv1.CreateSessionRequest) (*domtapv1.CreateSessionResponse, error) {
	info, err := s.Access.Create(ctx, r.GetSessionId(), settingsOf(r.GetSettings()), storage.State(r.GetStorageState()))
	if err != nil {
		return nil, err
	}
	return &domtapv1.CreateSessionResponse{Session: sessionMessage(info)}, nil
}

// ListSessions lists the sessions.
func (s *Service) ListSessions(ctx context.Context, _ *domtapv1.ListSessionsRequest) (*domtapv1.ListSessionsResponse, error) {
	all, err := s.Access.List(ctx)
	if err != nil {
		return nil, err
	}
	resp := new(domtapv1.ListSessionsResponse)
	for _, info := range all {
		resp.Sessions = append(resp.Sessions, sessionMessage(info))
	}
	return resp, nil
}

// UpdateSession replaces the settings of a session.
func (s *Service) UpdateSession(ctx context.Context, r *domtapv1.UpdateSessionRequest) (*domtapv1.UpdateSessionResponse, error) {
	info, err := s.Access.Update(ctx, r.GetSessionId(), settingsOf(r.GetSettings()))
	if err != nil {
		return nil, err
	}
	return &domtapv1.UpdateSessionResponse{Session: sessionMessage(info)}, nil
}

// CloseSession closes a session.
func (s *Service) CloseSession(ctx context.Context, r *domtapv1.CloseSessionRequest) (*domtapv1.CloseSessionResponse, error) {
	if err := s.Access.Close(ctx, r.GetSessionId(), r.GetKeepDownloads()); err != nil {
		return nil, err
	}
	closed := identity.From(ctx).SessionName(r.GetSessionId())
	s.Usage.CloseSession(closed)
	s.Timelines.CloseSession(closed)
	return new(domtapv1.CloseSessionResponse), nil
}

// GetStorageState returns a session's cookies and storage.
func (s *Service) GetStorageState(ctx context.Context, r *domtapv1.GetStorageStateRequest) (*domtapv1.GetStorageStateResponse, error) {
	state, err := s.Access.State(ctx, r.GetSessionId(), sessions.StateOptions{Databases: r.GetIndexedDb()})
	if err != nil {
		return nil, err
	}
	return &domtapv1.GetStorageStateResponse{State: storage.StorageState(state), Omissions: omissionMessages(state.Omissions)}, nil
}

// SetStorageState sets a session's cookies and storage.
func (s *Service) SetStorageState(ctx context.Context, r *domtapv1.SetStorageStateRequest) (*domtapv1.SetStorageStateResponse, error) {
	if err := s.Access.SetState(ctx, r.GetSessionId(), storage.State(r.GetState()), r.GetReplace()); err != nil {
		return nil, err
	}
	return new(domtapv1.SetStorageStateResponse), nil
}

// ListDownloads lists the downloads of a session.
func (s *Service) ListDownloads(ctx context.Context, r *domtapv1.ListDownloadsRequest) (*domtapv1.ListDownloadsResponse, error) {
	records, err := s.Access.Downloads(ctx, r.GetSessionId())
	if err != nil {
		return nil, err
	}
	return &domtapv1.ListDownloadsResponse{Downloads: messages.Downloads(records)}, nil
}
