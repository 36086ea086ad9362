// Package annotate draws numbered boxes onto a picture: an outline for each box, and beside it a label with its
// number, where it hides as little as may be.
//
// It is pure: the same picture and boxes always give the same picture. Every label lies within the picture, and no
// label covers any of another: where no room is left, a box has an outline alone.
package annotate

import (
	"image"
	"image/color"
	"image/draw"
	"strconv"
)

// Mark is one box in pixels of the picture, with the number to write beside it.
type Mark struct {
	Number uint32
	Box    image.Rectangle
}

// colours are dark enough for white digits, and unlike each other, so that a label can be told to belong to the
// box of its colour.
var colours = []color.RGBA{
	{0xc6, 0x1a, 0x1a, 0xff}, {0x0b, 0x57, 0xc4, 0xff}, {0x0a, 0x7a, 0x32, 0xff}, {0x8a, 0x1f, 0xa8, 0xff},
	{0xb3, 0x4a, 0x00, 0xff}, {0x00, 0x6e, 0x78, 0xff}, {0xb8, 0x12, 0x67, 0xff}, {0x4a, 0x48, 0xc9, 0xff},
}

// Draw returns a copy of the picture with the marks on it, and where the label of each stands. Scale is how many
// pixels make a CSS pixel: lines and digits grow with it. Boxes are cut to the picture; one that is outside of it
// gets neither outline nor label.
func Draw(picture image.Image, list []Mark, scale float64) (*image.RGBA, []image.Rectangle) {
	out := image.NewRGBA(picture.Bounds())
	draw.Draw(out, out.Bounds(), picture, out.Bounds().Min, draw.Src)
	return out, DrawOn(out, list, scale)
}

// DrawOn is Draw on the picture itself.
func DrawOn(out *image.RGBA, list []Mark, scale float64) []image.Rectangle {
	bounds := out.Bounds()
	unit := max(1, int(scale+0.5))
	labels := place(newGround(out), list, unit)
	for i, m := range list {
		outline(out, m.Box.Intersect(bounds), colours[i%len(colours)], unit)
	}
	for i, m := range list {
		if !labels[i].Empty() {
			label(out, labels[i], m.Number, colours[i%len(colours)], unit)
		}
	}
	return labels
}

// outline draws the edge of a box, one unit thick, on a lighter one that shows on dark ground.
func outline(out *image.RGBA, box image.Rectangle, c color.RGBA, unit int) {
	if box.Empty() {
		return
	}
	frame(out, box.Inset(-unit).Intersect(out.Bounds()), color.RGBA{0xff, 0xff, 0xff, 0xff}, unit)
	frame(out, box, c, unit)
}

func frame(out *image.RGBA, box image.Rectangle, c color.RGBA, unit int) {
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

// label draws a number on a filled ground.
func label(out *image.RGBA, at image.Rectangle, number uint32, c color.RGBA, unit int) {
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

// size returns how large the label of a number is.
func size(number uint32, unit int) image.Point {
	n := len(strconv.FormatUint(uint64(number), 10))
	return image.Pt(n*digitWidth+(n-1)*gap+2*margin, digitHeight+2*margin).Mul(unit)
}
