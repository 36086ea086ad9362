package actortest

import (
	"context"
	"slices"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
)

// stored is the session storage of one origin.
type stored struct {
	*Page
	entries []driver.StorageEntry
}

// StoredOrigin is the only origin with session storage.
const StoredOrigin = "https://shop.example"

// SessionStorage changes the entries and returns them.
func (p *stored) SessionStorage(ctx context.Context, origin string, e driver.StorageEdit, _ bool) (string, []driver.StorageEntry, error) {
	p.count("SessionStorage")
	if err := p.thread(ctx); err != nil {
		return "", nil, err
	}
	defer p.mu.Unlock()
	if origin != "" && origin != StoredOrigin {
		return "", nil, apierr.Unknown("origin", "the tab shows no document of %s", origin)
	}
	p.entries = EditEntries(p.entries, e)
	return StoredOrigin, slices.Clone(p.entries), nil
}

// EditEntries returns the entries after an edit.
func EditEntries(entries []driver.StorageEntry, e driver.StorageEdit) []driver.StorageEntry {
	var left []driver.StorageEntry
	for _, one := range entries {
		replaced := slices.ContainsFunc(e.Set, func(s driver.StorageEntry) bool { return s.Name == one.Name })
		if !e.Clear && !replaced && !slices.Contains(e.Delete, one.Name) {
			left = append(left, one)
		}
	}
	return append(left, e.Set...)
}
