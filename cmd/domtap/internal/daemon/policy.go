package daemon

import (
	"context"

	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/netpolicy/proxy"
	"github.com/domtap/domtap/internal/server/rules"
)

// CheckPolicy returns an error if the URL policy cannot be enforced for the configured browsers.
func (cfg Config) CheckPolicy() error {
	if cfg.Policy.IsOpen() {
		return nil
	}
	one := cfg.Browser
	one.Gate = new(proxy.Proxy)
	if len(cfg.Browsers.Remotes) > 0 {
		one.Remote = cfg.Browsers.Remotes[0]
	}
	return browser.CheckGate(one)
}

// startProxy starts the proxy that enforces the URL policy on all traffic of the browsers, unless the policy is
// open. The caller calls stop after the browsers have stopped.
func (cfg *Config) startProxy(ctx context.Context) (stop func(), err error) {
	if cfg.Policy.IsOpen() {
		return func() {}, nil
	}
	if err := cfg.CheckPolicy(); err != nil {
		return nil, err
	}
	gate, err := proxy.Open(ctx, proxy.Config{Policy: cfg.Policy, Logger: cfg.Logger})
	if err != nil {
		return nil, err
	}
	cfg.Browser.Gate = gate
	cfg.Logger.Info("a URL policy is in force", "policy", cfg.Policy.String(), "proxy", gate.Address())
	return func() {
		if err := gate.Close(); err != nil {
			cfg.Logger.Warn("the proxy of the URL policy failed to stop", "error", err)
		}
	}, nil
}

// allowURL checks the URLs of client calls. The proxy checks the connections and redirects that follow.
func (cfg Config) allowURL(url string) error {
	err := rules.AllowURLOr(cfg.Browser.AllowFile, url)
	if gate, gated := cfg.Browser.Gate.(*proxy.Proxy); err == nil && gated {
		err = gate.AllowURL(url)
	}
	return err
}
