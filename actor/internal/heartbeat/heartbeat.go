// Package heartbeat holds what is known of a page's signs of life while a call acts on it, and how long each may take.
// Who asks the page, and when, is not decided here.
package heartbeat

import (
	"sync"
	"time"
)

const (
	// bound is how long the page may take to give a sign of life, and newDocumentBound how long a document that an
	// action led to may: it may be busy with its first scripts.
	bound            = 2 * time.Second
	newDocumentBound = 5 * time.Second
	// readShare is how many times as long as the last read of the page it may take besides: while the page is read, it
	// does not answer anything else.
	readShare = 4
)

// Bound is how long a sign of life may take of a page whose last read took that long.
func Bound(lastRead time.Duration, newDocument bool) time.Duration {
	d := bound + readShare*min(lastRead, bound)
	if newDocument {
		d = max(d, newDocumentBound)
	}
	return d
}

// Monitor is what is known of the signs of life. It is safe for concurrent use: one goroutine asks the page, the tab's
// loop says what to expect. The zero value expects none.
type Monitor struct {
	mu sync.Mutex
	// bound is how long each sign may take; 0: none is expected.
	bound time.Duration
	// period counts what makes a sign that is under way say nothing, such as another document.
	period int
	missed bool
}

// Expect starts a period: from now on a sign may take so long; 0: none is expected.
func (m *Monitor) Expect(bound time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bound, m.missed = bound, false
	m.period++
}

// Current is how long a sign may take that is asked for now, and its period.
func (m *Monitor) Current() (bound time.Duration, period int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.bound, m.period
}

// Report notes whether the sign of a period was missed, and reports whether the last one was that counts. The sign of an
// earlier period does not count.
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
