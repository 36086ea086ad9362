package storagestate

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/indexeddb"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/internal/sessions"
)

// script reads and writes the databases of the origin whose document it runs in. It is only for the empty documents of Visitors: on a
// page, what the page made of the language's own functions would take part.
//
//go:embed indexeddb.js
var script string

// Found are the databases of an origin.
type Found struct {
	Databases []sessions.Database
	Omissions []sessions.Omission
	// Size is how many bytes of the limit they took.
	Size int
}

// Databases reads the IndexedDB databases of the origin where the page is. It fails with an *apierr.Error of kind Exhausted when they
// take more than limit bytes, as sessions.MaxStateBytes counts them.
func (v *Visitor) Databases(ctx context.Context, limit int) (Found, error) {
	var answer struct {
		Found
		TooMuch bool
		Failed  string
	}
	if err := v.call(ctx, "read", map[string]any{"limit": limit}, &answer); err != nil {
		return Found{}, fmt.Errorf("reading the databases of %s: %w", v.origin, err)
	}
	switch {
	case answer.TooMuch:
		e := tooMuch()
		e.Message = "with its databases, " + e.Message
		return Found{}, e
	case answer.Failed != "":
		return Found{}, fmt.Errorf("reading the databases of %s: %s", v.origin, answer.Failed)
	}
	for i := range answer.Omissions {
		answer.Omissions[i].Origin = v.origin
	}
	return answer.Found, nil
}

// databasesWithin is Databases. With spare, databases that take more than room, or cannot be read, are left out.
func (v *Visitor) databasesWithin(ctx context.Context, limit, room int, spare bool) (Found, error) {
	if !spare {
		return v.Databases(ctx, limit)
	}
	found, err := v.Databases(ctx, min(limit, room))
	if err == nil || ctx.Err() != nil {
		return found, err
	}
	reason := "it cannot be read"
	if apierr.Is(err, apierr.Exhausted) {
		reason = "the databases are too large"
	}
	return Found{Omissions: []sessions.Omission{{Origin: v.origin, Reason: reason}}}, nil
}

// SetDatabases puts databases in place of those of the same names at the origin where the page is. Pages lose their connections to these.
// What the browser refuses is an *apierr.Error of kind Invalid; databases that were set before it stay.
func (v *Visitor) SetDatabases(ctx context.Context, all []sessions.Database) error {
	for i := range all {
		// A page that has the database open would keep a script waiting for as long; this closes its connections.
		_, err := cdp.Call(ctx, v.page.Session, indexeddb.DeleteDatabase, indexeddb.DeleteDatabaseParams{SecurityOrigin: v.origin, DatabaseName: all[i].Name})
		if err != nil {
			return fmt.Errorf("replacing database %q of %s: %w", all[i].Name, v.origin, err)
		}
		var answer struct{ Failed string }
		if err := v.call(ctx, "write", map[string]any{"databases": all[i : i+1]}, &answer); err != nil {
			return fmt.Errorf("writing database %q of %s: %w", all[i].Name, v.origin, err)
		}
		if answer.Failed != "" {
			return &apierr.Error{Kind: apierr.Invalid, Field: "storage_state.origins.indexed_db",
				Message: fmt.Sprintf("the browser refuses database %q of %s: %s", all[i].Name, v.origin, answer.Failed)}
		}
	}
	return nil
}

// call calls a function of the script, and decodes what it answers.
func (v *Visitor) call(ctx context.Context, function string, request, answer any) error {
	return evaluate(ctx, v.page.Session, "", strings.TrimSpace(script)+"."+function, request, answer)
}
