package tabs

import (
	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rules"
)

// Rules are the rules of the requests of TabService.
var Rules = rules.Union(
	rules.Of(checkOpenTab),
	rules.Of(rules.At(rules.Tab[*domtapv1.GetTabRequest])),
	rules.Of(rules.At(rules.Session[*domtapv1.ListTabsRequest])),
	rules.Of(rules.Session[*domtapv1.WatchTabsRequest]),
	rules.Of(rules.Tab[*domtapv1.CloseTabRequest]),
	rules.Of(rules.Tab[*domtapv1.SetRestoreRequest]),
	rules.Of(checkNavigate),
	rules.Of(checkTabLoad[*domtapv1.GoBackRequest]),
	rules.Of(checkTabLoad[*domtapv1.GoForwardRequest]),
	rules.Of(checkTabLoad[*domtapv1.ReloadRequest]),
	rules.Of(checkAnswerDialog),
)

func checkOpenTab(v *rules.Violations, r *domtapv1.OpenTabRequest) {
	if r.GetUrl() != "" {
		v.URL(r.GetUrl())
	}
	v.SessionID(r.GetSessionId())
	v.Viewport("viewport", r.GetViewport())
	checkLoad(v, r)
	if r.GetTakeOver() != "" {
		v.Text("take_over", r.GetTakeOver())
		const why = "must be unset, because a tab that is taken over stays as it is"
		v.Want(r.GetUrl() == "", "url", why)
		v.Want(r.GetViewport() == nil, "viewport", why)
		v.Want(!r.GetRestore(), "restore", why)
	}
}

func checkNavigate(v *rules.Violations, r *domtapv1.NavigateRequest) {
	v.TabID(r.GetTabId())
	if v.Want(r.GetUrl() != "", "url", "is required") {
		v.URL(r.GetUrl())
	}
	checkLoad(v, r)
}

// loading is implemented by all requests that load a document.
type loading interface {
	GetWaitUntil() domtapv1.WaitUntil
	GetTimeout() *durationpb.Duration
}

func checkLoad(v *rules.Violations, r loading) {
	rules.Known(v, "wait_until", r.GetWaitUntil(), "must be COMMIT, DOM_CONTENT_LOADED, LOAD or NETWORK_IDLE")
	v.Timeout("timeout", r.GetTimeout())
}

// checkTabLoad checks a request that loads a document and has no other fields than the tab.
func checkTabLoad[M interface {
	loading
	GetTabId() string
}](v *rules.Violations, r M) {
	v.TabID(r.GetTabId())
	checkLoad(v, r)
}

func checkAnswerDialog(v *rules.Violations, r *domtapv1.AnswerDialogRequest) {
	v.TabID(r.GetTabId())
	v.PromptText("prompt_text", r.PromptText, r.GetAccept())
}
