// Package annotate draws numbered boxes on a screenshot. Each box gets an outline and a label with its number, placed where it hides as
// little as possible.
//
// The package guarantees that the same picture and boxes give the same result, that every label is within the picture, and that no label
// covers another. A box without room for a label gets only an outline.
package annotate

import (
	"image"
	"image/color"
	"image/draw"
	"strconv"
)

// Box is a box in pixels of the picture, and its number.
type Box struct {
	Number uint32
	Bounds image.Rectangle
}

// colours are dark enough for white digits, and different enough to show which label belongs to which box.
var colours = []color.RGBA{
	{0xc6, 0x1a, 0x1a, 0xff}, {0x0b, 0x57, 0xc4, 0xff}, {0x0a, 0x7a, 0x32, 0xff}, {0x8a, 0x1f, 0xa8, 0xff},
	{0xb3, 0x4a, 0x00, 0xff}, {0x00, 0x6e, 0x78, 0xff}, {0xb8, 0x12, 0x67, 0xff}, {0x4a, 0x48, 0xc9, 0xff},
}

// Draw returns a copy of the picture with the boxes drawn on it, and the rectangle of the label of each box. scale is the number of pixels
// per CSS pixel; lines and digits scale with it. Boxes are clipped to the picture. A box outside the picture gets neither outline nor
// label.
func Draw(picture image.Image, list []Box, scale float64) (*image.RGBA, []image.Rectangle) {
	out := image.NewRGBA(picture.Bounds())
	draw.Draw(out, out.Bounds(), picture, out.Bounds().Min, draw.Src)
	return out, DrawOn(out, list, scale)
}

// DrawOn is like Draw, but draws on the picture itself instead of a copy.
func DrawOn(out *image.RGBA, list []Box, scale float64) []image.Rectangle {
	bounds := out.Bounds()
	unit := max(1, int(scale+0.5))
	labels := placeLabels(newEdgeMap(out), list, unit)
	for i, m := range list {
		drawOutline(out, m.Bounds.Intersect(bounds), colours[i%len(colours)], unit)
	}
	for i, m := range list {
		if !labels[i].Empty() {
			drawLabel(out, labels[i], m.Number, colours[i%len(colours)], unit)
		}
	}
	return labels
}

// drawOutline draws the edge of a box, one unit thick, on a white edge that stays visible on dark backgrounds.
func drawOutline(out *image.RGBA, box image.Rectangle, c color.RGBA, unit int) {
	if box.Empty() {
		return
	}
	drawFrame(out, box.Inset(-unit).Intersect(out.Bounds()), color.RGBA{0xff, 0xff, 0xff, 0xff}, unit)
	drawFrame(out, box, c, unit)
}

func drawFrame(out *image.RGBA, box image.Rectangle, c color.RGBA, unit int) {
	source := image.NewUniform(c)
	x, y := min(unit, box.Dx()), min(unit, box.Dy())
	for _, edge := range []image.Rectangle{
		image.Rect(box.Min.X, box.Min.Y, box.Max.X, box.Min.Y+y),
		image.Rect(box.Min.X, box.Max.Y-y, box.Max.X, box.Max.Y),
		image.Rect(box.Min.X, box.Min.Y, box.Min.X+x, box.Max.Y),
		image.Rect(box.Max.X-x, box.Min.Y, box.Max.X, box.Max.Y),
	} {
		draw.Draw(out, edge, source, image.Point{}, draw.Src)
	}
}

// drawLabel draws a number on a filled rectangle.
func drawLabel(out *image.RGBA, at image.Rectangle, number uint32, c color.RGBA, unit int) {
	draw.Draw(out, at, image.NewUniform(c), image.Point{}, draw.Src)
	white := image.NewUniform(color.RGBA{0xff, 0xff, 0xff, 0xff})
	x := at.Min.X + margin*unit
	for _, digit := range strconv.FormatUint(uint64(number), 10) {
		for row, line := range digits[digit-'0'] {
			for column := range digitWidth {
				if line[column] == '#' {
					dot := image.Rect(column, row, column+1, row+1)
					dot.Min, dot.Max = dot.Min.Mul(unit), dot.Max.Mul(unit)
					draw.Draw(out, dot.Add(image.Pt(x, at.Min.Y+margin*unit)), white, image.Point{}, draw.Src)
				}
			}
		}
		x += (digitWidth + gap) * unit
	}
}

// labelSize returns the size of the label for a number.
func labelSize(number uint32, unit int) image.Point {
	n := len(strconv.FormatUint(uint64(number), 10))
	return image.Pt(n*digitWidth+(n-1)*gap+2*margin, digitHeight+2*margin).Mul(unit)
}
