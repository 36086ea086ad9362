package connections

import (
	"context"
	"slices"
	"testing"

	"google.golang.org/grpc/stats"

	"github.com/domtap/domtap/internal/server/rpc/identity"
	"github.com/domtap/domtap/internal/server/rpc/limit"
	"github.com/domtap/domtap/internal/server/rpc/metering"
	"github.com/domtap/domtap/internal/server/tabview"
	"github.com/domtap/domtap/internal/telemetry/usage"
)

// TestAConnectionIsClosedAfterItsLastCall ends a connection before, between and after its calls.
func TestAConnectionIsClosedAfterItsLastCall(t *testing.T) {
	const connEnd, begin, end = "the connection ends", "a call begins", "a call ends"
	for _, events := range [][]string{
		{connEnd},
		{begin, end, connEnd},
		{begin, connEnd, end},
		{begin, begin, connEnd, end, end},
		{begin, end, begin, connEnd, end},
	} {
		var closed []tabview.Caller
		tracker := New(Config{
			Closed: func(c tabview.Caller) { closed = append(closed, c) },
			Usage:  metering.New(usage.New(nil), func(identity.Principal, string) string { return "" }, func(error) string { return "" }),
			Limits: limit.New(limit.Config{}),
		})
		conn := tracker.TagConn(t.Context(), new(stats.ConnTagInfo))
		var calls []context.Context
		for i, event := range events {
			if len(closed) > 0 {
				t.Errorf("%q: the connection is closed before %q", events, events[i:])
			}
			switch event {
			case connEnd:
				tracker.HandleConn(conn, new(stats.ConnEnd))
			case begin:
				calls = append(calls, tracker.TagRPC(conn, &stats.RPCTagInfo{FullMethodName: "/s/m"}))
				tracker.HandleRPC(calls[len(calls)-1], new(stats.Begin))
			case end:
				tracker.HandleRPC(calls[0], new(stats.End))
				calls = calls[1:]
			}
		}
		if !slices.Equal(closed, []tabview.Caller{{Connection: 1}}) {
			t.Errorf("%q: %v is closed, want the connection once", events, closed)
		}
	}
}
