// Package storagestate reads and writes the stored data of a browser context: cookies, and the local storage and databases of origins,
// including origins that no page shows.
//
// Only documents can access storage, so a hidden page visits the origins one after another. We serve it an empty document: no request
// leaves the browser, no script of a site runs, and no tab is visible.
package storagestate

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/storage"

	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/sessions"
)

// maxOrigins limits how many origins are remembered.
const maxOrigins = 500

// Store is the stored data of one browser context. It remembers the origins that may have local storage, because the browser does not list
// them.
type Store struct {
	root    devtools.Session
	context cdp.BrowserContextID
	// changes counts events that may have changed the cookies: documents and requests.
	changes atomic.Uint64

	mu sync.Mutex
	// origins lists the origins of the documents that pages have shown, without duplicates, newest last.
	origins []string
}

// NewStore returns the store of a browser context.
func NewStore(root devtools.Session, context cdp.BrowserContextID) *Store {
	return &Store{root: root, context: context}
}

// Changes returns a counter that increases whenever the cookies may have changed.
func (s *Store) Changes() uint64 { return s.changes.Load() }

// Requested records that a page made a request.
func (s *Store) Requested() { s.changes.Add(1) }

// Visited records that a page showed a document.
func (s *Store) Visited(address string) {
	s.changes.Add(1)
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return
	}
	s.remember(u.Scheme + "://" + strings.ToLower(u.Host))
}

// remember adds an origin as the newest one.
func (s *Store) remember(origin string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.origins); n > 0 && s.origins[n-1] == origin {
		return
	}
	s.origins = append(slices.DeleteFunc(s.origins, func(o string) bool { return o == origin }), origin)
	s.origins = s.origins[max(0, len(s.origins)-maxOrigins):]
}

// known returns the origins that may have local storage.
func (s *Store) known() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.origins)
}

// Read returns the cookies and the storage of all known origins.
func (s *Store) Read(ctx context.Context, o sessions.StateOptions) (sessions.State, error) {
	var state sessions.State
	var err error
	if state.Cookies, err = Cookies(ctx, s.root, s.context); err != nil {
		return sessions.State{}, err
	}
	left, room := sessions.MaxStateBytes, o.Room
	err = s.visit(ctx, s.known(), func(v *Visitor, origin string) error {
		one := sessions.Origin{Origin: origin}
		var err error
		if one.Entries, err = v.Local().Read(ctx); err != nil {
			return err
		}
		for _, e := range one.Entries {
			left -= len(e.Name) + len(e.Value)
		}
		if left < 0 {
			return tooLargeError()
		}
		if o.Databases {
			found, err := v.databasesWithin(ctx, left, room, o.Room > 0)
			if err != nil {
				return err
			}
			one.Databases, left, room = found.Databases, left-found.Size, room-found.Size
			state.Omissions = append(state.Omissions, found.Omissions...)
		}
		if len(one.Entries) > 0 || len(one.Databases) > 0 {
			state.Origins = append(state.Origins, one)
		}
		return nil
	})
	if err != nil {
		return sessions.State{}, err
	}
	return state, nil
}

// LocalStorage implements sessions.Storage.
func (s *Store) LocalStorage(ctx context.Context, origin string) ([]sessions.Origin, error) {
	origins := []string{origin}
	if origin == "" {
		origins = s.known()
	}
	slices.Sort(origins)
	var all []sessions.Origin
	size := 0
	err := s.visit(ctx, origins, func(v *Visitor, origin string) error {
		entries, err := v.Local().Read(ctx)
		if err != nil || len(entries) == 0 {
			return err
		}
		for _, e := range entries {
			size += len(e.Name) + len(e.Value)
		}
		if size > sessions.MaxStateBytes {
			return tooLargeError()
		}
		all = append(all, sessions.Origin{Origin: origin, Entries: entries})
		return nil
	})
	return all, err
}

// EditLocalStorage implements sessions.Storage.
func (s *Store) EditLocalStorage(ctx context.Context, origin string, e sessions.Edit) error {
	s.changes.Add(1)
	s.remember(origin)
	return s.visit(ctx, []string{origin}, func(v *Visitor, _ string) error {
		_, err := v.Local().Edit(ctx, e)
		return err
	})
}

// Write adds a state to the stored data. If replace is set, the state replaces all stored data.
func (s *Store) Write(ctx context.Context, state sessions.State, replace bool) error {
	s.changes.Add(1)
	if replace {
		if err := s.clear(ctx); err != nil {
			return fmt.Errorf("clearing a session: %w", err)
		}
	}
	if err := s.add(ctx, state); err != nil {
		return fmt.Errorf("loading a session: %w", err)
	}
	return nil
}

// add adds a state to the stored data.
func (s *Store) add(ctx context.Context, state sessions.State) error {
	if err := SetCookies(ctx, s.root, s.context, state.Cookies); err != nil {
		return err
	}
	all := map[string]sessions.Origin{}
	var origins []string
	for _, o := range state.Origins {
		origins = append(origins, o.Origin)
		all[o.Origin] = o
		s.remember(o.Origin)
	}
	return s.visit(ctx, origins, func(v *Visitor, origin string) error {
		if len(all[origin].Entries) > 0 {
			if _, err := v.Local().Edit(ctx, sessions.Edit{Set: all[origin].Entries}); err != nil {
				return err
			}
		}
		return v.SetDatabases(ctx, all[origin].Databases)
	})
}

// clear deletes all stored data.
func (s *Store) clear(ctx context.Context) error {
	if _, err := cdp.Call(ctx, s.root, storage.ClearCookies, storage.ClearCookiesParams{BrowserContextID: s.context}); err != nil {
		return err
	}
	return s.visit(ctx, s.known(), func(v *Visitor, origin string) error { return v.Clear(ctx, origin) })
}

// visit visits origins with a hidden page and calls do at each of them.
func (s *Store) visit(ctx context.Context, origins []string, do func(*Visitor, string) error) error {
	if len(origins) == 0 {
		return nil
	}
	v, err := OpenVisitor(ctx, s.root, s.context)
	if err != nil {
		return err
	}
	defer v.Close(ctx)
	for _, origin := range origins {
		if err := v.Visit(ctx, origin); err != nil {
			return err
		}
		if err := do(v, origin); err != nil {
			return err
		}
	}
	return nil
}
