package daemon

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/telemetry/metrics"
)

// observers are those who look on: metrics, traces and profiles.
type observers struct {
	// measured is nil where nothing is measured.
	measured *metrics.Metrics
	stops    []func()
}

// observe starts the observers that are asked for, and tells tabs and calls of them. The caller owes a call of stop.
func (cfg Config) observe(ctx context.Context, token string, tabs *actor.Config, calls *server.Config) (_ *observers, err error) {
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
		o.measured = metrics.New()
		tabs.Meter, calls.Metrics = o.measured, o.measured
		return cfg.serveMetrics(ctx, o.measured.Handler())
	})
	begin(cfg.Traces, func() (func(), error) { return cfg.trace(ctx, tabs, calls) })
	begin(cfg.Debug, func() (func(), error) { return cfg.serveDebug(ctx, token) })
	if err != nil {
		o.stop()
		return nil, err
	}
	return o, nil
}

// stop ends them, the last one first.
func (o *observers) stop() {
	for _, stop := range slices.Backward(o.stops) {
		stop()
	}
}

// aside serves something over HTTP beside the calls until stop is called, which waits for the end. Nothing is lost then
// but an answer that is under way.
func (cfg Config) aside(what string, l net.Listener, server *http.Server) (stop func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			cfg.Logger.Error(what+" are served no more", "error", err)
		}
	}()
	return func() {
		_ = server.Close()
		<-done
	}
}
