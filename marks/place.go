package marks

import "image"

// What it costs to cover a pixel: of another label, which makes both illegible; of text and other edges; of the
// marked element; of another marked element, whose label may then seem to be this one.
const (
	onLabel = 1000
	onEdge  = 16
	onOwn   = 2
	onOther = 4
	// far is what a pixel of distance from the box costs.
	far = 80
)

// place finds where the labels go, parallel to the marks. The label of a box that is outside of the picture is
// empty. Unit is how many pixels a unit of the label has.
func place(g *ground, list []Mark, unit int) []image.Rectangle {
	bounds := g.bounds
	labels := make([]image.Rectangle, len(list))
	for i, m := range list {
		box := m.Box.Intersect(bounds)
		if box.Empty() {
			continue
		}
		best := -1
		for rank, candidate := range around(box, size(m.Number, unit), bounds) {
			cost := rank + g.busy(candidate)*onEdge + cover(candidate, box)*onOwn + distance(candidate, box)*far
			for k := range list {
				if k < i {
					cost += cover(candidate, labels[k]) * onLabel
				}
				if k != i && best >= 0 && cost >= best {
					break
				}
				if k != i {
					cost += cover(candidate, list[k].Box.Intersect(bounds)) * onOther
				}
			}
			if best < 0 || cost < best {
				best, labels[i] = cost, candidate
			}
		}
	}
	return labels
}

// around lists places for a label of a size, the better ones first: outside at the corners and the sides of a box,
// then in its corners, then in rings further away.
func around(box image.Rectangle, size image.Point, bounds image.Rectangle) []image.Rectangle {
	left, right := box.Min.X, box.Max.X-size.X
	above, below := box.Min.Y-size.Y, box.Max.Y
	places := []image.Point{
		{left, above}, {right, above}, {left - size.X, box.Min.Y}, {box.Max.X, box.Min.Y},
		{left, below}, {right, below}, {left, box.Min.Y}, {right, box.Min.Y}, {left, box.Max.Y - size.Y}, {right, box.Max.Y - size.Y},
		{left - size.X, above}, {box.Max.X, above}, {left - size.X, below}, {box.Max.X, below},
	}
	for ring := 1; ring <= 2; ring++ {
		dx, dy := ring*size.X, ring*size.Y
		places = append(places,
			image.Pt(left, above-dy), image.Pt(left+dx, above), image.Pt(left-dx, above), image.Pt(left, below+dy),
			image.Pt(left+dx, box.Min.Y), image.Pt(left, box.Min.Y+dy), image.Pt(left+dx, box.Min.Y+dy))
	}
	out := make([]image.Rectangle, len(places))
	for i, p := range places {
		out[i] = inside(image.Rectangle{Min: p, Max: p.Add(size)}, bounds)
	}
	return out
}

// inside moves a rectangle into another, where it is cut only if it is larger.
func inside(r, bounds image.Rectangle) image.Rectangle {
	var move image.Point
	move.X = max(bounds.Min.X-r.Min.X, 0) + min(bounds.Max.X-r.Max.X, 0)
	move.Y = max(bounds.Min.Y-r.Min.Y, 0) + min(bounds.Max.Y-r.Max.Y, 0)
	return r.Add(move).Intersect(bounds)
}

// cover returns how many pixels two rectangles share.
func cover(a, b image.Rectangle) int {
	r := a.Intersect(b)
	return r.Dx() * r.Dy()
}

// distance returns how many pixels lie between two rectangles, sideways and upwards together.
func distance(a, b image.Rectangle) int {
	x := max(a.Min.X-b.Max.X, b.Min.X-a.Max.X, 0)
	y := max(a.Min.Y-b.Max.Y, b.Min.Y-a.Max.Y, 0)
	return x + y
}
