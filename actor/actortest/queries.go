package actortest

import (
	"context"
	"slices"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/target"
	"github.com/domtap/domtap/dom"
)

// queries implements driver.Query, driver.Bodies and driver.Documents.
type queries struct {
	*Page
	extract  func(driver.Extraction) ([]driver.Extract, error)
	evaluate func(driver.Script) (driver.Evaluated, error)
	bodies   map[string]string
	files    map[string]string
	audited  []driver.Audited
}

// Extracts sets the result of plans; without it, plans return nothing. The function must not call methods of the page.
func (p *queries) Extracts(answer func(driver.Extraction) ([]driver.Extract, error)) {
	p.locked(func() { p.extract = answer })
}

// Extract runs a plan.
func (p *queries) Extract(ctx context.Context, e driver.Extraction) ([]driver.Extract, error) {
	p.count("Extract")
	if err := p.thread(ctx); err != nil {
		return nil, err
	}
	defer p.mu.Unlock()
	if p.extract == nil {
		return nil, nil
	}
	return p.extract(e)
}

// Evaluates sets the result of scripts; without it, scripts return null. The function must not call methods of the page.
func (p *queries) Evaluates(answer func(driver.Script) (driver.Evaluated, error)) {
	p.locked(func() { p.evaluate = answer })
}

// Evaluate runs a script.
func (p *queries) Evaluate(ctx context.Context, s driver.Script) (driver.Evaluated, error) {
	p.count("Evaluate")
	if err := p.thread(ctx); err != nil {
		return driver.Evaluated{}, err
	}
	defer p.mu.Unlock()
	if p.evaluate == nil {
		return driver.Evaluated{JSON: "null"}, nil
	}
	return p.evaluate(s)
}

// Bodies sets the response bodies by request ID. All other bodies are gone.
func (p *queries) Bodies(bodies map[string]string) { p.locked(func() { p.bodies = bodies }) }

// Body implements driver.Bodies.
func (p *queries) Body(ctx context.Context, request string) ([]byte, error) {
	if err := p.thread(ctx); err != nil {
		return nil, err
	}
	defer p.mu.Unlock()
	body, known := p.bodies[request]
	if !known {
		return nil, apierr.Unknown("request", "the browser does not have the body")
	}
	return []byte(body), nil
}

// Audits sets the results of audits.
func (p *queries) Audits(found ...driver.Audited) { p.locked(func() { p.audited = found }) }

// Barriers implements driver.Query.
func (p *queries) Barriers(ctx context.Context) ([]driver.Audited, int, error) {
	if err := p.thread(ctx); err != nil {
		return nil, 0, err
	}
	defer p.mu.Unlock()
	return p.audited, 0, nil
}

// Find resolves a target: by label to nodes with such a Text, by placeholder to nodes with such a Placeholder, by test ID to nodes with
// such a data-testid in Attributes, and by selector through Match. Nodes that are Off count as hidden. Structural nodes that were not
// requested become part of the stored DOM once they were found. A node with the Type submit submits every form. No node appears on hover.
func (p *queries) Find(ctx context.Context, t target.Target) (target.Resolution, error) {
	p.count("Find")
	if err := p.thread(ctx); err != nil {
		return target.Resolution{}, err
	}
	defer p.mu.Unlock()
	if t.OnHover {
		return target.Resolution{}, nil
	}
	if t.By == target.Selector && p.reports.matchers[t.Words] == nil {
		return target.Resolution{Invalid: true}, nil
	}
	p.syncFrames()
	var out target.Resolution
	for _, f := range p.order {
		if t.By == target.Innermost {
			p.innermost(f.Body, t, false, &out)
			continue
		}
		p.findIn(f.Body, t, &out)
	}
	return out, nil
}

// innermost finds the innermost nodes with a text inside the node of t.Ref. within reports whether the nodes are inside it.
func (p *queries) innermost(nodes []*Node, t target.Target, within bool, out *target.Resolution) (found bool) {
	for _, n := range nodes {
		is := within || n.known && n.ref == t.Ref
		if p.innermost(n.Children, t, is, out) {
			found = true
			continue
		}
		fit := target.Compare(n.Text, t.Words)
		if !is || n.Off || fit == target.Not {
			continue
		}
		found = true
		ref := n.ref
		if !n.known || n.Kind == dom.Structural && !p.options.structural && !n.meant {
			n.meant, ref = true, dom.NoRef
		}
		out.Matches = append(out.Matches, target.PageMatch{Ref: ref, Fit: fit})
	}
	return found
}

