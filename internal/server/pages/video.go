package pages

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image/png"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/actor"
	tabcapture "github.com/domtap/domtap/actor/capture"
	"github.com/domtap/domtap/actor/driver"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/content/animation"
	"github.com/domtap/domtap/internal/server/rpc/streaming"
)

// The defaults of RecordVideo.
const (
	defaultVideo      = 10 * time.Second
	defaultRate       = 5
	defaultVideoWidth = 800
	defaultVideoBytes = 8 << 20
)

// RecordVideo records the page as an animated GIF.
func (s *Service) RecordVideo(r *domtapv1.RecordVideoRequest, stream grpc.ServerStreamingServer[domtapv1.RecordVideoResponse]) error {
	tab, err := s.Access.Tab(stream.Context(), r.GetTabId())
	if err != nil {
		return err
	}
	v := newVideo(s.Streams.Sender(stream), r)
	return v.out.Run(func() error { return v.record(stream.Context(), tab) })
}

// video is one recording by RecordVideo.
type video struct {
	out      *streaming.Sender
	how      driver.Recording
	duration time.Duration
	most     int

	encoder *animation.Encoder
	size    int
	full    bool
}

func newVideo(out *streaming.Sender, r *domtapv1.RecordVideoRequest) *video {
	v := &video{out: out, how: driver.Recording{Interval: time.Second / defaultRate, Width: defaultVideoWidth}, duration: defaultVideo, most: defaultVideoBytes}
	if r.GetDuration() != nil {
		v.duration = r.GetDuration().AsDuration()
	}
	if r.Fps != nil {
		v.how.Interval = time.Second / time.Duration(r.GetFps())
	}
	if r.MaxWidth != nil {
		v.how.Width = int(r.GetMaxWidth())
	}
	if r.MaxBytes != nil {
		v.most = int(r.GetMaxBytes())
	}
	return v
}

// errFull stops a recording whose file has reached its maximum size.
var errFull = errors.New("the file has reached its maximum size")

// record sends frames until the duration has passed, and then the end of the file.
func (v *video) record(ctx context.Context, tab *actor.Tab) error {
	began := time.Now()
	timed, cancel := context.WithTimeout(ctx, v.duration)
	defer cancel()
	err := tabcapture.Record(timed, tab, v.how, v.add)
	over := timed.Err() != nil && ctx.Err() == nil
	if v.full = errors.Is(err, errFull); err != nil && !v.full && !over {
		return err
	}
	if v.encoder == nil {
		if err := v.still(ctx, tab); err != nil {
			return err
		}
	}
	at := time.Since(began)
	rest, err := v.encoder.End(hundredths(at))
	if err != nil {
		return err
	}
	return v.send(rest, at, true)
}

// add encodes a frame and sends the encoded data.
func (v *video) add(f driver.Frame) error {
	picture, err := png.Decode(bytes.NewReader(f.PNG))
	if err != nil {
		return fmt.Errorf("decode a frame from the browser: %w", err)
	}
	var more []byte
	if v.encoder == nil {
		v.encoder, more, err = animation.New(picture)
	} else {
		more, err = v.encoder.Add(picture, hundredths(f.At))
	}
	if err != nil || len(more) == 0 {
		return err
	}
	if err := v.send(more, f.At, false); err != nil {
		return err
	}
	if v.size >= v.most {
		return errFull
	}
	return nil
}

// still adds a screenshot as the only frame of a page that drew none.
func (v *video) still(ctx context.Context, tab *actor.Tab) error {
	picture, err := tabcapture.Screenshot(ctx, tab, driver.ScreenshotOptions{Format: "png"})
	if err != nil {
		return err
	}
	return v.add(driver.Frame{PNG: picture})
}

func (v *video) send(part []byte, at time.Duration, last bool) error {
	v.size += len(part)
	return v.out.Send(&domtapv1.RecordVideoResponse{Gif: part, At: durationpb.New(at), Frames: int32(v.encoder.Frames()), Last: last, Truncated: last && v.full})
}

func hundredths(d time.Duration) int { return int(d / (10 * time.Millisecond)) }
