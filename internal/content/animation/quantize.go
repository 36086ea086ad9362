package animation

import (
	"image"
	"image/color"
	"slices"
)

// maxColours limits the colors of a frame.
const maxColours = 256

// classes is the number of classes of similar colors: five bits each of red, green and blue.
const classes = 1 << 15

// quantize returns the colors of a part of a picture, and the color index of each of its pixels.
func quantize(p *image.RGBA, part image.Rectangle) ([]color.RGBA, []byte) {
	if colours, pixels, ok := exactly(p, part); ok {
		return colours, pixels
	}
	return nearly(p, part)
}

// exactly is quantize for a part with at most 256 colors. For other parts ok is false.
func exactly(p *image.RGBA, part image.Rectangle) (colours []color.RGBA, pixels []byte, ok bool) {
	numbers := map[uint32]byte{}
	pixels = make([]byte, 0, part.Dx()*part.Dy())
	last, number := uint32(1<<24), byte(0) // adjacent pixels mostly have the same color
	for y := part.Min.Y; y < part.Max.Y; y++ {
		for i := p.PixOffset(part.Min.X, y); i < p.PixOffset(part.Max.X, y); i += 4 {
			c := uint32(p.Pix[i])<<16 | uint32(p.Pix[i+1])<<8 | uint32(p.Pix[i+2])
			if c != last {
				known := false
				if number, known = numbers[c]; !known {
					if len(colours) == maxColours {
						return nil, nil, false
					}
					number = byte(len(colours))
					numbers[c] = number
					colours = append(colours, color.RGBA{p.Pix[i], p.Pix[i+1], p.Pix[i+2], 0xff})
				}
				last = c
			}
			pixels = append(pixels, number)
		}
	}
	return colours, pixels, true
}

// class holds the sums of the colors of its pixels.
type class struct {
	number, count, r, g, b int
}

func (c class) mean() color.RGBA {
	return color.RGBA{uint8(c.r / c.count), uint8(c.g / c.count), uint8(c.b / c.count), 0xff}
}

// nearly assigns colors to classes. The most frequent classes get the mean color of their pixels; every other class gets the nearest of
// these colors.
func nearly(p *image.RGBA, part image.Rectangle) ([]color.RGBA, []byte) {
	all := make([]class, classes)
	of := func(i int) int { return int(p.Pix[i]>>3)<<10 | int(p.Pix[i+1]>>3)<<5 | int(p.Pix[i+2]>>3) }
	for y := part.Min.Y; y < part.Max.Y; y++ {
		for i := p.PixOffset(part.Min.X, y); i < p.PixOffset(part.Max.X, y); i += 4 {
			c := &all[of(i)]
			c.count, c.r, c.g, c.b = c.count+1, c.r+int(p.Pix[i]), c.g+int(p.Pix[i+1]), c.b+int(p.Pix[i+2])
		}
	}
	var used []class
	for n, c := range all {
		if c.number = n; c.count > 0 {
			used = append(used, c)
		}
	}
	slices.SortFunc(used, func(a, b class) int { return b.count - a.count })
	var colours []color.RGBA
	for _, c := range used[:min(len(used), maxColours)] {
		colours = append(colours, c.mean())
	}
	numbers := make([]byte, classes)
	for i, c := range used {
		if i < len(colours) {
			numbers[c.number] = byte(i)
		} else {
			numbers[c.number] = nearest(colours, c.mean())
		}
	}
	pixels := make([]byte, 0, part.Dx()*part.Dy())
	for y := part.Min.Y; y < part.Max.Y; y++ {
		for i := p.PixOffset(part.Min.X, y); i < p.PixOffset(part.Max.X, y); i += 4 {
			pixels = append(pixels, numbers[of(i)])
		}
	}
	return colours, pixels
}

// nearest returns the index of the color that is nearest to a given color.
func nearest(colours []color.RGBA, to color.RGBA) byte {
	best, least := 0, 1<<30
	for i, c := range colours {
		r, g, b := int(c.R)-int(to.R), int(c.G)-int(to.G), int(c.B)-int(to.B)
		if d := 2*r*r + 4*g*g + 3*b*b; d < least {
			best, least = i, d
		}
	}
	return byte(best)
}
