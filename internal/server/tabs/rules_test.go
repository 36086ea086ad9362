package tabs

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rules/rulestest"
)

func TestGoodRequestsPass(t *testing.T) {
	rulestest.Pass(t, Rules,
		&domtapv1.OpenTabRequest{},
		&domtapv1.OpenTabRequest{Url: "about:blank", Viewport: &domtapv1.Viewport{Width: 1, Height: 10_000}, Timeout: rulestest.Seconds(300)},
		&domtapv1.NavigateRequest{TabId: "t1", Url: "https://example.com/", Timeout: durationpb.New(time.Nanosecond)},
	)
}

func TestBadFieldsAreNamed(t *testing.T) {
	for _, c := range []struct {
		request proto.Message
		want    string
	}{
		{&domtapv1.OpenTabRequest{Url: "example.com"}, "url"},
		{&domtapv1.OpenTabRequest{Viewport: &domtapv1.Viewport{Width: 0, Height: 10_001}}, "viewport.width viewport.height"},
		{&domtapv1.OpenTabRequest{WaitUntil: 99}, "wait_until"},
		{&domtapv1.NavigateRequest{TabId: "t1"}, "url"},
		{&domtapv1.NavigateRequest{TabId: "t1", Url: "https://example.com/", Timeout: rulestest.Seconds(0)}, "timeout"},
		{&domtapv1.NavigateRequest{TabId: "t1", Url: "https://example.com/", Timeout: rulestest.Seconds(301)}, "timeout"},
		{&domtapv1.ReloadRequest{TabId: "t1", Timeout: &durationpb.Duration{Seconds: 1, Nanos: -1}}, "timeout"},
		{&domtapv1.GoBackRequest{}, "tab_id"},
		{&domtapv1.GoForwardRequest{WaitUntil: -1}, "tab_id wait_until"},
		{&domtapv1.GetTabRequest{}, "tab_id"},
		{&domtapv1.CloseTabRequest{}, "tab_id"},
		{&domtapv1.ListTabsRequest{SessionId: strings.Repeat("x", 201)}, "session_id"},
		{&domtapv1.WatchTabsRequest{SessionId: strings.Repeat("x", 201)}, "session_id"},
	} {
		rulestest.Refuse(t, Rules, c.request, c.want)
	}
}
