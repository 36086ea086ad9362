package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/domtap/domtap/internal/gateway/guard"
)

// metricsAddress completes the address of the metrics. An address without a host is on loopback.
func metricsAddress(addr string) (string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", fmt.Errorf("invalid --metrics %q: not an address such as 127.0.0.1:9464: %w", addr, err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}

// CheckMetrics returns an error for an invalid Config.Metrics.
func CheckMetrics(addr string) error {
	_, err := metricsAddress(addr)
	return err
}

// serveMetrics serves metrics at /metrics until stop is called. stop waits until the server has ended. Anyone who can reach the address can
// read the metrics: they contain only counts and no page content.
func (cfg Config) serveMetrics(ctx context.Context, handler http.Handler) (stop func(), err error) {
	addr, err := metricsAddress(cfg.Metrics)
	if err != nil {
		return nil, err
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen for metrics: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", handler)
	tcp, _ := l.Addr().(*net.TCPAddr)
	local := tcp != nil && tcp.IP.IsLoopback()
	wall, err := guard.New(guard.Config{Loopback: local, AnyName: !local, NoPages: true, Logger: cfg.Logger})
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	server := &http.Server{Handler: wall.Wrap(mux), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: time.Minute}
	cfg.Logger.Info("serving metrics", "address", l.Addr().String())
	if !local {
		cfg.Logger.Warn("the metrics can be read from other machines", "address", l.Addr().String())
	}
	return cfg.serveHTTP("the metrics", l, server), nil
}
