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

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/sessions"
)

// maxOrigins bounds the origins whose local storage is remembered.
const maxOrigins = 500

// Store is what the pages of one browser context have stored. It knows the origins that may hold local storage, for the
// browser does not list them.
type Store struct {
	root    devtools.Session
	context cdp.BrowserContextID
	// changes counts what may have changed the cookies: documents and requests.
	changes atomic.Uint64

	mu sync.Mutex
	// origins are those of the documents that pages showed, each once, the newest last.
	origins []string
}

// NewStore makes the store of a browser context.
func NewStore(root devtools.Session, context cdp.BrowserContextID) *Store {
	return &Store{root: root, context: context}
}

// Changes grows whenever the cookies may have changed.
func (s *Store) Changes() uint64 { return s.changes.Load() }

// Requested notes that a page made a request.
func (s *Store) Requested() { s.changes.Add(1) }

// Visited notes that a page showed a document.
func (s *Store) Visited(address string) {
	s.changes.Add(1)
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return
	}
	s.remember(u.Scheme + "://" + strings.ToLower(u.Host))
}

// remember keeps an origin, as the newest one.
func (s *Store) remember(origin string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.origins); n > 0 && s.origins[n-1] == origin {
		return
	}
	s.origins = append(slices.DeleteFunc(s.origins, func(o string) bool { return o == origin }), origin)
	s.origins = s.origins[max(0, len(s.origins)-maxOrigins):]
}

// known lists the origins that may hold local storage.
func (s *Store) known() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.origins)
}

// Cookies reads the cookies.
func (s *Store) Cookies(ctx context.Context) ([]sessions.Cookie, error) {
	return Cookies(ctx, s.root, s.context)
}

// Read reads the cookies, and the local storage of all known origins.
func (s *Store) Read(ctx context.Context) (sessions.State, error) {
	var state sessions.State
	var err error
	if state.Cookies, err = s.Cookies(ctx); err != nil {
		return sessions.State{}, err
	}
	size := 0
	err = s.visit(ctx, s.known(), func(l *Local, origin string) error {
		entries, err := l.Read(ctx, origin)
		if err != nil || len(entries) == 0 {
			return err
		}
		for _, e := range entries {
			size += len(e.Name) + len(e.Value)
		}
		if size > sessions.MaxStateBytes {
			return apierr.Exceeded("state_bytes", sessions.MaxStateBytes, "the local storage of the session has more than %d MiB: clear what is not needed", sessions.MaxStateBytes>>20)
		}
		state.Origins = append(state.Origins, sessions.Origin{Origin: origin, Entries: entries})
		return nil
	})
	if err != nil {
		return sessions.State{}, err
	}
	return state, nil
}

// Write adds a state to what is stored, or with replace puts the state in place of all that is stored.
func (s *Store) Write(ctx context.Context, state sessions.State, replace bool) error {
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

// add adds a state to what is stored.
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
	return s.visit(ctx, origins, func(l *Local, origin string) error { return l.Write(ctx, all[origin]) })
}

// clear clears all that is stored.
func (s *Store) clear(ctx context.Context) error {
	if _, err := cdp.Call(ctx, s.root, storage.ClearCookies, storage.ClearCookiesParams{BrowserContextID: s.context}); err != nil {
		return err
	}
	return s.visit(ctx, s.known(), func(l *Local, origin string) error { return l.Clear(ctx, origin) })
}

// visit visits origins by a hidden page.
func (s *Store) visit(ctx context.Context, origins []string, do func(*Local, string) error) error {
	if len(origins) == 0 {
		return nil
	}
	l, err := OpenLocal(ctx, s.root, s.context)
	if err != nil {
		return err
	}
	defer l.Close(ctx)
	for _, origin := range origins {
		if err := do(l, origin); err != nil {
			return err
		}
	}
	return nil
}
