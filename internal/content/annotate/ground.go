package annotate

import "image"

// contrast is how much two neighbours differ, over red, green and blue, that make an edge.
const contrast = 60

// ground tells where a picture shows something: text, edges, photographs. It looks only where it is asked, so that
// the picture of a long page costs no more than that of a short one.
type ground struct {
	picture *image.RGBA
	bounds  image.Rectangle
}

func newGround(picture *image.RGBA) *ground {
	return &ground{picture: picture, bounds: picture.Bounds()}
}

func differ(a, b []uint8) bool {
	sum := 0
	for i := range a {
		d := int(a[i]) - int(b[i])
		sum += max(d, -d)
	}
	return sum > contrast
}

// busy returns how many pixels of a rectangle, which lies in the picture, are at edges.
func (g *ground) busy(r image.Rectangle) int {
	n := 0
	for y := r.Min.Y; y < r.Max.Y; y++ {
		row := g.picture.Pix[g.picture.PixOffset(g.bounds.Min.X, y):]
		above := g.picture.Pix[g.picture.PixOffset(g.bounds.Min.X, max(y-1, g.bounds.Min.Y)):]
		for x := r.Min.X - g.bounds.Min.X; x < r.Max.X-g.bounds.Min.X; x++ {
			i, left := 4*x, 4*max(x-1, 0)
			if differ(row[i:i+3], row[left:left+3]) || differ(row[i:i+3], above[i:i+3]) {
				n++
			}
		}
	}
	return n
}
