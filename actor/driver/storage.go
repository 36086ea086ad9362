package driver

import "context"

// StorageEntry is one entry of local or session storage.
type StorageEntry struct{ Name, Value string }

// StorageEdit is a change of local or session storage, in the order of its fields.
type StorageEdit struct {
	// Clear deletes all entries.
	Clear bool
	// Delete has the names of entries to delete.
	Delete []string
	// Set has the entries to add or replace.
	Set []StorageEntry
}

// PageStorage is what the documents of a page have stored for the page alone.
type PageStorage interface {
	// SessionStorage changes the session storage of an origin, or that of the main document when origin is empty, and returns what is in
	// it then; values says that the values will be shown. It fails with an *apierr.Error of kind NotFound when the page shows no document
	// of the origin, Exhausted when it would hold too much, and NotActionable when the page is masked and values are asked for.
	SessionStorage(ctx context.Context, origin string, e StorageEdit, values bool) (of string, entries []StorageEntry, err error)
}
