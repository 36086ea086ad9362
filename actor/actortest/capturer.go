package actortest

import (
	"context"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// capturer takes pictures.
type capturer struct {
	*Page
	picture []byte
}

// Screenshot returns the format's name as the picture, or what Picture was given.
func (p *capturer) Screenshot(ctx context.Context, s driver.Shot) ([]byte, error) {
	p.count("Screenshot")
	if err := p.thread(ctx); err != nil {
		return nil, err
	}
	defer p.mu.Unlock()
	if p.picture != nil {
		return p.picture, nil
	}
	return []byte(s.Format), nil
}

// Picture is what screenshots show from now on.
func (p *capturer) Picture(image []byte) { p.locked(func() { p.picture = image }) }

// Extent is two viewports high.
func (p *capturer) Extent(ctx context.Context) (box dom.Box, err error) {
	err = p.call(ctx, "Extent", func() { box = dom.Box{Width: p.main.Scroll.Width, Height: 2 * p.main.Scroll.Height} })
	return box, err
}

// Print gives a PDF that holds the ranges.
func (p *capturer) Print(ctx context.Context, paper driver.PrintOptions) ([]byte, error) {
	return []byte("%PDF " + paper.Ranges), p.call(ctx, "Print", func() {})
}
