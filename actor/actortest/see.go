package actortest

import (
	"context"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/telemetry/pagelog"
)

// seen is what a page answers to those who look at it otherwise than through its DOM.
type seen struct {
	log      pagelog.Log
	extract  func(driver.Extraction) ([]driver.Extract, error)
	evaluate func(driver.Script) (driver.Evaluated, error)
}

// Log is the page's log, to which tests may write.
func (p *Page) Log() *pagelog.Log { return &p.seen.log }

// Extracts says what plans give from now on; without it they give nothing. The function may not call methods of
// the page.
func (p *Page) Extracts(answer func(driver.Extraction) ([]driver.Extract, error)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen.extract = answer
}

// Extract runs a plan.
func (p *Page) Extract(ctx context.Context, e driver.Extraction) ([]driver.Extract, error) {
	p.count("Extract")
	if err := p.thread(ctx); err != nil {
		return nil, err
	}
	defer p.mu.Unlock()
	if p.seen.extract == nil {
		return nil, nil
	}
	return p.seen.extract(e)
}

// Evaluates says what scripts give from now on; without it they give null. The function may not call methods of the
// page.
func (p *Page) Evaluates(answer func(driver.Script) (driver.Evaluated, error)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen.evaluate = answer
}

// Evaluate runs a script.
func (p *Page) Evaluate(ctx context.Context, s driver.Script) (driver.Evaluated, error) {
	p.count("Evaluate")
	if err := p.thread(ctx); err != nil {
		return driver.Evaluated{}, err
	}
	defer p.mu.Unlock()
	if p.seen.evaluate == nil {
		return driver.Evaluated{JSON: "null"}, nil
	}
	return p.seen.evaluate(s)
}

// Reveal does nothing.
func (p *Page) Reveal(ctx context.Context, _ dom.Ref, _ dom.FrameID, _ string) error {
	p.count("Reveal")
	if err := p.thread(ctx); err != nil {
		return err
	}
	p.mu.Unlock()
	return nil
}

// Extent is two viewports high.
func (p *Page) Extent(ctx context.Context) (dom.Box, error) {
	p.count("Extent")
	if err := p.thread(ctx); err != nil {
		return dom.Box{}, err
	}
	defer p.mu.Unlock()
	return dom.Box{Width: p.main.Scroll.Width, Height: 2 * p.main.Scroll.Height}, nil
}

// Print gives a PDF that holds the ranges.
func (p *Page) Print(ctx context.Context, paper driver.PrintOptions) ([]byte, error) {
	p.count("Print")
	if err := p.thread(ctx); err != nil {
		return nil, err
	}
	defer p.mu.Unlock()
	return []byte("%PDF " + paper.Ranges), nil
}
