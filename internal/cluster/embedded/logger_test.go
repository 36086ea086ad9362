package embedded

import (
	"fmt"
	"testing"
	"time"
)

func TestWarningsThatRepeatAreLeftOut(t *testing.T) {
	var r repeats
	now := time.Unix(0, 0)
	logged, left := 0, 0
	for attempt := range 1000 { // four per second
		n, ok := r.again(fmt.Sprintf("Error trying to connect to route (attempt %d): dial tcp 10.0.0.2:%d->10.0.0.1:7414: refused", attempt, 40000+attempt), now)
		if left += n; ok {
			logged++
		}
		now = now.Add(250 * time.Millisecond)
	}
	if logged != 5 || left != 956 {
		t.Errorf("%d of 1000 were logged, which say that %d were left out", logged, left)
	}
	if _, ok := r.again("Error trying to connect to route (attempt 1): dial tcp 10.0.0.3:7414: refused", now); !ok {
		t.Error("that of another server was left out")
	}
	for i := range 10 * maxRepeats {
		r.again(fmt.Sprintf("text %d", i), now)
	}
	if len(r.last) > maxRepeats {
		t.Errorf("%d texts are remembered", len(r.last))
	}
}
