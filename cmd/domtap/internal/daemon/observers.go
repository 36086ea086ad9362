package daemon

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"

	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/internal/browserpool"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/telemetry/metrics"
)

// observers holds metrics, traces and profiles.
type observers struct {
	// metrics is nil without --metrics.
	metrics *metrics.Metrics
	stops   []func()
}

// observe starts the configured observers and sets them in the configurations of tabs and calls. The caller calls stop at the end.
func (cfg Config) observe(ctx context.Context, token string, tabs *tabpool.Config, calls *server.Config) (_ *observers, err error) {
	o := new(observers)
	begin := func(wanted string, start func() (stop func(), err error)) {
		if wanted == "" || err != nil {
			return
		}
		var stop func()
		if stop, err = start(); err == nil {
			o.stops = append(o.stops, stop)
		}
	}
	begin(cfg.Metrics, func() (func(), error) {
		o.metrics = metrics.New()
		tabs.Meter, calls.Metrics = o.metrics, o.metrics
		return cfg.serveMetrics(ctx, o.metrics.Handler())
	})
	begin(cfg.Traces, func() (func(), error) { return cfg.trace(ctx, tabs, calls) })
	begin(cfg.Debug, func() (func(), error) { return cfg.serveDebug(ctx, token) })
	if err != nil {
		o.stop()
		return nil, err
	}
	return o, nil
}

// follow connects the metrics to the parts that are created after them.
func (o *observers) follow(browsers *browserpool.Pool, s *services) {
	if o.metrics != nil {
		o.metrics.FollowTabs(s.pool)
		o.metrics.FollowBrowsers(browsers)
		o.metrics.FollowUsage(s.server.Usage())
		s.node.measure(o.metrics)
	}
}

// stop stops the observers in reverse order.
func (o *observers) stop() {
	for _, stop := range slices.Backward(o.stops) {
		stop()
	}
}

// serveHTTP serves HTTP until stop is called. stop cuts off responses in progress and waits until the server has ended.
func (cfg Config) serveHTTP(what string, l net.Listener, server *http.Server) (stop func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			cfg.Logger.Error(what+" are no longer served", "error", err)
		}
	}()
	return func() {
		_ = server.Close()
		<-done
	}
}