func (p *queries) findIn(nodes []*Node, t target.Target, out *target.Resolution) {
	for _, n := range nodes {
		fit := p.fit(n, t)
		switch {
		case fit == target.Not:
		case n.Off:
			out.Hidden++
			out.HiddenWas = "<" + n.Tag + ">"
		case n.known && (n.Kind != dom.Structural || p.options.structural || n.meant):
			out.Matches = append(out.Matches, target.PageMatch{Ref: n.ref, Fit: fit})
		default:
			n.meant = true
			out.Matches = append(out.Matches, target.PageMatch{Ref: dom.NoRef, Fit: fit})
		}
		p.findIn(n.Children, t, out)
	}
}

func (p *queries) fit(n *Node, t target.Target) target.Fit {
	switch t.By {
	case target.Label:
		return target.Compare(n.Text, t.Words)
	case target.Placeholder:
		return target.Compare(n.Placeholder, t.Words)
	case target.Group:
		if n.Role == "radiogroup" || n.Role == "group" {
			return target.Compare(n.Text, t.Words)
		}
	case target.Submitter:
		if n.Type == "submit" {
			return target.Exactly
		}
	case target.TestID:
		if n.Attributes["data-testid"] == t.Words {
			return target.Exactly
		}
	case target.Selector:
		if p.reports.matchers[t.Words](n) {
			return target.Exactly
		}
	}
	return target.Not
}

// Building reports that the page is built.
func (p *queries) Building(context.Context, bool) (driver.Building, error) { return driver.Built, nil }

// Replaces returns true unless the old node is Off, because an Off node is only hidden.
func (p *queries) Replaces(ctx context.Context, s driver.Replacement) (bool, error) {
	p.count("Replaces")
	if err := p.thread(ctx); err != nil {
		return false, err
	}
	defer p.mu.Unlock()
	f := p.frames[s.Old.Frame]
	return f != nil && f.document == s.Old.Document && !hides(f.Body, s.Old.Ref), nil
}

func hides(nodes []*Node, ref dom.Ref) bool {
	return slices.ContainsFunc(nodes, func(n *Node) bool { return n.known && n.ref == ref || hides(n.Children, ref) })
}

// Markup returns Frame.HTML of every document or, with a root, of only the root's document.
func (p *queries) Markup(ctx context.Context, root driver.Element) ([]driver.Markup, error) {
	p.count("Markup")
	if err := p.thread(ctx); err != nil {
		return nil, err
	}
	defer p.mu.Unlock()
	p.syncFrames()
	var out []driver.Markup
	for _, f := range p.order {
		if root.Ref != dom.NoRef && f.ID != root.Frame {
			continue
		}
		out = append(out, driver.Markup{
			Frame: f.ID, Document: f.document, URL: f.URL, Title: f.Title, HTML: f.HTML,
			ViewArea: f.Scroll.Width * f.Scroll.Height,
		})
	}
	return out, nil
}

// Files sets the content of downloads by path. All other files are gone.
func (p *queries) Files(files map[string]string) { p.locked(func() { p.files = files }) }

// Downloaded implements driver.Documents.
func (p *queries) Downloaded(ctx context.Context, path string, limit int) ([]byte, error) {
	if err := p.thread(ctx); err != nil {
		return nil, err
	}
	defer p.mu.Unlock()
	file, known := p.files[path]
	if !known || len(file) > limit {
		return nil, apierr.Unknown("download", "the file is gone")
	}
	return []byte(file), nil
}

// PDF implements driver.Documents. It returns the data.
func (p *queries) PDF(ctx context.Context, data []byte) ([]byte, error) {
	if err := p.thread(ctx); err != nil {
		return nil, err
	}
	defer p.mu.Unlock()
	return data, nil
}
