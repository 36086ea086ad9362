package replay

import (
	"context"
	"strings"

	"google.golang.org/grpc"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/driver"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Guard refuses the calls that would change something. Its methods are interceptors.
type Guard struct {
	// Reads has the methods that change nothing.
	Reads map[string]bool
}

// check refuses a method.
func (g Guard) check(method string) error {
	if g.Reads[method] || method == domtapv1.ReplayService_Seek_FullMethodName || strings.HasPrefix(method, "/"+healthv1.Health_ServiceDesc.ServiceName+"/") {
		return nil
	}
	return actor.ReadOnly("what this daemon shows")
}

// Unary refuses calls.
func (g Guard) Unary(ctx context.Context, req any, call *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if err := g.check(call.FullMethod); err != nil {
		return nil, err
	}
	return handler(ctx, req)
}

// Stream lets streams pass, which change nothing.
func (g Guard) Stream(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	return handler(srv, stream)
}

// NoBrowser is the browser of a pool whose tabs are those of recordings.
type NoBrowser struct{ popups chan driver.Popup }

// NewBrowser makes one.
func NewBrowser() NoBrowser { return NoBrowser{make(chan driver.Popup)} }

// NewPage fails.
func (NoBrowser) NewPage(context.Context, driver.PageOptions) (driver.Page, error) {
	return nil, actor.ReadOnly("what this daemon shows")
}

// Pages never delivers one.
func (n NoBrowser) Pages() <-chan driver.Popup { return n.popups }

// Ready returns at once.
func (NoBrowser) Ready(context.Context, string) error { return nil }

// Owner is nobody.
func (NoBrowser) Owner(string) string { return "" }
