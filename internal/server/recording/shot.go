package recording

import (
	"bytes"
	"cmp"
	"context"
	"image"
	"image/draw"
	"image/jpeg"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/capture"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/recording"
)

const (
	// pictureEvery is the minimum time between two pictures of a tab.
	pictureEvery = time.Second
	// pictureLimit limits the time to draw a page.
	pictureLimit = 5 * time.Second
	// pictureWidth is the maximum width of a picture in pixels. pictureQuality is its JPEG quality. Text is just legible.
	pictureWidth   = 480
	pictureQuality = 60
	// shotQuality is the JPEG quality of the original screenshot.
	shotQuality = 85
)

// shot takes a small picture of a tab, masked like the pictures for clients.
func shot(ctx context.Context, tab *actor.Tab) (*recording.Picture, error) {
	ctx, cancel := context.WithTimeout(ctx, pictureLimit)
	defer cancel()
	before := tab.Head().Snapshot
	taken, ratio, err := capture.Scaled(ctx, tab, driver.ScreenshotOptions{Format: "jpeg", Quality: shotQuality})
	if err != nil {
		return nil, err
	}
	large, err := jpeg.Decode(bytes.NewReader(taken))
	if err != nil {
		return nil, err
	}
	small := shrink(large, pictureWidth)
	var out bytes.Buffer
	if err := jpeg.Encode(&out, small, &jpeg.Options{Quality: pictureQuality}); err != nil {
		return nil, err
	}
	size := small.Bounds().Size()
	return &recording.Picture{
		Format: "jpeg", Width: uint32(size.X), Height: uint32(size.Y), PageWidth: float64(large.Bounds().Dx()) / cmp.Or(ratio, 1), Data: out.Bytes(),
		Revision: before.Revision, Epoch: before.Epoch,
	}, nil
}

// shrink scales a picture down to at most width. Each pixel is the mean of the pixels that it replaces.
func shrink(from image.Image, width int) *image.RGBA {
	size := from.Bounds().Size()
	in := image.NewRGBA(image.Rect(0, 0, size.X, size.Y))
	draw.Draw(in, in.Bounds(), from, from.Bounds().Min, draw.Src)
	if size.X <= width || size.Y == 0 {
		return in
	}
	height := max(1, size.Y*width/size.X)
	out := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		top, bottom := y*size.Y/height, max((y+1)*size.Y/height, y*size.Y/height+1)
		for x := range width {
			left, right := x*size.X/width, max((x+1)*size.X/width, x*size.X/width+1)
			mean(out.Pix[out.PixOffset(x, y):], in, left, right, top, bottom)
		}
	}
	return out
}

// mean writes the mean of an area as one pixel.
func mean(to []byte, in *image.RGBA, left, right, top, bottom int) {
	var sum [4]int
	for y := top; y < bottom; y++ {
		row := in.Pix[in.PixOffset(left, y) : in.PixOffset(right-1, y)+4]
		for i := 0; i < len(row); i += 4 {
			sum[0] += int(row[i])
			sum[1] += int(row[i+1])
			sum[2] += int(row[i+2])
			sum[3] += int(row[i+3])
		}
	}
	n := (right - left) * (bottom - top)
	for i := range sum {
		to[i] = byte(sum[i] / n)
	}
}
