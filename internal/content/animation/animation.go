// Package animation writes pictures as an animated GIF (GIF89a), frame by frame. Written data is final, so a caller can send it
// immediately, and the Encoder keeps no more than two frames in memory.
//
// Each frame has its own palette of at most 256 colors. If the picture has no more colors, as most pages do, the palette is exact.
// Otherwise it holds the most frequent ones of 32,768 classes of similar colors. A frame contains only the rectangle that differs from the
// previous frame. The standard library's image/gif encodes only whole animations, with palettes from the caller.
package animation

import (
	"bytes"
	"compress/lzw"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/draw"
)

// Trailer is the last byte of a file.
const Trailer = 0x3b

// MaxSide limits width and height, in pixels.
const MaxSide = 4096

// Encoder writes one animation. It writes a frame when its end is known: when the next frame arrives or the animation ends.
type Encoder struct {
	size image.Point
	// shown is the current picture. next is the rectangle that differs from the previous picture.
	shown *image.RGBA
	next  image.Rectangle
	// begun is the start of the next frame, in hundredths of a second since the first frame.
	begun  int
	frames int
}

// New starts an animation with its first picture and returns the start of the file.
func New(first image.Image) (*Encoder, []byte, error) {
	size := first.Bounds().Size()
	if size.X < 1 || size.Y < 1 || size.X > MaxSide || size.Y > MaxSide {
		return nil, nil, errors.New("the picture has no size, or is too large for an animation")
	}
	e := &Encoder{size: size, shown: image.NewRGBA(image.Rectangle{Max: size}), next: image.Rectangle{Max: size}, frames: 1}
	draw.Draw(e.shown, e.shown.Rect, first, first.Bounds().Min, draw.Src)
	head := []byte("GIF89a")
	head = binary.LittleEndian.AppendUint16(head, uint16(size.X))
	head = binary.LittleEndian.AppendUint16(head, uint16(size.Y))
	head = append(head, 0x70, 0, 0) // no global palette
	// This is the Netscape extension that repeats the animation forever.
	head = append(head, 0x21, 0xff, 11)
	head = append(head, "NETSCAPE2.0"...)
	return e, append(head, 3, 1, 0, 0, 0), nil
}

// Frames returns the number of frames of the animation.
func (e *Encoder) Frames() int { return e.frames }

// Add adds a picture at a time in hundredths of a second. It returns the bytes that are now final, or nothing if the picture equals the
// last one. A picture of another size is cropped, or placed in the corner.
func (e *Encoder) Add(picture image.Image, at int) ([]byte, error) {
	now := image.NewRGBA(e.shown.Rect)
	draw.Draw(now, now.Rect, e.shown, image.Point{}, draw.Src)
	draw.Draw(now, now.Rect, picture, picture.Bounds().Min, draw.Src)
	changed := difference(e.shown, now)
	if changed.Empty() {
		return nil, nil
	}
	out, err := e.flush(at)
	e.shown, e.next = now, changed
	e.frames++
	return out, err
}

// End ends the animation at a time and returns the rest of the file.
func (e *Encoder) End(at int) ([]byte, error) {
	out, err := e.flush(at)
	return append(out, Trailer), err
}

// minDelay is the minimum duration of a frame, in hundredths of a second. Programs show shorter frames for much longer.
const minDelay = 2

// flush writes the current frame, which is shown until the given time.
func (e *Encoder) flush(until int) ([]byte, error) {
	delay := min(max(until-e.begun, minDelay), 0xffff)
	e.begun += delay
	colours, pixels := quantize(e.shown, e.next)
	out := []byte{0x21, 0xf9, 4, 1 << 2} // the frame stays when the next one is drawn
	out = binary.LittleEndian.AppendUint16(out, uint16(delay))
	out = append(out, 0, 0, 0x2c)
	for _, v := range []int{e.next.Min.X, e.next.Min.Y, e.next.Dx(), e.next.Dy()} {
		out = binary.LittleEndian.AppendUint16(out, uint16(v))
	}
	bits := 1
	for 1<<bits < len(colours) {
		bits++
	}
	out = append(out, 0x80|byte(bits-1))
	for i := range 1 << bits {
		c := color.RGBA{}
		if i < len(colours) {
			c = colours[i]
		}
		out = append(out, c.R, c.G, c.B)
	}
	return compressed(out, pixels, max(bits, 2))
}

// compressed appends pixels as LZW data, in blocks of at most 255 bytes.
func compressed(out, pixels []byte, bits int) ([]byte, error) {
	var packed bytes.Buffer
	w := lzw.NewWriter(&packed, lzw.LSB, bits)
	_, err := w.Write(pixels)
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, err
	}
	out = append(out, byte(bits))
	for block := packed.Next(255); len(block) > 0; block = packed.Next(255) {
		out = append(append(out, byte(len(block))), block...)
	}
	return append(out, 0), nil
}

// difference returns the smallest rectangle that contains all differences between two pictures of the same size.
func difference(a, b *image.RGBA) image.Rectangle {
	size := a.Rect.Size()
	row := func(y int) bool {
		i := y * a.Stride
		return bytes.Equal(a.Pix[i:i+4*size.X], b.Pix[i:i+4*size.X])
	}
	top, bottom := 0, size.Y
	for top < bottom && row(top) {
		top++
	}
	for bottom > top && row(bottom-1) {
		bottom--
	}
	left, right := size.X, 0
	for y := top; y < bottom; y++ {
		p, q := a.Pix[y*a.Stride:][:4*size.X], b.Pix[y*b.Stride:][:4*size.X]
		for x := 0; x < left; x++ {
			if !bytes.Equal(p[4*x:4*x+4], q[4*x:4*x+4]) {
				left = x
			}
		}
		for x := size.X - 1; x >= right; x-- {
			if !bytes.Equal(p[4*x:4*x+4], q[4*x:4*x+4]) {
				right = x + 1
			}
		}
	}
	return image.Rect(left, top, right, bottom)
}
