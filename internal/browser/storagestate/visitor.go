package storagestate

import (
	"context"
	"fmt"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/storage"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/hidden"
)

// Visitor is a hidden page that accesses the storage of any origin of a context. It must be used by one goroutine at a time.
type Visitor struct {
	page *hidden.Page
	// origin is the visited origin.
	origin string
}

// OpenVisitor opens the hidden page. The caller must call Close.
func OpenVisitor(ctx context.Context, root devtools.Session, in cdp.BrowserContextID) (*Visitor, error) {
	p, err := hidden.Open(ctx, root, in)
	if err != nil {
		return nil, err
	}
	return &Visitor{page: p}, nil
}

// Visit navigates to an origin.
func (v *Visitor) Visit(ctx context.Context, origin string) error {
	if v.origin == origin {
		return nil
	}
	refused, err := v.page.Visit(ctx, origin+"/")
	if err == nil && refused != "" {
		return &apierr.Error{
			Kind: apierr.Invalid, Field: "storage_state",
			Message: fmt.Sprintf("the browser cannot open the origin %s (%s): check its spelling", origin, refused),
		}
	}
	if err != nil {
		return fmt.Errorf("reaching the storage of %s: %w", origin, err)
	}
	v.origin = origin
	return nil
}

// Local returns the local storage of the visited origin.
func (v *Visitor) Local() Area { return Area{Session: v.page.Session, Origin: v.origin, Local: true} }

// Clear deletes all stored data of an origin, of every kind.
func (v *Visitor) Clear(ctx context.Context, origin string) error {
	_, err := cdp.Call(ctx, v.page.Session, storage.ClearDataForOrigin, storage.ClearDataForOriginParams{Origin: origin, StorageTypes: "all"})
	if err != nil {
		return fmt.Errorf("clearing the storage of %s: %w", origin, err)
	}
	return nil
}

// Close closes the page. If ctx ends first, this continues in the background.
func (v *Visitor) Close(ctx context.Context) { v.page.Close(ctx) }
