// Package restore decides when and how often a tab that has lost its page is restored.
//
// A page that crashes its renderer or browser would do so again after each restore. So the first attempt is immediate, the next ones wait
// increasingly long, and after Times attempts within Window the tab is not restored any more. Attempts older than Window do not count: a
// tab that was stable for that long starts over.
package restore

import "time"

const (
	// Times limits how often a tab is restored within Window.
	Times = 3
	// Window is how long an attempt counts.
	Window = 10 * time.Minute
)

// backoffs is the delay of an attempt, by the number of earlier attempts within Window.
var backoffs = [Times]time.Duration{0, time.Second, 5 * time.Second}

// Budget counts the restore attempts of one tab. The zero value is ready to use. It is not safe for concurrent use.
type Budget struct {
	// spent holds the times of the attempts, oldest first.
	spent []time.Time
}

// Take counts an attempt and returns the delay before it. If there were too many attempts, ok is false and nothing is counted. Now must
// have a monotonic clock reading, as from time.Now, so that changes of the wall clock have no effect.
func (b *Budget) Take(now time.Time) (wait time.Duration, ok bool) {
	old := 0
	for old < len(b.spent) && now.Sub(b.spent[old]) >= Window {
		old++
	}
	b.spent = b.spent[old:]
	if len(b.spent) >= Times {
		return 0, false
	}
	wait = backoffs[len(b.spent)]
	b.spent = append(b.spent, now)
	return wait, true
}
