package driver

import "context"

// StorageEntry is an entry of local or session storage.
type StorageEntry struct{ Name, Value string }

// StorageEdit is a change of local or session storage. Its fields are applied in order.
type StorageEdit struct {
	// Clear deletes all entries.
	Clear bool
	// Delete lists the names of entries to delete.
	Delete []string
	// Set lists the entries to add or replace.
	Set []StorageEntry
}

// PageStorage accesses the session storage of a page.
type PageStorage interface {
	// SessionStorage changes the session storage of an origin and returns its content after the change. If origin is empty, the origin of
	// the main document is used. values announces that the values will be shown. It fails with an *apierr.Error of kind NotFound if the
	// page shows no document of the origin, Exhausted if the storage would become too large, and NotActionable if the page is masked and
	// values is set.
	SessionStorage(ctx context.Context, origin string, e StorageEdit, values bool) (of string, entries []StorageEntry, err error)
}
