package replay

import (
	"time"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/telemetry/har"
)

// HAR returns an HTTP archive of the requests of all recordings. Like the log of a page, it contains neither headers nor bodies.
func (p *Player) HAR(version string) ([]byte, error) {
	a := har.Archive{
		Creator: har.Software{Name: "domtap", Version: version},
		Comment: "made from a domtap recording, which has neither headers nor bodies",
	}
	for _, t := range p.tracks {
		a.Entries = append(a.Entries, requests(t.logs)...)
	}
	return har.Marshal(a)
}

// requests converts the requests in a log to entries.
func requests(logs []*domtapv1.LogEntry) (out []har.Entry) {
	for _, e := range latest(logs) {
		if e.GetKind() != domtapv1.LogKind_LOG_KIND_NETWORK {
			continue
		}
		out = append(out, har.Entry{
			Started: e.GetAt().AsTime(), Took: time.Duration(e.GetDurationMs() * float64(time.Millisecond)), Resource: e.GetResourceType(), Failed: e.GetFailure(),
			Request:  har.Request{Method: e.GetLevel(), URL: e.GetUrl(), Size: -1},
			Response: har.Response{Status: int(e.GetHttpStatus()), Size: -1, Transferred: e.GetBytes(), NoBody: "not recorded"},
		})
	}
	return out
}

// latest returns the entries of a log with each request once. A request that was logged while in progress is logged again when it has
// ended, with the same method, URL and start; the later entry replaces the earlier one.
func latest(logs []*domtapv1.LogEntry) (out []*domtapv1.LogEntry) {
	type request struct {
		method, url string
		started     time.Time
	}
	known := map[request]int{}
	for _, e := range logs {
		if e.GetKind() == domtapv1.LogKind_LOG_KIND_NETWORK {
			key := request{e.GetLevel(), e.GetUrl(), e.GetAt().AsTime()}
			if i, again := known[key]; again && out[i].GetDurationMs() == 0 {
				out[i] = e
				continue
			}
			known[key] = len(out)
		}
		out = append(out, e)
	}
	return out
}
