// Package query reads data from a tab's page that is not in its DOM: the markup that a reader sees, values extracted by a plan, results of
// scripts, and storage.
//
// Each function is one call on the tab. The functions return the errors of actor.Tab.Read.
package query

import (
	"context"
	"fmt"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// Markup returns the page's documents as a reader sees them, the main document first. If root is not dom.NoRef, it returns only that
// element. It also fails with an *apierr.Error of kind Stale or Invalid for root.
func Markup(ctx context.Context, tab *actor.Tab, root dom.Ref) ([]driver.Markup, error) {
	return actor.Do(ctx, tab, actor.Command{Name: "read page", ReadOnly: root == dom.NoRef}, func(ctx context.Context, x *actor.Exclusive) (out []driver.Markup, err error) {
		if err := x.Ready(); err != nil {
			return nil, err
		}
		at := driver.Element{Ref: dom.NoRef}
		if root != dom.NoRef {
			if _, err := x.Read(ctx, actor.ReadOptions{}); err != nil {
				return nil, err
			}
			if _, err := x.Head().Element(root); err != nil {
				return nil, err
			}
			at = x.Where(root)
		}
		err = x.Query(ctx, func(ctx context.Context, page driver.Page) (err error) {
			out, err = page.Markup(ctx, at)
			return err
		})
		if err == nil && len(out) == 0 {
			err = apierr.Errorf(apierr.Aborted, "tab %s shows no document: navigate it, then read again", tab.ID())
		}
		return out, err
	})
}

// Extract updates the DOM and runs a plan in the documents of the page, the main document first and each frame's document after the
// document that holds it. It also fails with an *apierr.Error of kind Stale or Invalid for the root.
func Extract(ctx context.Context, tab *actor.Tab, e driver.Extraction) ([]driver.Extract, error) {
	return actor.Do(ctx, tab, actor.Command{Name: "extract"}, func(ctx context.Context, x *actor.Exclusive) (out []driver.Extract, err error) {
		if err := x.Ready(); err != nil {
			return nil, err
		}
		if _, err := x.Read(ctx, actor.ReadOptions{}); err != nil {
			return nil, err
		}
		if e.Root.Ref != dom.NoRef {
			if _, err := x.Head().Element(e.Root.Ref); err != nil {
				return nil, err
			}
			e.Root = x.Where(e.Root.Ref)
		}
		err = x.Query(ctx, func(ctx context.Context, page driver.Page) (err error) {
			out, err = page.Extract(ctx, e)
			return err
		})
		return out, err
	})
}

// Evaluate runs a script in the page's main world. The tab is busy until the script ends. If ctx ends first, the script is terminated.
// Evaluate also fails with an *apierr.Error of kind Stale or Invalid for the ref, or NotFound for the frame.
func Evaluate(ctx context.Context, tab *actor.Tab, s driver.Script) (driver.Evaluated, error) {
	return actor.Do(ctx, tab, actor.Command{Name: "evaluate"}, func(ctx context.Context, x *actor.Exclusive) (out driver.Evaluated, err error) {
		if err := x.Ready(); err != nil {
			return out, err
		}
		if s.Ref != dom.NoRef {
			if err := place(ctx, x, &s); err != nil {
				return out, err
			}
		}
		err = x.Script(ctx, func(ctx context.Context, page driver.Page) (err error) {
			out, err = page.Evaluate(ctx, s)
			return err
		})
		return out, err
	})
}

// place fills in the frame and document of a script's element.
func place(ctx context.Context, x *actor.Exclusive, s *driver.Script) error {
	if _, err := x.Read(ctx, actor.ReadOptions{}); err != nil {
		return err
	}
	if _, err := x.Head().Element(s.Ref); err != nil {
		return err
	}
	at := x.Where(s.Ref)
	if s.Frame != "" && s.Frame != at.Frame {
		return &apierr.Error{
			Kind: apierr.Invalid, Field: "frame_id", Message: fmt.Sprintf("ref %d is in another frame (%q): leave frame_id empty", s.Ref, at.Frame),
		}
	}
	s.Element = at
	return nil
}

// Stored is the session storage of an origin in a tab.
type Stored struct {
	Origin  string
	Entries []driver.StorageEntry
}

// SessionStorage changes the session storage of an origin in a tab and returns its content after the change. If origin is empty, the origin
// of the tab's page is used. values announces that the values will be shown. It also fails with the errors of driver.PageStorage.
func SessionStorage(ctx context.Context, tab *actor.Tab, origin string, e driver.StorageEdit, values bool) (Stored, error) {
	return actor.Do(ctx, tab, actor.Command{Name: "session storage"}, func(ctx context.Context, x *actor.Exclusive) (out Stored, err error) {
		if err := x.Ready(); err != nil {
			return out, err
		}
		err = x.Query(ctx, func(ctx context.Context, page driver.Page) (err error) {
			out.Origin, out.Entries, err = page.SessionStorage(ctx, origin, e, values)
			return err
		})
		return out, err
	})
}

// Body returns the response body of a request, by the browser's request ID. It also fails with the errors of driver.Bodies.
func Body(ctx context.Context, tab *actor.Tab, request string) ([]byte, error) {
	return actor.Do(ctx, tab, actor.Command{Name: "request body", ReadOnly: true}, func(ctx context.Context, x *actor.Exclusive) (body []byte, err error) {
		if err := x.Ready(); err != nil {
			return nil, err
		}
		err = x.Query(ctx, func(ctx context.Context, page driver.Page) (err error) {
			body, err = page.Body(ctx, request)
			return err
		})
		return body, err
	})
}

// Barriers is the result of FindBarriers: the reports of the page's documents, and the reading with their elements.
type Barriers struct {
	Reading actor.Reading
	Found   []driver.Audited
	// Missing counts the frames that did not answer.
	Missing int
}

// FindBarriers reads the page and finds accessibility barriers in its documents.
func FindBarriers(ctx context.Context, tab *actor.Tab) (Barriers, error) {
	return actor.Do(ctx, tab, actor.Command{Name: "audit", ReadOnly: true}, func(ctx context.Context, x *actor.Exclusive) (out Barriers, err error) {
		if err := x.Ready(); err != nil {
			return out, err
		}
		if out.Reading, err = x.Read(ctx, actor.ReadOptions{Structural: true, Geometry: true}); err != nil {
			return out, err
		}
		err = x.Query(ctx, func(ctx context.Context, page driver.Page) (err error) {
			out.Found, out.Missing, err = page.Barriers(ctx)
			return err
		})
		return out, err
	})
}

// Downloaded returns the content of a complete download of the tab's session, by driver.Download.Path. It also fails with the errors of
// driver.Documents.
func Downloaded(ctx context.Context, tab *actor.Tab, path string, limit int) ([]byte, error) {
	return actor.Do(ctx, tab, actor.Command{Name: "read download", ReadOnly: true}, func(ctx context.Context, x *actor.Exclusive) (data []byte, err error) {
		if err := x.Ready(); err != nil {
			return nil, err
		}
		err = x.Query(ctx, func(ctx context.Context, page driver.Page) (err error) {
			data, err = page.Downloaded(ctx, path, limit)
			return err
		})
		return data, err
	})
}

// PDF returns the text of a PDF with its positions, as JSON. It may use all of the caller's time. It also fails with the errors of
// driver.Documents.
func PDF(ctx context.Context, tab *actor.Tab, data []byte) ([]byte, error) {
	return actor.Do(ctx, tab, actor.Command{Name: "read PDF", ReadOnly: true}, func(ctx context.Context, x *actor.Exclusive) (text []byte, err error) {
		if err := x.Ready(); err != nil {
			return nil, err
		}
		err = x.Script(ctx, func(ctx context.Context, page driver.Page) (err error) {
			text, err = page.PDF(ctx, data)
			return err
		})
		return text, err
	})
}
