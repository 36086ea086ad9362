package actortest

import (
	"context"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// queries answers questions about the page, besides its DOM.
type queries struct {
	*Page
	extract  func(driver.Extraction) ([]driver.Extract, error)
	evaluate func(driver.Script) (driver.Evaluated, error)
}

// Extracts says what plans give from now on; without it they give nothing. The function may not call methods of
// the page.
func (p *queries) Extracts(answer func(driver.Extraction) ([]driver.Extract, error)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.extract = answer
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

// Evaluates says what scripts give from now on; without it they give null. The function may not call methods of the
// page.
func (p *queries) Evaluates(answer func(driver.Script) (driver.Evaluated, error)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.evaluate = answer
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

// Reveal does nothing.
func (p *input) Reveal(ctx context.Context, _ dom.Ref, _ dom.FrameID, _ string) error {
	p.count("Reveal")
	if err := p.thread(ctx); err != nil {
		return err
	}
	p.mu.Unlock()
	return nil
}

// Extent is two viewports high.
func (p *capturer) Extent(ctx context.Context) (dom.Box, error) {
	p.count("Extent")
	if err := p.thread(ctx); err != nil {
		return dom.Box{}, err
	}
	defer p.mu.Unlock()
	return dom.Box{Width: p.main.Scroll.Width, Height: 2 * p.main.Scroll.Height}, nil
}

// Print gives a PDF that holds the ranges.
func (p *capturer) Print(ctx context.Context, paper driver.PrintOptions) ([]byte, error) {
	p.count("Print")
	if err := p.thread(ctx); err != nil {
		return nil, err
	}
	defer p.mu.Unlock()
	return []byte("%PDF " + paper.Ranges), nil
}
