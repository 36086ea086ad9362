package browser

import (
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/internal/browser/launch"
	"github.com/domtap/domtap/internal/sessions"
)

// CheckGate returns an error if the traffic of the browser that cfg describes cannot be forced through cfg.Gate.
func CheckGate(cfg Config) error { return launch.CheckGate(cfg) }

// urlPolicy applies the gate of a browser to URLs. A nil gate allows everything.
type urlPolicy struct{ gate launch.Gate }

// verdict returns the gate's check of URLs, or nil if there is no gate.
func (g urlPolicy) verdict() func(url string) *apierr.Error {
	if g.gate == nil {
		return nil
	}
	return g.gate.Verdict
}

// proxyVerdict returns verdict with its result as text, empty for an allowed URL. It returns nil if there is no gate.
func (g urlPolicy) proxyVerdict() func(url string) string {
	if g.gate == nil {
		return nil
	}
	return func(url string) string {
		if why := g.gate.Verdict(url); why != nil {
			return why.Message
		}
		return ""
	}
}

// allows returns the gate's check of whether a URL may be answered in place of its server, or nil if there is no gate.
func (g urlPolicy) allows() func(url string) error {
	if g.gate == nil {
		return nil
	}
	return g.gate.AllowAnswer
}

// allowProxy returns an error for a session's own proxy if a gate must see all traffic.
func (g urlPolicy) allowProxy(p *sessions.Proxy) error {
	if g.gate == nil || p == nil {
		return nil
	}
	return &apierr.Error{Kind: apierr.Refused, Detail: map[string]string{"rule": "proxy"},
		Message: "the URL policy refuses this: a session with its own proxy would bypass the daemon's proxy, which enforces the policy: leave out the proxy, or ask the operator of the daemon to change --url-policy of domtap serve"}
}
