package pages

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor/driver"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

func TestShotOf(t *testing.T) {
	shot, _ := shotOf(&domtapv1.ScreenshotRequest{Format: domtapv1.ImageFormat_IMAGE_FORMAT_JPEG, FullPage: true})
	if want := (driver.ScreenshotOptions{Format: "jpeg", Quality: 80, FullPage: true}); shot != want {
		t.Errorf("got %+v, want %+v", shot, want)
	}
	if shot, _ := shotOf(&domtapv1.ScreenshotRequest{}); shot != (driver.ScreenshotOptions{Format: "png"}) {
		t.Errorf("got %+v, want a png without quality", shot)
	}
	shot, _ = shotOf(&domtapv1.ScreenshotRequest{Format: domtapv1.ImageFormat_IMAGE_FORMAT_WEBP, Quality: proto.Int32(5)})
	if want := (driver.ScreenshotOptions{Format: "webp", Quality: 5}); shot != want {
		t.Errorf("got %+v, want %+v", shot, want)
	}
}
