// Package redact paints over masked areas of a picture. It is pure.
package redact

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"math"

	"github.com/domtap/domtap/dom"
)

// Color is the color of painted areas.
var Color = color.RGBA{R: 0x20, G: 0x20, B: 0x20, A: 0xff}

// ErrOutside reports that the clip is outside the picture.
var ErrOutside = errors.New("it is outside the viewport: scroll to it first")

// View is the size of the viewport that a picture shows, in CSS pixels.
type View struct{ Width, Height float64 }

// Output selects the output: the area Clip, in CSS pixels, or everything if its width is 0; encoded as "png", or as "jpeg" with a quality
// from 1 to 100.
type Output struct {
	Clip    dom.Box
	Format  string
	Quality int
}

// Cover paints boxes, in CSS pixels of the viewport, over a PNG of the viewport and encodes the result. It paints every pixel that a box
// touches. It fails if the picture's proportions differ from the view's, because the boxes would be misplaced.
func Cover(picture []byte, view View, boxes []dom.Box, show Output) ([]byte, error) {
	decoded, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		return nil, fmt.Errorf("decode the browser's screenshot: %w", err)
	}
	size := decoded.Bounds().Size()
	x, y := float64(size.X)/view.Width, float64(size.Y)/view.Height
	if !(view.Width > 0 && view.Height > 0) || size.X == 0 || math.Abs(x*view.Height-y*view.Height) > 2 {
		return nil, fmt.Errorf("the browser's screenshot has %d by %d pixels for a viewport of %g by %g", size.X, size.Y, view.Width, view.Height)
	}
	out := image.NewRGBA(image.Rectangle{Max: size})
	draw.Draw(out, out.Bounds(), decoded, decoded.Bounds().Min, draw.Src)
	for _, b := range boxes {
		draw.Draw(out, outward(b, x, y), image.NewUniform(Color), image.Point{}, draw.Src)
	}
	var part image.Image = out
	if show.Clip.Width > 0 {
		r := outward(show.Clip, x, y).Intersect(out.Bounds())
		if r.Empty() {
			return nil, ErrOutside
		}
		part = out.SubImage(r)
	}
	var encoded bytes.Buffer
	if show.Format == "jpeg" {
		err = jpeg.Encode(&encoded, part, &jpeg.Options{Quality: show.Quality})
	} else {
		err = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&encoded, part)
	}
	return encoded.Bytes(), err
}

// outward converts a box to pixels and rounds it outward.
func outward(b dom.Box, x, y float64) image.Rectangle {
	return image.Rect(pixel(math.Floor(b.X*x)), pixel(math.Floor(b.Y*y)), pixel(math.Ceil((b.X+b.Width)*x)), pixel(math.Ceil((b.Y+b.Height)*y)))
}

// pixel clamps a coordinate from a page to a range that fits in an int.
func pixel(v float64) int { return int(max(-1e9, min(v, 1e9))) }
