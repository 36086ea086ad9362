package check

import (
	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

func checkOpenTab(v *violations, r *domtapv1.OpenTabRequest) {
	if r.GetUrl() != "" {
		checkURL(v, "url", r.GetUrl())
	}
	checkSessionID(v, r.GetSessionId())
	checkViewport(v, "viewport", r.GetViewport())
	checkLoad(v, r)
}

func checkNavigate(v *violations, r *domtapv1.NavigateRequest) {
	checkTabID(v, r.GetTabId())
	if v.want(r.GetUrl() != "", "url", "is required") {
		checkURL(v, "url", r.GetUrl())
	}
	checkLoad(v, r)
}

func checkGoBack(v *violations, r *domtapv1.GoBackRequest) {
	checkTabID(v, r.GetTabId())
	checkLoad(v, r)
}

func checkGoForward(v *violations, r *domtapv1.GoForwardRequest) {
	checkTabID(v, r.GetTabId())
	checkLoad(v, r)
}

func checkReload(v *violations, r *domtapv1.ReloadRequest) {
	checkTabID(v, r.GetTabId())
	checkLoad(v, r)
}

// checkLoad checks what all requests that load a document have in common.
func checkLoad(v *violations, r interface {
	GetWaitUntil() domtapv1.WaitUntil
	GetTimeout() *durationpb.Duration
}) {
	_, known := domtapv1.WaitUntil_name[int32(r.GetWaitUntil())]
	v.want(known, "wait_until", "must be COMMIT, DOM_CONTENT_LOADED, LOAD or NETWORK_IDLE")
	checkTimeout(v, "timeout", r.GetTimeout())
}

func checkGetTab(v *violations, r *domtapv1.GetTabRequest) { checkTabID(v, r.GetTabId()) }

func checkCloseTab(v *violations, r *domtapv1.CloseTabRequest) { checkTabID(v, r.GetTabId()) }

func checkSetRestore(v *violations, r *domtapv1.SetRestoreRequest) { checkTabID(v, r.GetTabId()) }

func checkListTabs(v *violations, r *domtapv1.ListTabsRequest) { checkSessionID(v, r.GetSessionId()) }

func checkWatchTabs(v *violations, r *domtapv1.WatchTabsRequest) { checkSessionID(v, r.GetSessionId()) }

func checkAnswerDialog(v *violations, r *domtapv1.AnswerDialogRequest) {
	checkTabID(v, r.GetTabId())
	checkText(v, "prompt_text", r.GetPromptText())
	v.want(r.PromptText == nil || r.GetAccept(), "prompt_text", "must not be set when the dialog is dismissed: set accept too")
}
