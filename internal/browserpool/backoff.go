package browserpool

import (
	"math"
	"math/rand/v2"
	"time"
)

// backoff is how long a browser that has died stays down.
//
// The curve is that of Kubernetes for containers (CrashLoopBackOff: the delay doubles with each death up to a limit, and
// a container that has run for a while begins anew), with delays that fit a process which starts in a quarter of a second.
// What was learnt does not end at once as there: it decays by half for each halfLife that the browser lives, as
// supervision trees count failures, so that a browser which dies every minute neither waits long nor begins anew. Delays
// vary by a fifth, as those of gRPC's connections do, so that browsers which died together do not start together.
type backoff struct {
	// deaths is how many there were lately, each weighed by what the browser has lived since.
	deaths float64
	// random is in [0, 1).
	random func() float64
}

const (
	// shortest is the delay after the first death, longest the limit.
	shortest = 100 * time.Millisecond
	longest  = 30 * time.Second
	// halfLife is how long a browser lives for half of its deaths to be forgotten.
	halfLife = 30 * time.Second
	// jitter is the part by which delays vary, up and down.
	jitter = 0.2
)

// died takes note of a death, or of a start that failed, after a life of that length, and returns how long to wait.
func (b *backoff) died(lived time.Duration) time.Duration {
	b.deaths *= math.Exp2(-lived.Seconds() / halfLife.Seconds())
	delay := math.Min(float64(shortest)*math.Exp2(b.deaths), float64(longest))
	b.deaths = math.Min(b.deaths+1, math.Log2(float64(longest)/float64(shortest))+1)
	random := b.random
	if random == nil {
		random = rand.Float64
	}
	return time.Duration(delay * (1 + jitter*(2*random()-1)))
}
