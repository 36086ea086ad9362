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
	// maxFrameHeight limits the height of a frame, in pixels.
	maxFrameHeight = 2000
	// stopLimit bounds the call that ends a recording.
	stopLimit = 2 * time.Second
)

// Screencast holds the recording of a page. The zero value has no recording.
type Screencast struct {
	mu sync.Mutex
	// frames receives the newest frame of the recording. It is nil if there is none.
	frames chan cdppage.EventScreencastFrame
}

// begin starts a recording and returns its frames. It returns nil if there already is a recording.
func (c *Screencast) begin() chan cdppage.EventScreencastFrame {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.frames != nil {
		return nil
	}
	c.frames = make(chan cdppage.EventScreencastFrame, 1)
	return c.frames
}

func (c *Screencast) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.frames = nil
}

// Take handles a frame. It does not wait: the browser sends the next frame only after this one is acknowledged.
func (c *Screencast) Take(e cdppage.EventScreencastFrame) {
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

// Record implements driver.Capturer. The browser sends a frame when the page has drawn one and the previous frame is acknowledged.
// Acknowledgments follow the interval of the recording. So a static page costs nothing, and an animated page costs at most one frame per
// interval.
func (c *Capture) Record(ctx context.Context, r driver.Recording, frame func(driver.Frame) error) error {
	if err := c.recordable(); err != nil {
		return err
	}
	frames := c.Casts.begin()
	if frames == nil {
		return apierr.Exceeded("recordings", 1, "a video of the tab is already being recorded: wait until it ends")
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

// painted passes on frames with secrets painted over: at their positions during the previous frame, now, and in between. It drops a frame
// if the page does not respond.
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
			if f.PNG, err = redact.Cover(f.PNG, after.view, boxes, redact.Output{Format: "png"}); err != nil {
				return nil // the size of the viewport is changing
			}
		}
		return frame(f)
	}
}

// recordable returns an error if frames must not be shown.
func (c *Capture) recordable() error {
	return c.Unmasked("masks cannot be drawn on a video: take screenshots, or use a session without --mask")
}

// follow passes on the frames until ctx ends.
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
		case <-front.C: // an action on another tab may have brought that tab to the front
			c.front.BringToFront(ctx, c.m)
			continue
		case e := <-frames:
			if err := c.recordable(); err != nil { // the masks may have changed
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

// stopRecording ends a recording, even if ctx has ended.
func (c *Capture) stopRecording(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
	defer cancel()
	if _, err := cdp.Call(ctx, c.m.Main, cdppage.StopScreencast, cdp.Empty{}); err != nil {
		c.m.Logger.Debug("a recording was not stopped", "error", err)
	}
}
