package tabs

import (
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/driver"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/messages"
)

// waitOf converts the phase at which a navigation is done. The default is load.
func waitOf(w domtapv1.WaitUntil) actor.Wait {
	switch w {
	case domtapv1.WaitUntil_WAIT_UNTIL_COMMIT:
		return actor.WaitCommit
	case domtapv1.WaitUntil_WAIT_UNTIL_DOM_CONTENT_LOADED:
		return actor.WaitDOMContentLoaded
	case domtapv1.WaitUntil_WAIT_UNTIL_NETWORK_IDLE:
		return actor.WaitNetworkIdle
	}
	return actor.WaitLoad
}

// eventMessage converts an event of a tab.
func eventMessage(e actor.TabEvent) *domtapv1.WatchTabsResponse {
	m := &domtapv1.WatchTabsResponse{Tab: messages.Tab(e.Info), ObservedAt: timestamppb.New(e.At)}
	switch e.Kind {
	case actor.TabOpened:
		m.Event = &domtapv1.WatchTabsResponse_Opened{Opened: new(domtapv1.TabOpened)}
	case actor.TabClosed:
		m.Event = &domtapv1.WatchTabsResponse_Closed{Closed: &domtapv1.TabClosed{Reason: e.Reason}}
	case actor.TabNavigated:
		m.Event = &domtapv1.WatchTabsResponse_Navigated{Navigated: &domtapv1.TabNavigated{SameDocument: e.Same}}
	case actor.TabCrashed:
		m.Event = &domtapv1.WatchTabsResponse_Crashed{Crashed: &domtapv1.TabCrashed{Reason: e.Reason}}
	case actor.TabRestoring:
		m.Event = &domtapv1.WatchTabsResponse_Restoring{Restoring: &domtapv1.TabRestoring{Reason: e.Reason}}
	case actor.TabRestored:
		m.Event = &domtapv1.WatchTabsResponse_Restored{Restored: new(domtapv1.TabRestored)}
	case actor.TabDialog:
		m.Event = &domtapv1.WatchTabsResponse_Dialog{Dialog: &domtapv1.TabDialog{Dialog: messages.Dialog(e.Dialog)}}
	case actor.TabDownloaded:
		m.Event = &domtapv1.WatchTabsResponse_Download{Download: download(e.Download)}
	}
	return m
}

func download(d driver.Download) *domtapv1.TabDownload {
	return &domtapv1.TabDownload{
		Guid: d.GUID, Url: d.URL, SuggestedFilename: d.Filename,
		State: d.State.String(), ReceivedBytes: d.Received, TotalBytes: d.Total, Path: d.Path, Reason: d.Reason,
	}
}
