package sessions

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/internal/routes"
)

// Routing manages the routes of sessions. Its methods are safe for concurrent use.
type Routing struct{ *Sessions }

// Add adds a route, which takes precedence over existing routes, and assigns its id. When Add returns, the route applies in all pages that
// respond. Add fails with an *apierr.Error of kind Exhausted if there are too many routes, or too many bytes in bodies.
func (s Routing) Add(ctx context.Context, id string, r routes.Route) (routes.Route, error) {
	err := s.change(ctx, id, func(ctx context.Context, one *session) error {
		settings := s.settingsOf(one)
		if err := hasRoom(settings.Routes, r); err != nil {
			return err
		}
		one.lastRoute = max(one.lastRoute, lastRoute(settings.Routes)) + 1
		r.ID, r.Matched = "r"+strconv.Itoa(one.lastRoute), new(routes.Counter)
		settings.Routes = append(slices.Clone(settings.Routes), r)
		return s.configure(ctx, one, settings)
	})
	return r, err
}

// hasRoom fails if a session cannot have another route.
func hasRoom(all []routes.Route, r routes.Route) error {
	if len(all) >= routes.MaxRoutes {
		return apierr.Exceeded("routes", routes.MaxRoutes, "the session has %d routes, which is the limit: remove one first", len(all))
	}
	size := r.Size()
	for i := range all {
		size += all[i].Size()
	}
	if size > routes.MaxBodies {
		return apierr.Exceeded("route_bytes", routes.MaxBodies, "the bodies of the session's routes would have %d bytes, more than the limit of %d: remove a route, or use smaller bodies", size, routes.MaxBodies)
	}
	return nil
}

// lastRoute returns the highest number in the ids of routes.
func lastRoute(all []routes.Route) int {
	last := 0
	for i := range all {
		if n, err := strconv.Atoi(strings.TrimPrefix(all[i].ID, "r")); err == nil {
			last = max(last, n)
		}
	}
	return last
}

// List returns the routes, newest first. The first matching route handles a request.
func (s Routing) List(id string) ([]routes.Route, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, err := s.registry.find(id)
	if err != nil {
		return nil, err
	}
	all := slices.Clone(one.settings.Routes)
	slices.Reverse(all)
	return all, nil
}

// Remove removes routes by their ids, or all routes if ids is empty. It returns the removed routes. If an id is unknown, Remove removes no
// route and fails with an *apierr.Error of kind NotFound.
func (s Routing) Remove(ctx context.Context, id string, ids []string) (removed []routes.Route, err error) {
	err = s.change(ctx, id, func(ctx context.Context, one *session) error {
		settings := s.settingsOf(one)
		for _, name := range ids {
			if !slices.ContainsFunc(settings.Routes, func(r routes.Route) bool { return r.ID == name }) {
				return apierr.Unknown("route", "unknown route %q: list the routes of the session", name)
			}
		}
		var left []routes.Route
		for _, r := range settings.Routes {
			if len(ids) == 0 || slices.Contains(ids, r.ID) {
				removed = append(removed, r)
			} else {
				left = append(left, r)
			}
		}
		settings.Routes = left
		return s.configure(ctx, one, settings)
	})
	return removed, err
}

// settingsOf returns the current settings of a session.
func (s *Sessions) settingsOf(one *session) Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return one.settings
}

// configure applies new settings. The caller must hold the session's change token.
func (s *Sessions) configure(ctx context.Context, one *session, settings Settings) error {
	if err := one.context.Configure(ctx, settings); err != nil {
		return fmt.Errorf("change session %s: %w", one.id, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	one.settings = settings
	return nil
}

// counted returns the routes with new counters, for routes that come from another process.
func counted(all []routes.Route) []routes.Route {
	all = slices.Clone(all)
	for i := range all {
		if all[i].Matched == nil {
			all[i].Matched = new(routes.Counter)
		}
	}
	return all
}
