package actor

import (
	"context"
	"fmt"

	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/logs"
)

// Seer is what a page tells beyond its DOM.
type Seer interface {
	// Log is what the page's documents said and asked for. It is the same one for the life of the page.
	Log() *logs.Log
	// Extract runs a plan in the documents of the page and returns what each answered.
	Extract(ctx context.Context, e Extraction) ([]Extract, error)
	// Evaluate runs a script in the page's own world. It fails with an *Error of kind Stale or NotFound; that the
	// script threw is no failure. When ctx ends the script is ended.
	Evaluate(ctx context.Context, s Script) (Evaluated, error)
	// Reveal scrolls an element into the middle of every box and frame that scrolls, one that is larger to its start.
	// It fails with an *Error of kind Stale. Frame and document are where the element stands.
	Reveal(ctx context.Context, ref dom.Ref, frame dom.FrameID, document string) error
	// Extent is the box of the whole page, relative to the viewport, with what a picture can show of it.
	Extent(ctx context.Context) (dom.Box, error)
	// Print makes a PDF of the page.
	Print(ctx context.Context, p Paper) ([]byte, error)
}

// Extraction says what to extract.
type Extraction struct {
	// Plan is JSON, made by package extract; the page's script understands it.
	Plan []byte
	// Root, unless it is dom.NoRef, is the element below which is searched; Frame and Document are where it
	// stands, and filled in by the tab.
	Root     dom.Ref
	Frame    dom.FrameID
	Document string
}

// Extract is what one document answered to a plan: JSON that is untrusted.
type Extract struct {
	Frame dom.FrameID
	Data  []byte
}

// Script is what Evaluate runs.
type Script struct {
	// Expression is evaluated; when it gives a function that is called.
	Expression string
	// Frame is where to run it.
	Frame dom.FrameID
	// Ref, unless it is dom.NoRef, is given to the function; Document is where it stands.
	Ref      dom.Ref
	Document string
	// Limit is how long the result may be, in bytes.
	Limit int
}

// Evaluated is what a script gave: JSON, or the text of what it threw.
type Evaluated struct {
	JSON, Exception string
}

// Paper says how to print.
type Paper struct {
	// Width and Height are in inches.
	Width, Height       float64
	Landscape, Graphics bool
	Scale               float64
	// Ranges is such as "1-5, 8"; empty: all pages.
	Ranges string
	// Limit is how long the PDF may be, in bytes.
	Limit int
}

// Log is what the tab's pages said and asked for. Reading it never waits for the page.
func (t *Tab) Log() *logs.Log { return t.page().Log() }

// Extract brings the DOM up to date and runs a plan in the documents of the page, the main one first and each
// other behind the one that holds it. Errors are those of Read, and *Error of kind Stale or Invalid for the root.
func (t *Tab) Extract(ctx context.Context, e Extraction) ([]Extract, error) {
	return see(ctx, t, "extract", e.Root, func(ctx context.Context, at whereabouts) (out []Extract, err error) {
		e.Frame, e.Document = at.frame, at.document
		out, err = t.page().Extract(ctx, e)
		return out, err
	})
}

// Evaluate runs a script in the page's own world. The tab is busy until it ends; when ctx ends first, the script
// is ended. Errors are those of Read, and *Error of kind Stale or Invalid for the ref, NotFound for the frame.
func (t *Tab) Evaluate(ctx context.Context, s Script) (Evaluated, error) {
	return see(ctx, t, "evaluate", s.Ref, func(ctx context.Context, at whereabouts) (Evaluated, error) {
		if s.Ref != dom.NoRef {
			if s.Frame != "" && s.Frame != at.frame {
				return Evaluated{}, &Error{
					Kind: Invalid, Field: "frame_id", Message: fmt.Sprintf("ref %d stands in another frame (%q): leave frame_id empty", s.Ref, at.frame),
				}
			}
			s.Frame, s.Document = at.frame, at.document
		}
		return t.page().Evaluate(ctx, s)
	})
}

// Print makes a PDF of the page. Errors are those of Screenshot.
func (t *Tab) Print(ctx context.Context, p Paper) ([]byte, error) {
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
	return do(ctx, t, what, func(ctx context.Context) (out T, err error) {
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
