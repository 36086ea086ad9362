package requests

import (
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/target"

	"github.com/domtap/domtap/internal/browser/devtools"
)

// maxRecords limits how many request records a renderer accumulates before it is made to forget them (ADR 86).
const maxRecords = 2000

// Enable returns the command that makes a target report its requests (ADR 13) and keep the newest bodies (ADR 60).
func Enable() devtools.Step {
	none, most, each := int64(0), int64(BodiesBuffer), int64(MaxBody)
	return devtools.Step{Method: network.CommandEnable, Params: network.EnableParams{
		MaxTotalBufferSize: &most, MaxResourceBufferSize: &each, MaxPostDataSize: &none}}
}

// records counts, by session, the requests since the renderer last had no records. A renderer also forgets its records when its page
// navigates.
type records map[target.SessionID]int

// full counts a request and reports whether the renderer has reached the limit.
func (r records) full(session target.SessionID) bool {
	r[session]++
	return r[session] >= maxRecords
}

// renewIfDue counts a new request, and makes the renderer forget its records if it has too many. It waits while requests are counted,
// because the end of a request could be missed, and an action could be answered before its effect.
func (r *Requests) renewIfDue(session devtools.Session) {
	r.renewing.Lock()
	defer r.renewing.Unlock()
	r.m.Lock()
	due := r.records.full(session.ID) && !r.State.Counted()
	if due {
		delete(r.records, session.ID)
	}
	r.m.Unlock()
	if due && len(r.overrides()) == 0 {
		r.renew(session)
	}
}

// renew makes the renderer of a session forget its records, which requires disabling the network domain.
func (r *Requests) renew(session devtools.Session) {
	session.PostAll(r.m.Life, devtools.Step{Method: network.CommandDisable}, Enable())
	session.PostAll(r.m.Life, r.overrides()...) // the overrides may have been set in between
}
