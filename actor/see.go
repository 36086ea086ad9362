package actor

import (
	"context"
	"fmt"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/telemetry/pagelog"
)

// Log is what the tab's pages said and asked for. Reading it never waits for the page.
func (t *Tab) Log() *pagelog.Log { return t.page().Log() }

// Extract brings the DOM up to date and runs a plan in the documents of the page, the main one first and each
// other behind the one that holds it. Errors are those of Read, and *Error of kind Stale or Invalid for the root.
func (t *Tab) Extract(ctx context.Context, e driver.Extraction) ([]driver.Extract, error) {
	return see(ctx, t, "extract", e.Root, func(ctx context.Context, at whereabouts) (out []driver.Extract, err error) {
		e.Frame, e.Document = at.frame, at.document
		out, err = t.page().Extract(ctx, e)
		return out, err
	})
}

// Evaluate runs a script in the page's own world. The tab is busy until it ends; when ctx ends first, the script
// is ended. Errors are those of Read, and *Error of kind Stale or Invalid for the ref, NotFound for the frame.
func (t *Tab) Evaluate(ctx context.Context, s driver.Script) (driver.Evaluated, error) {
	return see(ctx, t, "evaluate", s.Ref, func(ctx context.Context, at whereabouts) (driver.Evaluated, error) {
		if s.Ref != dom.NoRef {
			if s.Frame != "" && s.Frame != at.frame {
				return driver.Evaluated{}, &apierr.Error{
					Kind: apierr.Invalid, Field: "frame_id", Message: fmt.Sprintf("ref %d stands in another frame (%q): leave frame_id empty", s.Ref, at.frame),
				}
			}
			s.Frame, s.Document = at.frame, at.document
		}
		return t.page().Evaluate(ctx, s)
	})
}

// Print makes a PDF of the page. Errors are those of Screenshot.
func (t *Tab) Print(ctx context.Context, p driver.PrintOptions) ([]byte, error) {
	return see(ctx, t, "print", dom.NoRef, func(ctx context.Context, _ whereabouts) ([]byte, error) {
		return t.page().Print(ctx, p)
	})
}

// whereabouts says where an element stands.
type whereabouts struct {
	frame    dom.FrameID
	document string
}

// see runs a call to the page in a turn of its own, when the page can answer. Where it is about an element, the page
// is read first.
func see[T any](ctx context.Context, t *Tab, what string, ref dom.Ref, ask func(ctx context.Context, at whereabouts) (T, error)) (T, error) {
	return Do(ctx, t, Command{Name: what}, func(ctx context.Context, _ *Exclusive) (out T, err error) {
		if t.crashed {
			return out, t.crash()
		}
		if err := t.blocked(); err != nil {
			return out, err
		}
		var at whereabouts
		if what == "extract" || ref != dom.NoRef {
			if _, err := t.read(ctx, ReadOptions{}); err != nil {
				return out, err
			}
		}
		if ref != dom.NoRef {
			if _, err := t.head.Load().Element(ref); err != nil {
				return out, err
			}
			t.flush()
			at.frame, at.document, _ = t.model.Where(ref)
		}
		run := t.query
		if what == "evaluate" {
			run = t.yielding // a script may take as long as its caller has time
		}
		err = run(ctx, func(ctx context.Context) (err error) {
			out, err = ask(ctx, at)
			return err
		})
		return out, err
	})
}
