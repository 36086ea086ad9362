package actortest

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"time"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// capturer implements driver.Capturer.
type capturer struct {
	*Page
	picture []byte
}

// Screenshot returns the picture set by Picture, or else the name of the format.
func (p *capturer) Screenshot(ctx context.Context, s driver.ScreenshotOptions) ([]byte, error) {
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

// Picture sets the picture that screenshots return.
func (p *capturer) Picture(image []byte) { p.locked(func() { p.picture = image }) }

// Extent returns a box that is two viewports high.
func (p *capturer) Extent(ctx context.Context) (box dom.Box, width float64, err error) {
	err = p.call(ctx, "Extent", func() { box = dom.Box{Width: p.main.Scroll.Width, Height: 2 * p.main.Scroll.Height} })
	return box, box.Width, err
}

// Print returns a PDF that contains the ranges.
func (p *capturer) Print(ctx context.Context, paper driver.PrintOptions) ([]byte, error) {
	return []byte("%PDF " + paper.Ranges), p.call(ctx, "Print", func() {})
}

// onePixel is a PNG of one pixel.
var onePixel = func() []byte {
	var b bytes.Buffer
	_ = png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))) // writes to a buffer never fail
	return b.Bytes()
}()

// Record returns two frames with the picture set by Picture, or else one pixel.
func (p *capturer) Record(ctx context.Context, _ driver.Recording, frame func(driver.Frame) error) error {
	picture := onePixel
	p.locked(func() {
		if p.picture != nil {
			picture = p.picture
		}
	})
	for i := range 2 {
		if err := p.call(ctx, "Record", func() {}); err != nil {
			return err
		}
		if err := frame(driver.Frame{PNG: picture, At: time.Duration(i) * time.Second}); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return ctx.Err()
}
