package daemon

import (
	"context"
	"errors"

	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/netpolicy/proxy"
	"github.com/domtap/domtap/internal/server/check"
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

// allowFiles lets pages load the files that clients may name. A browser on another machine has other files.
func (cfg *Config) allowFiles() error {
	if cfg.Files.Empty() {
		return nil
	}
	if len(cfg.Browsers.Remotes) > 0 {
		return errors.New("--allow-file-dir and --remote exclude each other: the files would be those of the browser's machine: leave out one of the two")
	}
	cfg.Browser.AllowFile = check.AllowURLIn(cfg.Files)
	return nil
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

// allowURL checks the URLs of client calls. The proxy checks where they lead.
func (cfg Config) allowURL(url string) error {
	err := check.AllowURLIn(cfg.Files)(url)
	if gate, gated := cfg.Browser.Gate.(*proxy.Proxy); err == nil && gated {
		err = gate.AllowURL(url)
	}
	return err
}
