package driver

import (
	"time"

	"github.com/domtap/domtap/dom"
)

// Shot says what picture to take.
type Shot struct {
	// Format is "png", "jpeg" or "webp".
	Format string
	// Quality is 1 to 100, for jpeg and webp.
	Quality  int
	FullPage bool
	// Clip, when its width is positive, is the part to show, in viewport coordinates.
	Clip dom.Box
}

// PrintOptions says how to print.
type PrintOptions struct {
	// Width and Height are in inches.
	Width, Height       float64
	Landscape, Graphics bool
	Scale               float64
	// Ranges is such as "1-5, 8"; empty: all pages.
	Ranges string
	// Limit is how long the PDF may be, in bytes.
	Limit int
}

// Recording says how to record a page.
type Recording struct {
	// Interval is the least time between two frames.
	Interval time.Duration
	// Width is what frames are scaled down to, in pixels.
	Width int
}

// Frame is one picture of a recording.
type Frame struct {
	PNG []byte
	// At is when it was drawn, from the beginning of the recording on.
	At time.Duration
}
