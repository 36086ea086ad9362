package animation

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"math/rand/v2"
	"testing"
)

// plain returns a picture of one color with a square of another color.
func plain(back, square color.RGBA, at image.Rectangle) *image.RGBA {
	p := image.NewRGBA(image.Rect(0, 0, 60, 40))
	draw.Draw(p, p.Rect, image.NewUniform(back), image.Point{}, draw.Src)
	draw.Draw(p, at, image.NewUniform(square), image.Point{}, draw.Src)
	return p
}

var white, red = color.RGBA{255, 255, 255, 255}, color.RGBA{200, 10, 10, 255}

// play decodes a file and returns its pictures as displayed.
func play(t *testing.T, file []byte) (*gif.GIF, []*image.RGBA) {
	t.Helper()
	g, err := gif.DecodeAll(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	var all []*image.RGBA
	shown := image.NewRGBA(image.Rect(0, 0, g.Config.Width, g.Config.Height))
	for _, frame := range g.Image {
		draw.Draw(shown, frame.Rect, frame, frame.Rect.Min, draw.Over)
		copied := *shown
		copied.Pix = bytes.Clone(shown.Pix)
		all = append(all, &copied)
	}
	return g, all
}

func TestAnAnimationHasItsPicturesAndTimes(t *testing.T) {
	one, two := plain(white, red, image.Rect(3, 4, 9, 10)), plain(white, red, image.Rect(20, 4, 26, 10))
	e, file, err := New(one)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		p  *image.RGBA
		at int
	}{{one, 30}, {two, 50}, {one, 51}} {
		more, err := e.Add(step.p, step.at)
		if err != nil {
			t.Fatal(err)
		}
		file = append(file, more...)
	}
	rest, err := e.End(151)
	if err != nil {
		t.Fatal(err)
	}
	g, shown := play(t, append(file, rest...))
	if len(shown) != 3 || e.Frames() != 3 {
		t.Fatalf("it has %d frames", len(shown))
	}
	for i, want := range []*image.RGBA{one, two, one} {
		if !bytes.Equal(shown[i].Pix, want.Pix) {
			t.Errorf("frame %d is another picture", i)
		}
	}
	if g.Delay[0] != 50 || g.Delay[1] != 2 || g.Delay[2] != 99 || g.LoopCount != 0 {
		t.Errorf("the delays are %v, the loop count %d", g.Delay, g.LoopCount)
	}
	if g.Image[1].Rect != image.Rect(3, 4, 26, 10) {
		t.Errorf("the second frame has %v", g.Image[1].Rect)
	}
}

// TestABeginningWithATrailerIsAFile truncates a file after each part.
func TestABeginningWithATrailerIsAFile(t *testing.T) {
	e, file, err := New(plain(white, red, image.Rect(0, 0, 1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		more, err := e.Add(plain(white, red, image.Rect(i, i, i+5, i+5)), 10*(i+1))
		if err != nil {
			t.Fatal(err)
		}
		file = append(file, more...)
		if _, shown := play(t, append(bytes.Clone(file), Trailer)); len(shown) != i+1 {
			t.Errorf("after %d pictures, it has %d frames", i+1, len(shown))
		}
	}
}

func TestManyColours(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	p := image.NewRGBA(image.Rect(0, 0, 64, 64))
	for i := range p.Pix {
		p.Pix[i] = uint8(random.Uint32())
		if i%4 == 3 {
			p.Pix[i] = 255
		}
	}
	draw.Draw(p, image.Rect(0, 0, 64, 40), image.NewUniform(red), image.Point{}, draw.Src)
	e, file, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	rest, err := e.End(10)
	if err != nil {
		t.Fatal(err)
	}
	_, shown := play(t, append(file, rest...))
	if got := shown[0].RGBAAt(5, 5); got != red {
		t.Errorf("the most frequent colour became %v", got)
	}
}

func TestPicturesOfAnotherSize(t *testing.T) {
	e, file, err := New(plain(white, red, image.Rect(0, 0, 5, 5)))
	if err != nil {
		t.Fatal(err)
	}
	large := image.NewRGBA(image.Rect(0, 0, 100, 100))
	more, err := e.Add(large, 5)
	if err != nil {
		t.Fatal(err)
	}
	rest, err := e.End(10)
	if err != nil {
		t.Fatal(err)
	}
	if g, _ := play(t, append(append(file, more...), rest...)); g.Config.Width != 60 || g.Config.Height != 40 {
		t.Errorf("got %v", g.Config)
	}
	for _, size := range []image.Rectangle{{}, image.Rect(0, 0, MaxSide+1, 2)} {
		if _, _, err := New(image.NewRGBA(size)); err == nil {
			t.Errorf("a picture of %v is accepted", size)
		}
	}
}

// FuzzEveryAnimationIsDecoded creates pictures of arbitrary pixels.
func FuzzEveryAnimationIsDecoded(f *testing.F) {
	f.Add([]byte{1, 2, 3}, uint8(7), uint16(3))
	f.Fuzz(func(t *testing.T, pixels []byte, width uint8, at uint16) {
		size := image.Rect(0, 0, int(width%50)+1, 20)
		one, two := image.NewRGBA(size), image.NewRGBA(size)
		for i := range one.Pix {
			one.Pix[i] = 255
			if two.Pix[i] = 255; i%4 != 3 && len(pixels) > 0 {
				two.Pix[i] = pixels[i%len(pixels)] + uint8(i)
			}
		}
		e, file, err := New(one)
		if err != nil {
			t.Fatal(err)
		}
		more, err := e.Add(two, int(at))
		if err != nil {
			t.Fatal(err)
		}
		rest, err := e.End(int(at) + 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, shown := play(t, append(append(file, more...), rest...)); len(shown) != e.Frames() {
			t.Errorf("%d frames of %d", len(shown), e.Frames())
		}
	})
}
