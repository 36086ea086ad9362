// Package stats implements StatsService, which reports usage figures.
//
// Callers must pass valid requests (Rules). Handlers return errors of package actor, which package rpcstatus converts to statuses.
package stats

import (
	"context"

	"github.com/domtap/domtap/actor/apierr"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rpc/authz"
	"github.com/domtap/domtap/internal/server/rpc/identity"
	"github.com/domtap/domtap/internal/telemetry/usage"
	"github.com/domtap/domtap/internal/tokens"
)

// Service implements StatsService. Its fields must be set, unless they may be nil.
type Service struct {
	domtapv1.UnimplementedStatsServiceServer
	// Access provides the only access to tabs and sessions.
	Access *authz.Access
	// Usage holds the usage figures.
	Usage *usage.Recorder
}

// GetStats reports usage figures.
func (s *Service) GetStats(ctx context.Context, r *domtapv1.GetStatsRequest) (*domtapv1.GetStatsResponse, error) {
	session, err := s.Access.Session(ctx, r.GetSessionId())
	if err != nil {
		return nil, err
	}
	place := usage.Place{Session: session, Tab: r.GetTabId()}
	if who := identity.From(ctx); !who.IsOperator() {
		place.Owner = who.Name()
	}
	if place.Tab != "" {
		tab, err := s.Access.Tab(ctx, place.Tab)
		if err == nil && place.Session != "" && tab.Session() != place.Session {
			err = apierr.Unknown("tab", "tab %s belongs to session %q: leave session_id empty, or set it to that session", place.Tab, tab.Session())
		}
		if err != nil {
			return nil, err
		}
		place.Session = tab.Session()
	}
	return statsMessage(s.Usage.Report(place), tokens.Name), nil
}
