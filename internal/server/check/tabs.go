package check

import (
	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

func checkOpenTab(v *violations, r *domtapv1.OpenTabRequest) {
	if r.GetUrl() != "" {
		checkURL(v, r.GetUrl())
	}
	checkSessionID(v, r.GetSessionId())
	checkViewport(v, "viewport", r.GetViewport())
	checkLoad(v, r)
}

func checkNavigate(v *violations, r *domtapv1.NavigateRequest) {
	checkTabID(v, r.GetTabId())
	if v.want(r.GetUrl() != "", "url", "is required") {
		checkURL(v, r.GetUrl())
	}
	checkLoad(v, r)
}

// loading is implemented by all requests that load a document.
type loading interface {
	GetWaitUntil() domtapv1.WaitUntil
	GetTimeout() *durationpb.Duration
}

func checkLoad(v *violations, r loading) {
	_, known := domtapv1.WaitUntil_name[int32(r.GetWaitUntil())]
	v.want(known, "wait_until", "must be COMMIT, DOM_CONTENT_LOADED, LOAD or NETWORK_IDLE")
	checkTimeout(v, "timeout", r.GetTimeout())
}

// checkTabLoad checks a request that loads a document and has no other fields than the tab.
func checkTabLoad[M interface {
	loading
	GetTabId() string
}](v *violations, r M) {
	checkTabID(v, r.GetTabId())
	checkLoad(v, r)
}

// checkTab checks a request that names a tab.
func checkTab[M interface{ GetTabId() string }](v *violations, r M) { checkTabID(v, r.GetTabId()) }

func checkAnswerDialog(v *violations, r *domtapv1.AnswerDialogRequest) {
	checkTabID(v, r.GetTabId())
	checkPromptText(v, "prompt_text", r.PromptText, r.GetAccept())
}

// checkPromptText checks the text for a prompt, which is nil if the prompt keeps its default.
func checkPromptText(v *violations, field string, text *string, accept bool) {
	if text == nil {
		return
	}
	checkText(v, field, *text)
	v.want(accept, field, "must not be set when the dialog is dismissed: set accept too")
}
