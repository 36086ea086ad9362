// Package streaming serves streams: WatchDom, and the sending of any stream to readers that may be slow.
//
// A stream is a cursor on a tab's head: a slow reader gets fewer, larger messages, and delays no other reader. It
// ends with a reason. A reader that takes nothing for SendTimeout loses its stream.
package streaming

import (
	"sync"
	"time"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Config sets up Streams.
type Config struct {
	// SendTimeout is how long a reader may leave a message untaken.
	SendTimeout time.Duration
	// Heartbeat is how long a stream is silent before it sends a heartbeat.
	Heartbeat time.Duration
	// StartTimeout is how long the page may take to answer at the begin of a stream.
	StartTimeout time.Duration
	// Metrics count what streams send. Nil: nothing is measured.
	Metrics Metrics
}

// Metrics count what streams send. Their methods are called from many goroutines and must not wait.
type Metrics interface {
	// Watching counts streams of changes that began, or with a negative number ended.
	Watching(by int)
	// Sent records how long after the page's newest change gRPC took a message of a stream, and how many
	// revisions the message covers.
	Sent(after time.Duration, folded int)
	// Resynced counts a whole view that was sent instead of a diff. There are few reasons.
	Resynced(reason string)
}

// Streams makes the streams of a server.
type Streams struct {
	cfg Config
	// running counts the work of streams, which may outlive the handler whose reader stopped reading.
	running sync.WaitGroup
}

// New makes Streams.
func New(cfg Config) *Streams { return &Streams{cfg: cfg} }

// Wait returns when no work of any stream is left. The contexts of all streams must have ended.
func (s *Streams) Wait() { s.running.Wait() }

// maxSkew is how far the clock of a page may be behind the daemon's, delays included, to be used.
const maxSkew = 10 * time.Second

// measure counts a message that was sent. The first message of a stream counts no delay: what a resuming
// reader missed says nothing about the stream.
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

// changedAt is when the change in a message happened: by the page's clock, unless that is skewed.
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
