package annotate

import (
	"image"
	"image/color"
	"image/draw"
	"math/rand/v2"
	"slices"
	"testing"
)

func blank(w, h int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(img, img.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	return img
}

// overlaps counts the pairs of labels that share a pixel.
func overlaps(labels []image.Rectangle) int {
	n := 0
	for i, a := range labels {
		for _, b := range labels[:i] {
			if a.Overlaps(b) {
				n++
			}
		}
	}
	return n
}

// TestLabelsNeitherOverlapNorLeaveThePicture places labels for arbitrary boxes in arbitrary pictures. A box has no label only if there is
// no room.
func TestLabelsNeitherOverlapNorLeaveThePicture(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	placed, without := 0, 0
	for range 60 {
		picture := blank(1+random.IntN(400), 1+random.IntN(300))
		var list []Box
		for range random.IntN(120) {
			x, y := random.IntN(600)-100, random.IntN(500)-100
			list = append(list, Box{Number: random.Uint32N(100_000), Bounds: image.Rect(x, y, x+random.IntN(120), y+random.IntN(80))})
		}
		scale := 1 + 2*random.Float64()
		out, labels := Draw(picture, list, scale)
		if out.Bounds() != picture.Bounds() {
			t.Fatalf("the picture is %v, was %v", out.Bounds(), picture.Bounds())
		}
		if n := overlaps(labels); n > 0 {
			t.Fatalf("%d pairs of labels overlap", n)
		}
		for i, l := range labels {
			visible := !list[i].Bounds.Intersect(picture.Bounds()).Empty()
			if !visible && !l.Empty() || !l.In(picture.Bounds()) {
				t.Fatalf("the box %v has the label %v in %v", list[i].Bounds, l, picture.Bounds())
			}
			if visible && l.Empty() {
				without++
			} else if visible {
				placed++
				if want := labelSize(list[i].Number, max(1, int(scale+0.5))); l.Size() != want {
					t.Fatalf("the label %v should have the size %v", l, want)
				}
			}
		}
	}
	if without == 0 || placed < without {
		t.Errorf("%d labels found a place and %d did not: the pictures are too large or too small to tell", placed, without)
	}
}

// TestEveryLabelOfTheSamePlaceFindsRoom labels 150 boxes in one corner.
func TestEveryLabelOfTheSamePlaceFindsRoom(t *testing.T) {
	var list []Box
	for i := range 150 {
		list = append(list, Box{Number: uint32(1000 + i), Bounds: image.Rect(0, 0, 10, 10)})
	}
	_, labels := Draw(blank(1280, 800), list, 1)
	if n := overlaps(labels); n > 0 {
		t.Errorf("%d pairs of labels overlap", n)
	}
	for i, l := range labels {
		if l.Empty() {
			t.Fatalf("mark %d has no label although there is room", i)
		}
	}
}

func TestLabelsOfADenseGridDoNotOverlap(t *testing.T) {
	for _, scale := range []float64{1, 2, 3} {
		unit := int(scale)
		var list []Box
		for i := range 300 {
			x, y := (20+i%20*48)*unit, (20+i/20*32)*unit
			list = append(list, Box{Number: uint32(100 + i), Bounds: image.Rect(x, y, x+40*unit, y+18*unit)})
		}
		_, labels := Draw(blank(1000*unit, 520*unit), list, scale)
		if n := overlaps(labels); n > 0 {
			t.Errorf("at scale %v %d pairs of labels overlap", scale, n)
		}
	}
}

func TestLabelsAvoidText(t *testing.T) {
	picture := blank(200, 100)
	for x := 0; x < 200; x += 2 {
		draw.Draw(picture, image.Rect(x, 10, x+1, 40), image.NewUniform(color.Black), image.Point{}, draw.Src)
	}
	text := image.Rect(0, 10, 200, 40)
	_, labels := Draw(picture, []Box{{Number: 12, Bounds: image.Rect(60, 40, 120, 60)}}, 1)
	if labels[0].Overlaps(text) {
		t.Errorf("the label %v stands on the text above", labels[0])
	}
}

// TestDrawing checks pixels of the outline, the background of the label, and the digit.
func TestDrawing(t *testing.T) {
	picture := blank(80, 60)
	out, labels := Draw(picture, []Box{{Number: 1, Bounds: image.Rect(30, 30, 60, 50)}}, 2)
	c := colours[0]
	for _, p := range []image.Point{{30, 30}, {31, 31}, {59, 49}, {45, 30}, {30, 40}} {
		if got := out.RGBAAt(p.X, p.Y); got != c {
			t.Errorf("the outline at %v is %v", p, got)
		}
	}
	if got := out.RGBAAt(45, 40); got != (color.RGBA{0xff, 0xff, 0xff, 0xff}) {
		t.Errorf("the inside is %v", got)
	}
	l := labels[0]
	if want := image.Pt((digitWidth+2*margin)*2, (digitHeight+2*margin)*2); l.Size() != want {
		t.Fatalf("the label is %v, want %v", l.Size(), want)
	}
	var rows []string
	for y := l.Min.Y + 2*margin; y < l.Max.Y-2*margin; y += 2 {
		row := ""
		for x := l.Min.X + 2*margin; x < l.Max.X-2*margin; x += 2 {
			if out.RGBAAt(x, y) == c {
				row += " "
			} else {
				row += "#"
			}
		}
		rows = append(rows, row)
	}
	if want := digits[1][:]; !slices.Equal(rows, want) {
		t.Errorf("got %q, want %q", rows, want)
	}
	if picture.RGBAAt(30, 30) == c {
		t.Error("the picture that was given was changed")
	}
}

func TestDigitsAreDrawnInFull(t *testing.T) {
	seen := map[[digitHeight]string]bool{}
	for n, d := range digits {
		for row, line := range d {
			if len(line) != digitWidth {
				t.Errorf("row %d of digit %d is %q", row, n, line)
			}
		}
		if seen[d] {
			t.Errorf("digit %d looks like another", n)
		}
		seen[d] = true
	}
}

func BenchmarkDraw(b *testing.B) {
	var list []Box
	for i := range 300 {
		x, y := i%20*60, i/20*50
		list = append(list, Box{Number: uint32(i), Bounds: image.Rect(x, y, x+50, y+20)})
	}
	picture := blank(1280, 800)
	for b.Loop() {
		Draw(picture, list, 1)
	}
}

// BenchmarkDrawLong labels a picture of a page that is 16,384 pixels long.
func BenchmarkDrawLong(b *testing.B) {
	var list []Box
	for i := range 300 {
		x, y := i%4*300, i/4*200
		list = append(list, Box{Number: uint32(i), Bounds: image.Rect(x, y, x+250, y+40)})
	}
	picture := blank(1280, 16384)
	for b.Loop() {
		DrawOn(picture, list, 1)
	}
}
