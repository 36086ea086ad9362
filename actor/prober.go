package actor

import (
	"context"
	"time"
)

// probeBound is how long a page may take to answer before it counts as unresponsive.
const probeBound = 2 * time.Second

// prober asks a page that may hang for a sign of life, beside everything else.
type prober struct {
	t *loop
	// results delivers what a running probe finds; nil when none runs. cancel ends it.
	results chan bool
	cancel  context.CancelFunc
}

// suspect finds out whether the page still answers.
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

// probe asks until the page answers, less and less often.
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
