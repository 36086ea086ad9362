package adapters

import (
	"context"
	"net/url"
	"strings"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/browser/capture"
	"github.com/domtap/domtap/internal/browser/frames"
	"github.com/domtap/domtap/internal/browser/storagestate"
)

// Storage implements driver.PageStorage.
type Storage struct {
	Frames  *frames.Manager
	Capture *capture.Capture
}

// SessionStorage implements driver.PageStorage.
func (s Storage) SessionStorage(ctx context.Context, origin string, e driver.StorageEdit, values bool) (string, []driver.StorageEntry, error) {
	if values {
		if err := s.Capture.Unmasked("stored values could reveal it: leave out values, or use a session without --mask"); err != nil {
			return "", nil, err
		}
	}
	areas := s.areas(origin)
	if len(areas) == 0 {
		return "", nil, apierr.Unknown("origin", "the tab shows no document of %s: navigate it, or one of its frames, to that origin", originOr(origin))
	}
	var err error
	for _, area := range areas { // if a document is gone or sandboxed, try the next one
		var entries []driver.StorageEntry
		if entries, err = area.Edit(ctx, e); err == nil {
			return area.Origin, entries, nil
		}
		if !apierr.Is(err, apierr.NotFound) && !frames.IsGoneContext(err) {
			break
		}
	}
	return "", nil, s.Frames.Failed(err)
}

// areas returns the storage of an origin through each document that has access to it. An empty origin selects the main document's.
func (s Storage) areas(origin string) (all []storagestate.Area) {
	s.Frames.Lock()
	defer s.Frames.Unlock()
	if origin = strings.ToLower(origin); origin == "" {
		origin = originOf(s.Frames.Tree.Main().URL)
	}
	for _, one := range s.Frames.Tree.Readable() {
		if f := s.Frames.Tree.Get(one.ID); origin != "" && f != nil && originOf(f.URL) == origin {
			all = append(all, storagestate.Area{Session: one.Agent.Session, Context: one.Agent.Unique, Origin: origin})
		}
	}
	return all
}

func originOr(origin string) string {
	if origin == "" {
		return "a site"
	}
	return origin
}

// originOf returns the origin of a URL, or an empty string for a URL without storage.
func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return u.Scheme + "://" + strings.ToLower(u.Host)
}
