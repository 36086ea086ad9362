package requests

import (
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/target"

	"github.com/domtap/domtap/internal/browser/devtools"
)

// maxRecords is how many requests a renderer has records of until it is made to forget them (ADR 86).
const maxRecords = 2000

// Enable is the command that has a target report its requests (ADR 13) and keep the newest bodies (ADR 60).
func Enable() devtools.Step {
	none, most, each := int64(0), int64(BodiesBuffer), int64(MaxBody)
	return devtools.Step{Method: network.CommandEnable, Params: network.EnableParams{
		MaxTotalBufferSize: &most, MaxResourceBufferSize: &each, MaxPostDataSize: &none}}
}

// records counts, by session, the requests that began since the renderer had none on record. A renderer forgets them when its page
// navigates.
type records map[target.SessionID]int

// full counts a request, and reports whether the renderer has as many on record as it may.
func (r records) full(session target.SessionID) bool {
	r[session]++
	return r[session] >= maxRecords
}

// renewIfDue takes in that a request begins, and has the renderer forget its records when it has too many. That is put off while
// somebody counts requests: the end of one could be missed, and an answer be given before its effect.
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

// renew has the renderer of a session forget its records of requests, for which the network domain has to be disabled.
func (r *Requests) renew(session devtools.Session) {
	session.PostAll(r.m.Life, devtools.Step{Method: network.CommandDisable}, Enable())
	session.PostAll(r.m.Life, r.overrides()...) // which were asked for meanwhile
}
