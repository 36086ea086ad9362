package marks

import "image"

// contrast is how much two neighbours differ, over red, green and blue, that make an edge.
const contrast = 60

// ground tells where a picture shows something: text, edges, photographs.
type ground struct {
	bounds image.Rectangle
	stride int
	// sums holds at each corner how many pixels at edges lie above and to the left of it.
	sums []int32
}

func newGround(picture *image.RGBA) *ground {
	b := picture.Bounds()
	g := &ground{bounds: b, stride: b.Dx() + 1, sums: make([]int32, (b.Dx()+1)*(b.Dy()+1))}
	for y := range b.Dy() {
		row := picture.Pix[y*picture.Stride:]
		above := picture.Pix[max(y-1, 0)*picture.Stride:]
		run := int32(0)
		for x := range b.Dx() {
			i, left := 4*x, 4*max(x-1, 0)
			if differ(row[i:i+3], row[left:left+3]) || differ(row[i:i+3], above[i:i+3]) {
				run++
			}
			g.sums[(y+1)*g.stride+x+1] = g.sums[y*g.stride+x+1] + run
		}
	}
	return g
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
	r = r.Sub(g.bounds.Min)
	at := func(x, y int) int32 { return g.sums[y*g.stride+x] }
	return int(at(r.Max.X, r.Max.Y) - at(r.Min.X, r.Max.Y) - at(r.Max.X, r.Min.Y) + at(r.Min.X, r.Min.Y))
}
