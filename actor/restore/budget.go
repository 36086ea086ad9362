// Package restore decides when a tab that has lost its page is given another, and how often.
//
// A page that ends its renderer or its browser would do it again each time it is brought back. So the first time is at
// once, the next ones wait longer and longer, and after Times within Window it is left alone. What lies longer back than
// Window counts no more: a tab that has been well for that long begins anew.
package restore

import "time"

const (
	// Times is how often a tab is brought back within Window.
	Times = 3
	// Window is how long an attempt counts.
	Window = 10 * time.Minute
)

// waits is how long the attempts wait, by how many there were within Window.
var waits = [Times]time.Duration{0, time.Second, 5 * time.Second}

// Budget counts the attempts for one tab. The zero value is ready. It belongs to one goroutine.
type Budget struct {
	// spent are the times of the attempts, oldest first.
	spent []time.Time
}

// Take counts one more attempt, and says how long it is to wait; ok is false when there were too many already, and then
// nothing is counted. Now is to carry a monotonic reading, as that of time.Now does, so that it does not matter where
// somebody sets the clock to.
func (b *Budget) Take(now time.Time) (wait time.Duration, ok bool) {
	old := 0
	for old < len(b.spent) && now.Sub(b.spent[old]) >= Window {
		old++
	}
	b.spent = b.spent[old:]
	if len(b.spent) >= Times {
		return 0, false
	}
	wait = waits[len(b.spent)]
	b.spent = append(b.spent, now)
	return wait, true
}
