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

// Guard refuses calls that would change something. Its methods are interceptors.
type Guard struct {
	// Reads holds the methods that only read.
	Reads map[string]bool
}

// check returns an error if a method is refused.
func (g Guard) check(method string) error {
	if g.Reads[method] || method == domtapv1.ReplayService_Seek_FullMethodName || strings.HasPrefix(method, "/"+healthv1.Health_ServiceDesc.ServiceName+"/") {
		return nil
	}
	return actor.ReadOnly("what this daemon shows")
}

// Unary refuses calls that are not in Reads.
func (g Guard) Unary(ctx context.Context, req any, call *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if err := g.check(call.FullMethod); err != nil {
		return nil, err
	}
	return handler(ctx, req)
}

// Stream passes all streams, because they only read.
func (g Guard) Stream(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	return handler(srv, stream)
}

// NoBrowser implements the browser of a pool with recorded tabs.
type NoBrowser struct{ popups chan driver.Popup }

// NewBrowser returns a NoBrowser.
func NewBrowser() NoBrowser { return NoBrowser{make(chan driver.Popup)} }

// NewPage returns an error.
func (NoBrowser) NewPage(context.Context, driver.PageOptions) (driver.Page, error) {
	return nil, actor.ReadOnly("what this daemon shows")
}

// OtherPages fails.
func (NoBrowser) OtherPages(context.Context) ([]driver.OtherPage, error) {
	return nil, actor.ReadOnly("what this daemon shows")
}

// Pages returns a channel that never delivers a page.
func (n NoBrowser) Pages() <-chan driver.Popup { return n.popups }

// Ready returns immediately.
func (NoBrowser) Ready(context.Context, string) error { return nil }

// Owner returns "".
func (NoBrowser) Owner(string) string { return "" }
