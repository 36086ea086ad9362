package storagestate

import (
	"context"
	"fmt"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/domstorage"
	"github.com/chromedp/cdproto/storage"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/hidden"
	"github.com/domtap/domtap/internal/sessions"
)

// Local is a hidden page that reaches the local storage of any origin of a context. It serves one goroutine.
type Local struct {
	page *hidden.Page
	// origin is where the page is.
	origin string
}

// OpenLocal opens the hidden page. The caller owes a Close.
func OpenLocal(ctx context.Context, root devtools.Session, in cdp.BrowserContextID) (*Local, error) {
	p, err := hidden.Open(ctx, root, in, devtools.Step{Method: domstorage.CommandEnable})
	if err != nil {
		return nil, err
	}
	return &Local{page: p}, nil
}

// visit goes to an origin.
func (l *Local) visit(ctx context.Context, origin string) error {
	if l.origin == origin {
		return nil
	}
	refused, err := l.page.Visit(ctx, origin+"/")
	if err == nil && refused != "" {
		return &apierr.Error{
			Kind: apierr.Invalid, Field: "storage_state",
			Message: fmt.Sprintf("the browser does not go to the origin %s (%s): check how it is written", origin, refused),
		}
	}
	if err != nil {
		return fmt.Errorf("reaching the storage of %s: %w", origin, err)
	}
	l.origin = origin
	return nil
}

// Read reads the local storage of an origin.
func (l *Local) Read(ctx context.Context, origin string) ([]sessions.Entry, error) {
	if err := l.visit(ctx, origin); err != nil {
		return nil, err
	}
	found, err := cdp.Call(ctx, l.page.Session, domstorage.GetDOMStorageItems, domstorage.GetDOMStorageItemsParams{StorageID: localOf(origin)})
	if err != nil {
		return nil, fmt.Errorf("reading the storage of %s: %w", origin, err)
	}
	var entries []sessions.Entry
	for _, item := range found.Entries {
		if len(item) == 2 {
			entries = append(entries, sessions.Entry{Name: item[0], Value: item[1]})
		}
	}
	return entries, nil
}

// Write adds entries to the local storage of an origin.
func (l *Local) Write(ctx context.Context, o sessions.Origin) error {
	if err := l.visit(ctx, o.Origin); err != nil {
		return err
	}
	steps := make([]devtools.Step, len(o.Entries))
	for i, e := range o.Entries {
		steps[i] = devtools.Step{Method: domstorage.CommandSetDOMStorageItem,
			Params: domstorage.SetDOMStorageItemParams{StorageID: localOf(o.Origin), Key: e.Name, Value: e.Value}}
	}
	if err := l.page.Session.Run(ctx, steps...); err != nil {
		return fmt.Errorf("writing the storage of %s (an origin holds about 5 MB): %w", o.Origin, err)
	}
	return nil
}

// Clear forgets all that an origin has stored, of every kind.
func (l *Local) Clear(ctx context.Context, origin string) error {
	_, err := cdp.Call(ctx, l.page.Session, storage.ClearDataForOrigin, storage.ClearDataForOriginParams{Origin: origin, StorageTypes: "all"})
	if err != nil {
		return fmt.Errorf("clearing the storage of %s: %w", origin, err)
	}
	return nil
}

func localOf(origin string) *domstorage.StorageID {
	return &domstorage.StorageID{SecurityOrigin: origin, IsLocalStorage: true}
}

// Close closes the page. When ctx ends first, that goes on without the caller.
func (l *Local) Close(ctx context.Context) { l.page.Close(ctx) }
