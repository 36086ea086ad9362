// Package messages converts domtap's values to messages of the API, and enums of the API to domtap's. It has no state and does not fail.
//
// The messages share memory with each other and with the converted values. Callers must not modify them.
package messages

import (
	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/actor/turn"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Tab converts the state of a tab.
func Tab(i actor.Info) *domtapv1.Tab {
	return &domtapv1.Tab{
		Id:          i.ID,
		SessionId:   i.Session,
		Url:         i.URL,
		Title:       i.Title,
		Status:      Status(i.Status),
		Revision:    i.Revision,
		Epoch:       i.Epoch,
		OpenerTabId: i.Opener,
		HttpStatus:  int32(i.HTTPStatus),
		Dialog:      Dialog(i.Dialog),
		Restore:     i.Restore,
		NotRestored: i.Why,
		Frozen:      i.Frozen,
		TakenOver:   i.TakenOver,
	}
}

// OtherTabs converts the pages of the browser that are not tabs.
func OtherTabs(others []driver.OtherPage) []*domtapv1.OtherTab {
	all := make([]*domtapv1.OtherTab, len(others))
	for i, o := range others {
		all[i] = &domtapv1.OtherTab{Id: o.ID, Url: o.URL, Title: o.Title}
	}
	return all
}

var statuses = map[actor.Status]domtapv1.TabStatus{
	actor.StatusLoading:      domtapv1.TabStatus_TAB_STATUS_LOADING,
	actor.StatusReady:        domtapv1.TabStatus_TAB_STATUS_READY,
	actor.StatusCrashed:      domtapv1.TabStatus_TAB_STATUS_CRASHED,
	actor.StatusUnresponsive: domtapv1.TabStatus_TAB_STATUS_UNRESPONSIVE,
	actor.StatusClosed:       domtapv1.TabStatus_TAB_STATUS_CLOSED,
	actor.StatusRestoring:    domtapv1.TabStatus_TAB_STATUS_RESTORING,
}

// Status converts a tab's status.
func Status(s actor.Status) domtapv1.TabStatus { return statuses[s] }

var dialogTypes = map[string]domtapv1.DialogType{
	"alert":        domtapv1.DialogType_DIALOG_TYPE_ALERT,
	"confirm":      domtapv1.DialogType_DIALOG_TYPE_CONFIRM,
	"prompt":       domtapv1.DialogType_DIALOG_TYPE_PROMPT,
	"beforeunload": domtapv1.DialogType_DIALOG_TYPE_BEFOREUNLOAD,
}

// Dialog converts a dialog. It returns nil for nil.
func Dialog(d *driver.Dialog) *domtapv1.Dialog {
	if d == nil {
		return nil
	}
	answer := domtapv1.DialogAnswer_DIALOG_ANSWER_UNSPECIFIED
	switch d.Answer {
	case driver.Accepted:
		answer = domtapv1.DialogAnswer_DIALOG_ANSWER_ACCEPTED
	case driver.Dismissed:
		answer = domtapv1.DialogAnswer_DIALOG_ANSWER_DISMISSED
	}
	return &domtapv1.Dialog{Type: dialogTypes[d.Type], Message: d.Message, DefaultPrompt: d.Default, Id: d.ID, Answer: answer}
}

// History converts the pages that a tab has shown, oldest first.
func History(entries []actor.HistoryEntry) []*domtapv1.HistoryEntry {
	out := make([]*domtapv1.HistoryEntry, len(entries))
	for i, e := range entries {
		out[i] = &domtapv1.HistoryEntry{Url: e.URL, Title: e.Title}
	}
	return out
}

var deliveries = map[driver.Delivered]domtapv1.Delivered{
	driver.DeliveredAll:  domtapv1.Delivered_DELIVERED_ALL,
	driver.DeliveredPart: domtapv1.Delivered_DELIVERED_PART,
	driver.DeliveredNone: domtapv1.Delivered_DELIVERED_NONE,
}

// Delivered converts how much of an action the element received.
func Delivered(d driver.Delivered) domtapv1.Delivered { return deliveries[d] }

var verdicts = map[turn.Verdict]domtapv1.Verdict{
	turn.NoChange:    domtapv1.Verdict_VERDICT_NO_CHANGE,
	turn.Changed:     domtapv1.Verdict_VERDICT_CHANGED,
	turn.Navigated:   domtapv1.Verdict_VERDICT_NAVIGATED,
	turn.DialogShown: domtapv1.Verdict_VERDICT_DIALOG,
	turn.NewTab:      domtapv1.Verdict_VERDICT_NEW_TAB,
}

// Verdict converts the verdict of an action.
func Verdict(v turn.Verdict) domtapv1.Verdict { return verdicts[v] }

// Downloads converts the downloads of a session.
func Downloads(records []tabpool.DownloadRecord) []*domtapv1.Download {
	states := [...]domtapv1.DownloadState{
		driver.Fetching:   domtapv1.DownloadState_DOWNLOAD_STATE_IN_PROGRESS,
		driver.Fetched:    domtapv1.DownloadState_DOWNLOAD_STATE_COMPLETED,
		driver.NotFetched: domtapv1.DownloadState_DOWNLOAD_STATE_CANCELED,
	}
	out := make([]*domtapv1.Download, len(records))
	for i, r := range records {
		out[i] = &domtapv1.Download{
			Guid: r.GUID, TabId: r.Tab, Url: r.URL, SuggestedFilename: r.Filename, State: states[r.State],
			ReceivedBytes: r.Received, TotalBytes: r.Total, Path: r.Path, Reason: r.Reason, MediaType: r.Type,
		}
	}
	return out
}
