//go:build unix

package soak

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

const (
	// maxConcurrent limits the number of concurrent calls.
	maxConcurrent = 64
	// sharedConns is the number of connections that the callers share, and also the number that the watchers share. Hosts of agents have
	// few connections.
	sharedConns = 4
)

// callers read unchanging pages at a fixed rate. Each call has a due time that does not depend on earlier answers, and its duration counts
// from that time. So a daemon that falls behind does not get fewer calls.
type callers struct {
	rate int
	tabs []string
	// age is the max_age of the calls. If nil, each call reads the page.
	age *durationpb.Duration
	// took measures the duration of a call from its due time; asked measures it from the time of sending.
	took, asked stopwatch
	next        atomic.Int64
	running     sync.WaitGroup
	cancel      context.CancelFunc
	conns       []*grpc.ClientConn
	broken      chan error
}

// call starts the callers.
func (d *daemon) call(ctx context.Context, rate int, age time.Duration, tabs []string) (*callers, error) {
	c := &callers{rate: rate, tabs: tabs, broken: make(chan error, 1)}
	if age > 0 {
		c.age = durationpb.New(age)
	}
	var err error
	if c.conns, err = d.dialShared(); err != nil {
		return nil, err
	}
	ctx, c.cancel = context.WithCancel(ctx)
	start := time.Now()
	for i := range maxConcurrent {
		dom := domtapv1.NewDomServiceClient(c.conns[i%sharedConns])
		c.running.Go(func() {
			if err := c.worker(ctx, dom, start); err != nil && ctx.Err() == nil {
				select {
				case c.broken <- err:
				default:
				}
			}
		})
	}
	return c, nil
}

// worker makes calls one after the other.
func (c *callers) worker(ctx context.Context, dom domtapv1.DomServiceClient, start time.Time) error {
	for {
		n := c.next.Add(1)
		due := start.Add(time.Duration(n) * time.Second / time.Duration(c.rate))
		t := time.NewTimer(time.Until(due))
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return nil
		}
		sent := time.Now()
		if err := c.one(ctx, dom, int(n)); err != nil {
			return err
		}
		c.took.add(time.Since(due))
		c.asked.add(time.Since(sent))
	}
}

// one makes the n-th call. It reads the elements or the text, of each page in turn.
func (c *callers) one(ctx context.Context, dom domtapv1.DomServiceClient, n int) error {
	bounded, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	tab := c.tabs[n/2%len(c.tabs)]
	if n%2 == 0 {
		r, err := dom.GetDom(bounded, &domtapv1.GetDomRequest{TabId: tab, MaxAge: c.age})
		if err != nil || len(r.GetElements()) == 0 {
			return fmt.Errorf("GetDom of tab %s: %d elements, %w", tab, len(r.GetElements()), err)
		}
		return nil
	}
	r, err := dom.GetCompact(bounded, &domtapv1.GetCompactRequest{TabId: tab, MaxAge: c.age})
	if err != nil || r.GetText() == "" {
		return fmt.Errorf("GetCompact of tab %s: %d bytes, %w", tab, len(r.GetText()), err)
	}
	return nil
}

// stop stops the calls and returns the error of a failed call.
func (c *callers) stop() error {
	c.cancel()
	c.running.Wait()
	hangUp(c.conns)
	select {
	case err := <-c.broken:
		return err
	default:
		return nil
	}
}
