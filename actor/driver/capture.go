package driver

import (
	"time"

	"github.com/domtap/domtap/dom"
)

// ScreenshotOptions configures a screenshot.
type ScreenshotOptions struct {
	// Format is "png", "jpeg" or "webp".
	Format string
	// Quality is 1 to 100, for jpeg and webp.
	Quality  int
	FullPage bool
	// Clip, if its width is positive, is the part to capture, in viewport coordinates.
	Clip dom.Box
}

// PrintOptions configures printing.
type PrintOptions struct {
	// Width and Height are in inches.
	Width, Height       float64
	Landscape, Graphics bool
	Scale               float64
	// Ranges selects pages, for example "1-5, 8". If empty, all pages are printed.
	Ranges string
	// Limit is the maximum size of the PDF in bytes.
	Limit int
}

// Recording configures a recording of a page.
type Recording struct {
	// Interval is the minimum time between two frames.
	Interval time.Duration
	// Width is the width that frames are scaled down to, in pixels.
	Width int
}

// Frame is one picture of a recording.
type Frame struct {
	PNG []byte
	// At is the time of the frame since the start of the recording.
	At time.Duration
}
