package authz

import (
	"context"

	"github.com/domtap/domtap/internal/routes"
	"github.com/domtap/domtap/internal/sessions"
)

// Network provides access to the routes of the callers' sessions.
type Network struct{ *Access }

// AddRoute adds a route to a session.
func (a Network) AddRoute(ctx context.Context, id string, r routes.Route) (routes.Route, error) {
	id, err := a.session(ctx, id)
	if err != nil {
		return routes.Route{}, err
	}
	return sessions.Routing{Sessions: a.sessions}.Add(ctx, id, r)
}

// Routes lists the routes of a session, newest first.
func (a Network) Routes(ctx context.Context, id string) ([]routes.Route, error) {
	id, err := a.session(ctx, id)
	if err != nil {
		return nil, err
	}
	return sessions.Routing{Sessions: a.sessions}.List(id)
}

// RemoveRoutes removes routes of a session. Without ids it removes all of them.
func (a Network) RemoveRoutes(ctx context.Context, id string, ids []string) ([]routes.Route, error) {
	id, err := a.session(ctx, id)
	if err != nil {
		return nil, err
	}
	return sessions.Routing{Sessions: a.sessions}.Remove(ctx, id, ids)
}
