package actor

import (
	"context"
	"time"
)

// probeBound limits how long a page may take to answer before it counts as unresponsive.
const probeBound = 2 * time.Second

// prober checks whether a page that may hang still answers. It runs concurrently with the loop.
type prober struct {
	t *loop
	// results delivers the result of a running probe; it is nil when no probe runs. cancel ends the probe.
	results chan bool
	cancel  context.CancelFunc
}

// suspect starts a probe to find out whether the page still answers.
func (p *prober) suspect() {
	if p.t.ctx.Err() != nil || !p.t.health.Suspect() {
		return
	}
	ctx, cancel := context.WithCancel(p.t.ctx)
	results := make(chan bool)
	p.results, p.cancel = results, cancel
	p.t.children.Go(func() {
		defer cancel()
		p.probe(ctx, results)
	})
}

// probe pings the page until it answers, with increasing intervals.
func (p *prober) probe(ctx context.Context, results chan<- bool) {
	for bound := probeBound; ; bound = min(2*bound, time.Minute) {
		bounded, cancel := context.WithTimeout(ctx, bound)
		err := p.t.page().Ping(bounded)
		if err != nil {
			<-bounded.Done()
		}
		cancel()
		select {
		case results <- err == nil:
		case <-ctx.Done():
			return
		}
		if err == nil {
			return
		}
	}
}

// stop ends the probe.
func (p *prober) stop() {
	p.cancel()
	p.results, p.cancel = nil, nil
}
