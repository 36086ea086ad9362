package redact

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"testing"

	"github.com/domtap/domtap/dom"
)

func white(t *testing.T, w, h int) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(img, img.Bounds(), image.White, image.Point{}, draw.Src)
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func inked(c color.Color) bool {
	r, g, b, _ := c.RGBA()
	return r>>8 < 0x40 && g>>8 < 0x40 && b>>8 < 0x40
}

func TestEveryPixelThatABoxTouchesIsPaintedAndNoOther(t *testing.T) {
	got, err := Cover(white(t, 200, 100), View{Width: 100, Height: 50}, []dom.Box{{X: 10.2, Y: 5, Width: 10, Height: 10}}, Output{Format: "png"})
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(got))
	if err != nil {
		t.Fatal(err)
	}
	want := image.Rect(20, 10, 41, 30) // twice the resolution, rounded outward
	for y := range 100 {
		for x := range 200 {
			if in := (image.Point{X: x, Y: y}).In(want); inked(img.At(x, y)) != in {
				t.Fatalf("pixel %d,%d: painted %v, want %v", x, y, !in, in)
			}
		}
	}
}

func TestAPartOfThePicture(t *testing.T) {
	boxes := []dom.Box{{X: 10, Y: 10, Width: 20, Height: 20}}
	got, err := Cover(white(t, 100, 50), View{Width: 100, Height: 50}, boxes, Output{Clip: dom.Box{X: 5, Y: 5, Width: 30, Height: 300}, Format: "jpeg", Quality: 95})
	if err != nil {
		t.Fatal(err)
	}
	img, err := jpeg.Decode(bytes.NewReader(got))
	if err != nil || img.Bounds().Size() != (image.Point{X: 30, Y: 45}) {
		t.Fatal(err, img.Bounds())
	}
	if !inked(img.At(15, 15)) || inked(img.At(29, 40)) {
		t.Errorf("%v, %v", img.At(15, 15), img.At(29, 40))
	}
	_, err = Cover(white(t, 100, 50), View{Width: 100, Height: 50}, nil, Output{Clip: dom.Box{X: 500, Width: 9, Height: 9}})
	if !errors.Is(err, ErrOutside) {
		t.Error(err)
	}
}

func TestAPictureOfSomethingElseIsRefused(t *testing.T) {
	for _, view := range []View{{}, {Width: 100, Height: 100}, {Width: -100, Height: -50}} {
		if _, err := Cover(white(t, 100, 50), view, nil, Output{}); err == nil {
			t.Errorf("%+v was taken", view)
		}
	}
	if _, err := Cover([]byte("no picture"), View{Width: 1, Height: 1}, nil, Output{}); err == nil {
		t.Error("no picture was taken")
	}
}
