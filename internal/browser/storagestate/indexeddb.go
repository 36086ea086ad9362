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

// script reads and writes the databases of its document's origin. It must run only in the empty documents of Visitors, because a page may
// have modified the built-in functions that it uses.
//
//go:embed indexeddb.js
var script string

// DatabasesResult holds the databases of an origin.
type DatabasesResult struct {
	Databases []sessions.Database
	Omissions []sessions.Omission
	// Size is their size in bytes, as it counts against the limit.
	Size int
}

// Databases returns the IndexedDB databases of the visited origin. If their size exceeds limit bytes, counted as for
// sessions.MaxStateBytes, the error is an *apierr.Error of kind Exhausted.
func (v *Visitor) Databases(ctx context.Context, limit int) (DatabasesResult, error) {
	var answer struct {
		DatabasesResult
		TooMuch bool
		Failed  string
	}
	if err := v.call(ctx, "read", map[string]any{"limit": limit}, &answer); err != nil {
		return DatabasesResult{}, fmt.Errorf("reading the databases of %s: %w", v.origin, err)
	}
	switch {
	case answer.TooMuch:
		e := tooLargeError()
		e.Message = "with its databases, " + e.Message
		return DatabasesResult{}, e
	case answer.Failed != "":
		return DatabasesResult{}, fmt.Errorf("reading the databases of %s: %s", v.origin, answer.Failed)
	}
	for i := range answer.Omissions {
		answer.Omissions[i].Origin = v.origin
	}
	return answer.DatabasesResult, nil
}

// databasesWithin calls Databases. If spare is set, it omits databases that exceed room or cannot be read.
func (v *Visitor) databasesWithin(ctx context.Context, limit, room int, spare bool) (DatabasesResult, error) {
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
	return DatabasesResult{Omissions: []sessions.Omission{{Origin: v.origin, Reason: reason}}}, nil
}

// SetDatabases replaces the databases with the same names at the visited origin. Pages lose their connections to them. If the browser
// rejects a database, the error is an *apierr.Error of kind Invalid, and databases that were set before remain.
func (v *Visitor) SetDatabases(ctx context.Context, all []sessions.Database) error {
	for i := range all {
		// A page with an open connection would block the script. This command closes the connections.
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

// call calls a function of the script and decodes its result.
func (v *Visitor) call(ctx context.Context, function string, request, answer any) error {
	return evaluate(ctx, v.page.Session, "", strings.TrimSpace(script)+"."+function, request, answer)
}
