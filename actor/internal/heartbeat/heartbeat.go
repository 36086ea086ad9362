// Package heartbeat tracks a page's signs of life while a call acts on it, and how long each may take. It does not ping the page itself.
package heartbeat

import (
	"sync"
	"time"
)

const (
	// bound limits how long a page may take to give a sign of life. newDocumentBound is the limit for a document that an action led to,
	// which may be busy with its first scripts.
	bound            = 2 * time.Second
	newDocumentBound = 5 * time.Second
	// readShare is multiplied with the duration of the last read and added to the limit, because a page that is being read does not answer
	// anything else.
	readShare = 4
)

// Bound returns how long a page may take to give a sign of life, given the duration of its last read.
func Bound(lastRead time.Duration, newDocument bool) time.Duration {
	d := bound + readShare*min(lastRead, bound)
	if newDocument {
		d = max(d, newDocumentBound)
	}
	return d
}

// Monitor records a page's signs of life. It is safe for concurrent use: one goroutine pings the page, and the tab's loop sets the
// expectations. The zero value expects no signs.
type Monitor struct {
	mu sync.Mutex
	// bound limits how long each sign may take. 0 means that none is expected.
	bound time.Duration
	// period is incremented whenever a pending sign becomes irrelevant, for example because of another document.
	period int
	missed bool
}

// Expect starts a period in which a sign of life may take up to bound. 0 means that none is expected.
func (m *Monitor) Expect(bound time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bound, m.missed = bound, false
	m.period++
}

// Current returns the current bound and period.
func (m *Monitor) Current() (bound time.Duration, period int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.bound, m.period
}

// Report records whether a sign was missed, and returns whether the last relevant sign was missed. A sign of an earlier period is
// irrelevant.
func (m *Monitor) Report(period int, missed bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.period == period {
		m.missed = missed
	}
	return m.missed
}

// Missed reports whether the last sign was missed.
func (m *Monitor) Missed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.missed
}
