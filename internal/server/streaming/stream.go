// Package streaming serves WatchDom, and sends messages of any stream to readers that may be slow.
//
// A stream is a cursor on a tab's head. A slow reader gets fewer, larger messages and does not delay other readers. Every stream ends with
// a reason. A stream is ended if a send blocks for SendTimeout.
package streaming

import (
	"sync"
	"time"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Config sets up Streams.
type Config struct {
	// SendTimeout limits how long a send may block.
	SendTimeout time.Duration
	// Heartbeat is the time without a message after which a stream sends a heartbeat.
	Heartbeat time.Duration
	// StartTimeout limits how long the page may take to answer when a stream starts.
	StartTimeout time.Duration
	// Metrics counts what streams send. If nil, nothing is counted.
	Metrics Metrics
}

// Metrics counts what streams send. Its methods are called concurrently and must not block.
type Metrics interface {
	// Watching adds to the number of running streams of changes. by is negative when a stream ends.
	Watching(by int)
	// Sent records the delay between the page's newest change and the time at which gRPC accepted the message. folded is the number of
	// revisions that the message covers.
	Sent(after time.Duration, folded int)
	// Resynced counts a whole view that was sent instead of a diff. The number of different reasons is small.
	Resynced(reason string)
}

// Streams serves the streams of a server.
type Streams struct {
	cfg Config
	// running counts the work of streams. Work may outlive the handler of a slow reader.
	running sync.WaitGroup
}

// New returns Streams.
func New(cfg Config) *Streams { return &Streams{cfg: cfg} }

// Wait waits until all work of streams has ended. The contexts of all streams must have ended.
func (s *Streams) Wait() { s.running.Wait() }

// maxSkew is the maximum difference, delays included, by which a usable page clock may lag behind the daemon's.
const maxSkew = 10 * time.Second

// measure counts a message that was sent. The first message of a stream counts no delay, because changes that a resuming reader missed are
// not the stream's delay.
func (w *watcher) measure(m *domtapv1.WatchDomResponse) {
	metrics, diff := w.cfg.Metrics, m.GetDiff() != nil
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

// changedAt returns the time of the change in a message. It uses the page's clock, unless that is skewed.
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
