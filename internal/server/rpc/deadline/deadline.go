// Package deadline gives every unary call a deadline, so that no client call holds resources forever.
package deadline

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rules"
)

// grace is added to the timeout of the navigation or the URLs that the request sets.
const grace = 5 * time.Second

// CloseGrace limits how long it may take to close tabs and sessions whose call has ended, such as the tabs of a batch.
const CloseGrace = 5 * time.Second

// maxCall limits the duration of a unary call.
const maxCall = rules.MaxTimeout

// Unary returns an interceptor that gives every call a deadline. The deadline is the limit of the call, or slightly before the client's own
// deadline if that is earlier, so that the client gets the server's answer before its own timer expires. unset is the limit of a call
// without a timeout.
func Unary(unset time.Duration) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		limit := callLimit(ctx, req, unset)
		ctx, stop := Before(ctx)
		defer stop()
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return handler(ctx, req)
	}
}

// callLimit returns the time limit of a call: slightly more than the timeout in the request, or else unset. Turns, scripts, prints, batches
// and moves of sessions have no overall timeout and may take as long as the client's deadline allows. No call may take more than 5 minutes.
func callLimit(ctx context.Context, req any, unset time.Duration) time.Duration {
	_, bounded := ctx.Deadline()
	switch r := req.(type) {
	case *domtapv1.BatchRequest:
		if !bounded {
			return min(batchLimit(r), maxCall)
		}
		return maxCall
	case *domtapv1.InteractRequest, *domtapv1.FillFormRequest, *domtapv1.EvaluateRequest, *domtapv1.PdfRequest,
		*domtapv1.DrainNodeRequest, *domtapv1.MoveSessionRequest:
		if bounded {
			return maxCall
		}
	case interface{ GetTimeout() *durationpb.Duration }:
		if r.GetTimeout() != nil {
			return min(r.GetTimeout().AsDuration()+grace, maxCall)
		}
	}
	return unset
}

// lead is the time between the answer to a call and the client's deadline.
const lead = 100 * time.Millisecond

// Before returns a context that ends slightly before the deadline of ctx, if it has one. It gives up at most a quarter of the remaining
// time.
func Before(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline.Add(-min(lead, time.Until(deadline)/4)))
}

// Reserve returns a context that ends before the deadline of ctx, so that time remains to answer with partial results. It reserves a tenth
// of the remaining time, at most one second.
func Reserve(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	spare := min(time.Until(deadline)/10, time.Second)
	return context.WithDeadline(ctx, deadline.Add(-spare))
}

// batchLimit is the deadline of a batch whose client set none.
func batchLimit(r *domtapv1.BatchRequest) time.Duration {
	each, parallel := Batch(r)
	rounds := (len(r.GetUrls()) + parallel - 1) / parallel
	return time.Duration(rounds)*each + grace
}

// The defaults of a BatchRequest.
const (
	defaultParallel = 4
	defaultPerURL   = 15 * time.Second
)

// Batch returns the time limit of each URL of a batch, and how many URLs are read concurrently.
func Batch(r *domtapv1.BatchRequest) (each time.Duration, parallel int) {
	each, parallel = defaultPerURL, defaultParallel
	if r.GetTimeout() != nil {
		each = r.GetTimeout().AsDuration()
	}
	if r.GetParallel() > 0 {
		parallel = int(r.GetParallel())
	}
	return each, parallel
}
