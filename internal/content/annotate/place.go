package annotate

import "image"

// Costs of covering a pixel: of text and other edges; of the label's own box; of another box, because the label may then seem to belong to
// that box. A label never covers another label.
const (
	costOfEdge     = 16
	costOfOwnBox   = 2
	costOfOtherBox = 4
	// costOfDistance is the cost of a pixel of distance from the box.
	costOfDistance = 80
)

// placeLabels places a label for each box. Labels are within the picture and do not overlap. The label is empty if its box is outside the
// picture or there is no room. unit is the number of pixels per unit of the label.
func placeLabels(g *edgeMap, list []Box, unit int) []image.Rectangle {
	labels := make([]image.Rectangle, len(list))
	p := placer{edges: g, boxes: newGrid(g.bounds), taken: newGrid(g.bounds)}
	for i, m := range list {
		p.boxes.add(i, m.Bounds.Intersect(g.bounds))
	}
	for i, m := range list {
		box := m.Bounds.Intersect(g.bounds)
		if box.Empty() {
			continue
		}
		labels[i] = p.place(i, box, labelSize(m.Number, unit))
		if !labels[i].Empty() {
			p.taken.add(i, labels[i])
		}
	}
	return labels
}

// placer compares places for a label by the picture content that they would hide.
type placer struct {
	edges *edgeMap
	// boxes holds the boxes. taken holds the placed labels.
	boxes, taken *grid
}

// place returns the candidate with the lowest cost for the label of box i. If all candidates are taken, it returns the nearest free place,
// or an empty rectangle if there is none.
func (p *placer) place(i int, box image.Rectangle, dim image.Point) image.Rectangle {
	var label image.Rectangle
	best := -1
	for rank, candidate := range candidates(box, dim, p.edges.bounds) {
		if candidate.Size() != dim || !p.free(candidate) {
			continue
		}
		cost := rank + overlap(candidate, box)*costOfOwnBox + distance(candidate, box)*costOfDistance
		if best >= 0 && cost >= best {
			continue
		}
		cost += p.edges.count(candidate) * costOfEdge
		p.boxes.each(candidate, func(k int, other image.Rectangle) {
			if k != i {
				cost += overlap(candidate, other) * costOfOtherBox
			}
		})
		if best < 0 || cost < best {
			best, label = cost, candidate
		}
	}
	if best < 0 {
		return search(box, dim, p.edges.bounds, p.free)
	}
	return label
}

// free reports whether a rectangle overlaps no label.
func (p *placer) free(r image.Rectangle) bool { return !p.taken.overlaps(r) }

// search returns the free place nearest to a box, searching ring by ring. It returns an empty rectangle if there is none.
func search(box image.Rectangle, dim image.Point, bounds image.Rectangle, free func(image.Rectangle) bool) image.Rectangle {
	step := image.Pt(max(dim.X/4, 1), max(dim.Y/4, 1))
	rings := max(bounds.Dx()/step.X, bounds.Dy()/step.Y) + 1
	for ring := 1; ring <= rings; ring++ {
		for offset := -ring; offset <= ring; offset++ {
			for _, p := range []image.Point{{offset, -ring}, {offset, ring}, {-ring, offset}, {ring, offset}} {
				at := box.Min.Add(image.Pt(p.X*step.X, p.Y*step.Y))
				r := moveInto(image.Rectangle{Min: at, Max: at.Add(dim)}, bounds)
				if r.Size() == dim && free(r) {
					return r
				}
			}
		}
	}
	return image.Rectangle{}
}

// cell is the side length of a grid cell, in pixels.
const cell = 64

// grid finds rectangles by position.
type grid struct {
	bounds image.Rectangle
	cells  map[image.Point][]int32
	all    map[int]image.Rectangle
}

func newGrid(bounds image.Rectangle) *grid {
	return &grid{bounds: bounds, cells: map[image.Point][]int32{}, all: map[int]image.Rectangle{}}
}

// cellsOf calls do for the cells that a rectangle covers.
func (g *grid) cellsOf(r image.Rectangle, do func(image.Point) bool) {
	if r = r.Intersect(g.bounds).Sub(g.bounds.Min); r.Empty() {
		return
	}
	for y := r.Min.Y / cell; y <= (r.Max.Y-1)/cell; y++ {
		for x := r.Min.X / cell; x <= (r.Max.X-1)/cell; x++ {
			if !do(image.Pt(x, y)) {
				return
			}
		}
	}
}

func (g *grid) add(i int, r image.Rectangle) {
	if r.Empty() {
		return
	}
	g.all[i] = r
	g.cellsOf(r, func(p image.Point) bool {
		g.cells[p] = append(g.cells[p], int32(i))
		return true
	})
}

// each calls do once for every rectangle that overlaps r.
func (g *grid) each(r image.Rectangle, do func(i int, other image.Rectangle)) {
	seen := map[int32]bool{}
	g.cellsOf(r, func(p image.Point) bool {
		for _, i := range g.cells[p] {
			if other := g.all[int(i)]; !seen[i] && other.Overlaps(r) {
				seen[i] = true
				do(int(i), other)
			}
		}
		return true
	})
}

// overlaps reports whether any rectangle overlaps r.
func (g *grid) overlaps(r image.Rectangle) (met bool) {
	g.cellsOf(r, func(p image.Point) bool {
		for _, i := range g.cells[p] {
			if g.all[int(i)].Overlaps(r) {
				met = true
			}
		}
		return !met
	})
	return met
}

// candidates returns places for a label of a given size, better places first: outside the box at its corners and sides, then inside its
// corners, then in rings further away.
func candidates(box image.Rectangle, size image.Point, bounds image.Rectangle) []image.Rectangle {
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
		out[i] = moveInto(image.Rectangle{Min: p, Max: p.Add(size)}, bounds)
	}
	return out
}

// moveInto moves a rectangle into bounds. It clips the rectangle only if it is larger than bounds.
func moveInto(r, bounds image.Rectangle) image.Rectangle {
	var move image.Point
	move.X = max(bounds.Min.X-r.Min.X, 0) + min(bounds.Max.X-r.Max.X, 0)
	move.Y = max(bounds.Min.Y-r.Min.Y, 0) + min(bounds.Max.Y-r.Max.Y, 0)
	return r.Add(move).Intersect(bounds)
}

// overlap returns how many pixels two rectangles share.
func overlap(a, b image.Rectangle) int {
	r := a.Intersect(b)
	return r.Dx() * r.Dy()
}

// distance returns the horizontal plus the vertical gap between two rectangles, in pixels.
func distance(a, b image.Rectangle) int {
	x := max(a.Min.X-b.Max.X, b.Min.X-a.Max.X, 0)
	y := max(a.Min.Y-b.Max.Y, b.Min.Y-a.Max.Y, 0)
	return x + y
}
