// Package storage implements StorageService: the cookies, the local storage and the session storage of sessions and tabs.
//
// Callers must pass valid requests (Rules). Handlers return errors of package actor, which package rpcstatus converts to statuses.
package storage

import (
	"context"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/query"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rpc/authz"
	"github.com/domtap/domtap/internal/sessions"
)

// Service implements StorageService. Its fields must be set, unless they may be nil.
type Service struct {
	domtapv1.UnimplementedStorageServiceServer
	// Access provides the only access to tabs and sessions.
	Access *authz.Access
}

// unmasked returns an error if the request wants values and the session masks them.
func unmasked(all sessions.Storage, values bool) error {
	if values && all.Masked() {
		return apierr.Errorf(apierr.NotActionable, "this session masks page content, and stored values could reveal it: leave out values, or use a session without --mask")
	}
	return nil
}

// ListCookies lists cookies of a session.
func (s *Service) ListCookies(ctx context.Context, r *domtapv1.ListCookiesRequest) (*domtapv1.ListCookiesResponse, error) {
	resp := new(domtapv1.ListCookiesResponse)
	err := s.Access.Stored(ctx, r.GetSessionId(), func(ctx context.Context, all sessions.Storage) error {
		if err := unmasked(all, r.GetValues()); err != nil {
			return err
		}
		found, err := all.Cookies(ctx, cookieFilterOf(r.GetFilter()))
		resp.Cookies = storedCookies(found, r.GetValues())
		return err
	})
	return answer(resp, err)
}

// answer returns resp, or nil with the error.
func answer[R any](resp *R, err error) (*R, error) {
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// SetCookies adds or replaces cookies.
func (s *Service) SetCookies(ctx context.Context, r *domtapv1.SetCookiesRequest) (*domtapv1.SetCookiesResponse, error) {
	return answer(new(domtapv1.SetCookiesResponse), s.Access.Stored(ctx, r.GetSessionId(), func(ctx context.Context, all sessions.Storage) error {
		return all.SetCookies(ctx, cookiesOf(r.GetCookies()))
	}))
}

// DeleteCookies deletes cookies.
func (s *Service) DeleteCookies(ctx context.Context, r *domtapv1.DeleteCookiesRequest) (*domtapv1.DeleteCookiesResponse, error) {
	resp := new(domtapv1.DeleteCookiesResponse)
	return answer(resp, s.Access.Stored(ctx, r.GetSessionId(), func(ctx context.Context, all sessions.Storage) error {
		deleted, err := all.DeleteCookies(ctx, cookieFilterOf(r.GetFilter()))
		resp.Deleted = int32(deleted)
		return err
	}))
}

// GetLocalStorage reads the local storage of one origin or of all origins.
func (s *Service) GetLocalStorage(ctx context.Context, r *domtapv1.GetLocalStorageRequest) (*domtapv1.GetLocalStorageResponse, error) {
	resp := new(domtapv1.GetLocalStorageResponse)
	return answer(resp, s.Access.Stored(ctx, r.GetSessionId(), func(ctx context.Context, all sessions.Storage) error {
		if err := unmasked(all, r.GetValues()); err != nil {
			return err
		}
		found, err := all.LocalStorage(ctx, r.GetOrigin())
		for _, o := range found {
			if one := storedOrigin(o.Origin, o.Entries, r.GetName(), r.GetValues()); len(one.GetEntries()) > 0 {
				resp.Origins = append(resp.Origins, one)
			}
		}
		return err
	}))
}

// EditLocalStorage changes the local storage of an origin.
func (s *Service) EditLocalStorage(ctx context.Context, r *domtapv1.EditLocalStorageRequest) (*domtapv1.EditLocalStorageResponse, error) {
	return answer(new(domtapv1.EditLocalStorageResponse), s.Access.Stored(ctx, r.GetSessionId(), func(ctx context.Context, all sessions.Storage) error {
		return all.EditLocalStorage(ctx, r.GetOrigin(), editOf(r.GetEdit()))
	}))
}

// GetSessionStorage reads an origin's session storage in a tab.
func (s *Service) GetSessionStorage(ctx context.Context, r *domtapv1.GetSessionStorageRequest) (*domtapv1.GetSessionStorageResponse, error) {
	found, err := s.sessionStorage(ctx, r.GetTabId(), r.GetOrigin(), sessions.Edit{}, r.GetValues())
	if err != nil {
		return nil, err
	}
	return &domtapv1.GetSessionStorageResponse{Storage: storedOrigin(found.Origin, found.Entries, r.GetName(), r.GetValues())}, nil
}

// EditSessionStorage changes an origin's session storage in a tab.
func (s *Service) EditSessionStorage(ctx context.Context, r *domtapv1.EditSessionStorageRequest) (*domtapv1.EditSessionStorageResponse, error) {
	_, err := s.sessionStorage(ctx, r.GetTabId(), r.GetOrigin(), editOf(r.GetEdit()), false)
	return answer(new(domtapv1.EditSessionStorageResponse), err)
}

func (s *Service) sessionStorage(ctx context.Context, id, origin string, e sessions.Edit, values bool) (query.Stored, error) {
	tab, err := s.Access.Tab(ctx, id)
	if err != nil {
		return query.Stored{}, err
	}
	return query.SessionStorage(ctx, tab, origin, e, values)
}
