package annotate

import "image"

// contrast is the minimum difference between two adjacent pixels at an edge, summed over red, green and blue.
const contrast = 60

// edgeMap finds where a picture shows content, such as text, edges and photographs. It reads only the requested pixels, so a picture of a
// long page costs no more than one of a short page.
type edgeMap struct {
	picture *image.RGBA
	bounds  image.Rectangle
}

func newEdgeMap(picture *image.RGBA) *edgeMap {
	return &edgeMap{picture: picture, bounds: picture.Bounds()}
}

func differ(a, b []uint8) bool {
	sum := 0
	for i := range a {
		d := int(a[i]) - int(b[i])
		sum += max(d, -d)
	}
	return sum > contrast
}

// count returns how many pixels of a rectangle of the picture are at edges.
func (g *edgeMap) count(r image.Rectangle) int {
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
