package pages

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rules/rulestest"
)

func TestGoodRequestsPass(t *testing.T) {
	rulestest.Pass(t, Rules,
		&domtapv1.ScreenshotRequest{TabId: "t1", Format: domtapv1.ImageFormat_IMAGE_FORMAT_JPEG, Quality: proto.Int32(100)},
		&domtapv1.ScreenshotRequest{TabId: "t1", Marks: true, Ref: proto.Uint32(0)},
		&domtapv1.ReadPageRequest{TabId: "t1"},
		&domtapv1.ReadPageRequest{TabId: "t1", Mode: domtapv1.ReadMode_READ_MODE_VISUAL, MaxTokens: proto.Int32(0)},
		&domtapv1.ReadPageRequest{TabId: "t1", Mode: domtapv1.ReadMode_READ_MODE_CONTENT, MaxTokens: proto.Int32(200), Cursor: "r000000001.2.3"},
		&domtapv1.ReadPageRequest{TabId: "t1", Mode: domtapv1.ReadMode_READ_MODE_AUTO, MaxTokens: proto.Int32(50_000), Cursor: "c000000001"},
	)
}

func TestBadFieldsAreNamed(t *testing.T) {
	for _, c := range []struct {
		request proto.Message
		want    string
	}{
		{&domtapv1.ReadPageRequest{}, "tab_id"},
		{&domtapv1.ReadPageRequest{TabId: "t1", Mode: 9}, "mode"},
		{&domtapv1.ReadPageRequest{TabId: "t1", MaxTokens: proto.Int32(199)}, "max_tokens"},
		{&domtapv1.ReadPageRequest{TabId: "t1", MaxTokens: proto.Int32(50_001)}, "max_tokens"},
		{&domtapv1.ReadPageRequest{TabId: "t1", MaxTokens: proto.Int32(-1)}, "max_tokens"},
		{&domtapv1.ReadPageRequest{TabId: "t1", Cursor: strings.Repeat("1", 41)}, "cursor"},
		{&domtapv1.ReadPageRequest{TabId: "t1", Cursor: "r1.2", Mode: domtapv1.ReadMode_READ_MODE_VISUAL}, "mode"},
		{&domtapv1.ReadPageRequest{TabId: "t1", Cursor: "c1", Mode: domtapv1.ReadMode_READ_MODE_CONTENT}, "mode"},
		{&domtapv1.ScreenshotRequest{TabId: "t1", Marks: true, Format: domtapv1.ImageFormat_IMAGE_FORMAT_WEBP}, "marks"},
		{&domtapv1.ScreenshotRequest{TabId: "t1", Quality: proto.Int32(80)}, "quality"},
		{&domtapv1.ScreenshotRequest{TabId: "t1", Format: domtapv1.ImageFormat_IMAGE_FORMAT_WEBP, Quality: proto.Int32(101)}, "quality"},
		{&domtapv1.ScreenshotRequest{TabId: "t1", Format: 9}, "format"},
		{&domtapv1.ScreenshotRequest{TabId: "t1", FullPage: true, Ref: proto.Uint32(1)}, "full_page"},
	} {
		rulestest.Refuse(t, Rules, c.request, c.want)
	}
}
