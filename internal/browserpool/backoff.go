package browserpool

import (
	"math"
	"math/rand/v2"
	"time"
)

// backoff computes how long a slot waits before it starts its browser again.
//
// As in Kubernetes' CrashLoopBackOff, the delay doubles with each failure up to a limit. The delays fit a process that starts in a quarter
// of a second. Kubernetes forgets all failures of a container that has run for a while. Here, as in supervision trees, the failures decay
// by half for each halfLife that a browser lives. So a browser that dies every minute neither waits long nor restarts from the minimum
// delay. Delays vary by a fifth, as in gRPC connection backoff, so that browsers that died together do not start together. docs/adr/0023
// explains why this is not a library.
type backoff struct {
	// failures is the number of recent failures, weighted by the time that browsers have lived since.
	failures float64
	// random returns a number in [0, 1). If nil, math/rand is used.
	random func() float64
}

const (
	// minDelay is the delay after the first failure. maxDelay limits the delay.
	minDelay = 100 * time.Millisecond
	maxDelay = 30 * time.Second
	// halfLife is the lifetime of a browser after which half of the failures are forgotten.
	halfLife = 30 * time.Second
	// jitter is the fraction by which delays vary, up and down.
	jitter = 0.2
)

// next records that a browser died or could not be started, after the given lifetime. It returns the delay before the next start.
func (b *backoff) next(lived time.Duration) time.Duration {
	b.failures *= math.Exp2(-lived.Seconds() / halfLife.Seconds())
	delay := math.Min(float64(minDelay)*math.Exp2(b.failures), float64(maxDelay))
	b.failures = math.Min(b.failures+1, math.Log2(float64(maxDelay)/float64(minDelay))+1)
	random := b.random
	if random == nil {
		random = rand.Float64
	}
	return time.Duration(delay * (1 + jitter*(2*random()-1)))
}
