package tabs

import (
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/driver"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

func TestTabEvent(t *testing.T) {
	at := time.Unix(1, 2)
	base := func() *domtapv1.WatchTabsResponse {
		return &domtapv1.WatchTabsResponse{
			Tab:        &domtapv1.Tab{Id: "t1", Status: domtapv1.TabStatus_TAB_STATUS_LOADING},
			ObservedAt: timestamppb.New(at),
		}
	}
	opened, closed, navigated, crashed, dialog, download := base(), base(), base(), base(), base(), base()
	opened.Event = &domtapv1.WatchTabsResponse_Opened{Opened: &domtapv1.TabOpened{}}
	closed.Event = &domtapv1.WatchTabsResponse_Closed{Closed: &domtapv1.TabClosed{Reason: "oom"}}
	navigated.Event = &domtapv1.WatchTabsResponse_Navigated{Navigated: &domtapv1.TabNavigated{SameDocument: true}}
	crashed.Event = &domtapv1.WatchTabsResponse_Crashed{Crashed: &domtapv1.TabCrashed{Reason: "oom"}}
	dialog.Event = &domtapv1.WatchTabsResponse_Dialog{Dialog: &domtapv1.TabDialog{}}
	download.Event = &domtapv1.WatchTabsResponse_Download{Download: &domtapv1.TabDownload{
		Guid: "g", Url: "u", SuggestedFilename: "f", State: "completed", ReceivedBytes: 1, TotalBytes: 2,
	}}
	for kind, want := range map[actor.TabEventKind]*domtapv1.WatchTabsResponse{
		actor.TabOpened: opened, actor.TabClosed: closed, actor.TabNavigated: navigated,
		actor.TabCrashed: crashed, actor.TabDialog: dialog, actor.TabDownloaded: download,
	} {
		got := eventMessage(actor.TabEvent{
			Kind: kind, Info: actor.Info{ID: "t1"}, At: at, Same: true, Reason: "oom",
			Download: driver.Download{GUID: "g", URL: "u", Filename: "f", State: driver.Fetched, Received: 1, Total: 2},
		})
		if !proto.Equal(got, want) {
			t.Errorf("event:\n got %v\nwant %v", got, want)
		}
	}
}

// Every value of one side maps to a different value of the other.
func TestEnumsAreKeptApart(t *testing.T) {
	waits := map[actor.Wait]bool{}
	for w := range domtapv1.WaitUntil_name {
		waits[waitOf(domtapv1.WaitUntil(w))] = true
	}
	if len(waits) != 4 {
		t.Errorf("waits %v", waits)
	}
	if waitOf(domtapv1.WaitUntil_WAIT_UNTIL_UNSPECIFIED) != actor.WaitLoad {
		t.Error("unset is not load")
	}
}
