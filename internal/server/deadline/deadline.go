// Package deadline gives every unary call an end, so that no call of a client holds resources for ever.
package deadline

import (
	"context"
	"time"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/internal/server/check"
	"github.com/domtap/domtap/internal/server/convert"
)

// grace is what a call gets beyond the timeout of the navigation or the URLs that the request names.
const grace = 5 * time.Second

// CloseGrace is how long closing may take of tabs and sessions whose call is over, such as those of a batch.
const CloseGrace = 5 * time.Second

// maxCall is the longest time that a unary call may take.
const maxCall = check.MaxTimeout

// Unary returns the interceptor that gives every call a deadline: the limit of the call, and a little before
// the client's own deadline, so that the client sees the answer of the server instead of its own timer.
// unset is the limit of a call that names none.
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

// callLimit is how long a call may take: a little more than the timeout that the request names, or else
// unset. Turns, scripts, prints, batches and moves of sessions have no timeout for the whole and may take as long as the client's
// deadline allows. No call takes more than 5 minutes.
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

// lead is how long before the deadline of its client a call is answered.
const lead = 100 * time.Millisecond

// Before returns a context that ends a little before the deadline of ctx, if it has one: a quarter of the
// time before it at most.
func Before(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline.Add(-min(lead, time.Until(deadline)/4)))
}

// Reserve returns a context that ends before the deadline of ctx, so that the time suffices to answer
// with what is done: a tenth of the time, at most a second.
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
	each, parallel := convert.BatchOptions(r)
	rounds := (len(r.GetUrls()) + parallel - 1) / parallel
	return time.Duration(rounds)*each + grace
}
