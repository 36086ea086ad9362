package readcmd

import (
	"testing"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Every selection flag must be set in the requests of dom, compact and watch, although only one of them is filled in by hand.
func TestSelectionIsTheSameInEveryRequest(t *testing.T) {
	from := &domtapv1.GetDomRequest{
		TabId: "t", ViewportOnly: true, MaxElements: proto.Int32(1), MaxTokens: proto.Int32(2), InteractiveOnly: proto.Bool(false),
		FullSnapshot: true, RootRef: proto.Uint32(3), FrameId: "f", IncludeAttributes: []string{"id"},
	}
	compact, err := selectAs(from, &domtapv1.GetCompactRequest{})
	wantCompact := &domtapv1.GetCompactRequest{
		TabId: "t", ViewportOnly: true, MaxElements: proto.Int32(1), MaxTokens: proto.Int32(2), InteractiveOnly: proto.Bool(false),
		FullSnapshot: true, RootRef: proto.Uint32(3), FrameId: "f", IncludeAttributes: []string{"id"},
	}
	if err != nil || !proto.Equal(compact, wantCompact) {
		t.Errorf("compact: %v, %v", compact, err)
	}
	watch, err := selectAs(from, &domtapv1.WatchDomRequest{})
	wantWatch := &domtapv1.WatchDomRequest{
		TabId: "t", ViewportOnly: true, MaxElements: proto.Int32(1), MaxTokens: proto.Int32(2), InteractiveOnly: proto.Bool(false),
		FullSnapshot: true, RootRef: proto.Uint32(3), FrameId: "f", IncludeAttributes: []string{"id"},
	}
	if err != nil || !proto.Equal(watch, wantWatch) {
		t.Errorf("watch: %v, %v", watch, err)
	}
}

func TestAContextOfNeighbouringMatchesIsPrintedOnce(t *testing.T) {
	const text = "URL: x\n[1] Edit (button) ‹Ada›\n[2] Delete (button) ‹Ada›\n[3] Edit (button) ‹Bo›\n[4] Save (button)\n[5] Delete (button) ‹Bo›\n"
	const want = "URL: x\n[1] Edit (button) ‹Ada›\n[2] Delete (button) ‹›\n[3] Edit (button) ‹Bo›\n[4] Save (button)\n[5] Delete (button) ‹Bo›\n"
	if got := withDittos(text); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
