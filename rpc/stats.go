package rpc

import (
	"context"

	"github.com/domtap/domtap/accounts"
	"github.com/domtap/domtap/actor"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/rpc/convert"
	"github.com/domtap/domtap/tokens"
)

type statsService struct {
	domtapv1.UnimplementedStatsServiceServer
	server *Server
}

// GetStats tells what was counted.
func (s *statsService) GetStats(_ context.Context, r *domtapv1.GetStatsRequest) (*domtapv1.GetStatsResponse, error) {
	place := accounts.Place{Session: r.GetSessionId(), Tab: r.GetTabId()}
	if err := s.server.sessions.Has(place.Session); err != nil {
		return nil, err
	}
	if place.Tab != "" {
		tab, err := s.server.pool.Tab(place.Tab)
		if err == nil && place.Session != "" && tab.Session() != place.Session {
			err = actor.Errorf(actor.NotFound, "tab %s is of session %q: leave session_id empty, or name that", place.Tab, tab.Session())
		}
		if err != nil {
			return nil, err
		}
		place.Session = tab.Session()
	}
	return convert.Stats(s.server.book.Statement(place), tokens.Name), nil
}

// Accounts are what the server counts; see package accounts.
func (s *Server) Accounts() *accounts.Book { return s.book }

// opened tells the accounts what is open.
type opened struct{ server *Server }

func (o opened) HasSession(id string) bool { return o.server.sessions.Has(id) == nil }

func (o opened) HasTab(id string) bool { return o.session(id) != "" }

// session is the session of an open tab; empty: there is no such tab.
func (o opened) session(tab string) string {
	if t, err := o.server.pool.Tab(tab); err == nil {
		return t.Session()
	}
	return ""
}
