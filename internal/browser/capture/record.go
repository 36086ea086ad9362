package capture

import (
	"context"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/browser/redact"
)

const (
	// maxFrameHeight bounds the height of a frame, in pixels.
	maxFrameHeight = 2000
	// stopLimit bounds the call that ends a recording.
	stopLimit = 2 * time.Second
)

// Casts has the recording of a page, if there is one. The zero value has none.
type Casts struct {
	mu sync.Mutex
	// frames takes the newest frame of the recording; nil: nobody records.
	frames chan cdppage.EventScreencastFrame
}

// begin gives the frames to who records; nil when somebody does already.
func (c *Casts) begin() chan cdppage.EventScreencastFrame {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.frames != nil {
		return nil
	}
	c.frames = make(chan cdppage.EventScreencastFrame, 1)
	return c.frames
}

func (c *Casts) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.frames = nil
}

// Take takes in a frame. It does not wait: the browser sends the next one after this one is acknowledged.
func (c *Casts) Take(e cdppage.EventScreencastFrame) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.frames == nil {
		return
	}
	select {
	case c.frames <- e:
	default:
	}
}

// Record implements driver.Capturer. The browser sends a frame when the page has drawn one and the last one is acknowledged, which is
// done at the pace of the recording. So a page that rests costs nothing, and one that never rests costs its frames.
func (c *Capture) Record(ctx context.Context, r driver.Recording, frame func(driver.Frame) error) error {
	if err := c.recordable(); err != nil {
		return err
	}
	frames := c.Casts.begin()
	if frames == nil {
		return apierr.Exceeded("recordings", 1, "the tab is being recorded: wait until that ends")
	}
	defer c.Casts.end()
	c.front.BringToFront(ctx, c.m)
	one, yes := int64(1), true
	_, err := cdp.Call(ctx, c.m.Main, cdppage.StartScreencast, cdppage.StartScreencastParams{Format: cdppage.StartScreencastFormatPng,
		MaxWidth: int64(r.Width), MaxHeight: maxFrameHeight, EveryNthFrame: 1, MaxFramesInFlight: one, SendLastFrame: &yes})
	if err != nil {
		return c.m.Failed(err)
	}
	defer c.stopRecording(ctx)
	before, err := c.secrets(ctx)
	if err != nil {
		return err
	}
	return c.follow(ctx, frames, r.Interval, c.painted(before, frame))
}

// painted hands on frames that are painted over where secrets were when the last frame came, are now, and may have been in between.
// A frame of a page that does not answer is left out.
func (c *Capture) painted(before covers, frame func(driver.Frame) error) func(context.Context, driver.Frame) error {
	return func(ctx context.Context, f driver.Frame) error {
		after, err := c.secrets(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return nil
		}
		boxes := before.during(after)
		before = after
		if len(boxes) > 0 {
			if f.PNG, err = redact.Cover(f.PNG, after.view, boxes, redact.Show{Format: "png"}); err != nil {
				return nil // the viewport changes its size
			}
		}
		return frame(f)
	}
}

// recordable fails where frames must not be shown.
func (c *Capture) recordable() error {
	return c.Unmasked("a video cannot be painted over in time: take pictures, or use a session without --mask")
}

// follow hands on the frames until ctx ends.
func (c *Capture) follow(ctx context.Context, frames chan cdppage.EventScreencastFrame, interval time.Duration, frame func(context.Context, driver.Frame) error) error {
	start := time.Now()
	pace, front := time.NewTicker(interval), time.NewTicker(frontAgain)
	defer pace.Stop()
	defer front.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-c.m.Life.Done():
			return c.m.Gone()
		case <-front.C: // an action on another tab may have taken its place
			c.front.BringToFront(ctx, c.m)
			continue
		case e := <-frames:
			if err := c.recordable(); err != nil { // since it began
				return err
			}
			if err := frame(ctx, driver.Frame{PNG: e.Data, At: time.Since(start)}); err != nil {
				return err
			}
			select {
			case <-pace.C:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			c.m.Main.Post(ctx, cdppage.CommandScreencastFrameAck, cdppage.ScreencastFrameAckParams{SessionID: e.SessionID})
		}
	}
}

// stopRecording ends a recording also when the caller has gone.
func (c *Capture) stopRecording(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
	defer cancel()
	if _, err := cdp.Call(ctx, c.m.Main, cdppage.StopScreencast, cdp.Empty{}); err != nil {
		c.m.Logger.Debug("a recording was not stopped", "error", err)
	}
}
