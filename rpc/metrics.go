package rpc

import (
	"time"

	"google.golang.org/grpc"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Metrics takes what the server does, to be counted. Its methods are called from many goroutines and must not wait.
type Metrics interface {
	// Unary and Stream count the calls.
	Unary() grpc.UnaryServerInterceptor
	Stream() grpc.StreamServerInterceptor
	// Watching says that so many streams of changes have begun, or ended.
	Watching(by int)
	// Sent says how long after the page's newest change gRPC took a message of a stream, and how many revisions it
	// folds.
	Sent(after time.Duration, folded int)
	// Refused says that a call was refused because of a limit. There are few limits.
	Refused(limit string)
	// Resynced says that a stream sent a whole view instead of a diff. There are few reasons.
	Resynced(reason string)
}

// maxSkew is how far a page's clock may be behind the daemon's, observation and all, to be believed.
const maxSkew = 10 * time.Second

// measure counts a message that was sent. What a reader that comes back has missed counts for no time of the stream's.
func (w *watcher) measure(m *domtapv1.WatchDomResponse) {
	metrics, diff := w.server.cfg.Metrics, m.GetDiff() != nil
	if diff && w.sequence > 1 {
		w.note.Sent(time.Since(changedAt(m)))
	}
	if metrics == nil {
		return
	}
	if r := m.GetResync(); r != nil {
		metrics.Resynced(r.GetReason())
	}
	if diff || m.GetResync() != nil {
		metrics.Sent(time.Since(changedAt(m)), int(m.GetCoalesced()))
	}
}

// changedAt is when what a message tells of happened: by the page's clock, unless that is skewed.
func changedAt(m *domtapv1.WatchDomResponse) time.Time {
	observed := m.GetObservedAt().AsTime()
	if m.GetPageTime() == nil {
		return observed
	}
	page := m.GetPageTime().AsTime()
	if lag := observed.Sub(page); lag < 0 || lag > maxSkew {
		return observed
	}
	return page
}
