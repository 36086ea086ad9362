package replay

import (
	"slices"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Log answers ReadLog with a tab's log at a moment, by default at the position. If a request was logged more than once, the last version at
// that moment is returned. most limits the number of entries; the newest are kept.
func (p *Player) Log(r *domtapv1.ReadLogRequest, most int) (*domtapv1.ReadLogResponse, error) {
	t, err := p.track(r.GetTabId())
	if err != nil {
		return nil, err
	}
	until, err := p.when(t, p.Moment(r.GetAt()))
	if err != nil {
		return nil, err
	}
	resp := new(domtapv1.ReadLogResponse)
	requests := map[uint64]int{}
	for n, e := range t.logs {
		if t.loggedAt[n] > until {
			break
		}
		resp.NextSequence = max(resp.GetNextSequence(), e.GetSequence())
		if e.GetSequence() <= r.GetAfter() || !selects(r, e) {
			continue
		}
		if i, again := requests[e.GetRequestId()]; again && e.GetRequestId() > 0 {
			resp.Entries[i] = e
			continue
		}
		requests[e.GetRequestId()] = len(resp.GetEntries())
		resp.Entries = append(resp.Entries, e)
	}
	slices.SortStableFunc(resp.GetEntries(), func(a, b *domtapv1.LogEntry) int { return int(int64(a.GetSequence()) - int64(b.GetSequence())) })
	if over := len(resp.GetEntries()) - most; over > 0 {
		resp.Entries, resp.Dropped = resp.GetEntries()[over:], uint64(over)
	}
	return resp, nil
}

// selects reports whether a request selects an entry.
func selects(r *domtapv1.ReadLogRequest, e *domtapv1.LogEntry) bool {
	some := slices.ContainsFunc(r.GetKinds(), func(k domtapv1.LogKind) bool { return k != domtapv1.LogKind_LOG_KIND_UNSPECIFIED })
	if some && !slices.Contains(r.GetKinds(), e.GetKind()) {
		return false
	}
	return !r.GetProblemsOnly() || isProblem(e)
}

// isProblem applies the rule of pagelog.Entry.Problem to a recorded entry.
func isProblem(e *domtapv1.LogEntry) bool {
	switch e.GetKind() {
	case domtapv1.LogKind_LOG_KIND_ERROR:
		return true
	case domtapv1.LogKind_LOG_KIND_NETWORK:
		return e.GetFailure() != "" || e.GetHttpStatus() >= 400
	default:
		return e.GetLevel() == "warning" || e.GetLevel() == "error"
	}
}
