package daemon

import (
	"context"

	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/netpolicy/proxy"
	"github.com/domtap/domtap/internal/server/check"
)

// CheckPolicy returns an error when the URL policy cannot be enforced for the browsers that there are to be.
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

// openGate has the browsers send everything through a proxy that enforces the URL policy, unless that is open. What it
// returns ends the proxy, and is owed when the browsers have ended.
func (cfg *Config) openGate(ctx context.Context) (closeGate func(), err error) {
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
			cfg.Logger.Warn("the proxy of the URL policy did not end well", "error", err)
		}
	}, nil
}

// allowURL decides on the URLs that clients name. Where they lead is for the gate to decide on.
func (cfg Config) allowURL(url string) error {
	err := check.AllowURL(url)
	if gate, gated := cfg.Browser.Gate.(*proxy.Proxy); err == nil && gated {
		err = gate.AllowURL(url)
	}
	return err
}
