package browserpool

import (
	"testing"
	"time"
)

func TestDelaysDoubleAndDecay(t *testing.T) {
	b := backoff{random: func() float64 { return 0.5 }} // no jitter
	wait := func(lived, want time.Duration) {
		t.Helper()
		if got := b.next(lived).Round(time.Millisecond); got != want {
			t.Errorf("after a life of %v the delay is %v, want %v", lived, got, want)
		}
	}
	for _, want := range []time.Duration{100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600, 30000, 30000} {
		wait(0, want*time.Millisecond)
	}
	wait(30*time.Second, 2449*time.Millisecond) // half of the failures is forgotten
	wait(time.Hour, 100*time.Millisecond)
	wait(time.Minute, 119*time.Millisecond) // if a browser dies every minute, the delay is neither minimal nor long
	for range 20 {
		b.next(time.Minute)
	}
	wait(time.Minute, 126*time.Millisecond)
}

func TestDelaysVaryByAFifth(t *testing.T) {
	for random, want := range map[float64]time.Duration{0: 80 * time.Millisecond, 0.75: 110 * time.Millisecond} {
		b := backoff{random: func() float64 { return random }}
		if got := b.next(0).Round(time.Millisecond); got != want {
			t.Errorf("the delay is %v, want %v", got, want)
		}
	}
}
