package browser

import (
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/internal/browser/launch"
	"github.com/domtap/domtap/internal/sessions"
)

// CheckGate reports whether the traffic of the browser that cfg describes can be made to go through cfg.Gate.
func CheckGate(cfg Config) error { return launch.CheckGate(cfg) }

// urlPolicy is what the gate of a browser says of URLs. A nil gate lets everything pass.
type urlPolicy struct{ gate launch.Gate }

// verdict is what the gate says of URLs; nil: there is no gate.
func (g urlPolicy) verdict() func(url string) *apierr.Error {
	if g.gate == nil {
		return nil
	}
	return g.gate.Verdict
}

// proxyVerdict is verdict as a text, empty when the URL may be loaded; nil: there is no gate.
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

// allows says whether a URL may be answered in place of its server; nil: there is no gate.
func (g urlPolicy) allows() func(url string) error {
	if g.gate == nil {
		return nil
	}
	return g.gate.AllowAnswer
}

// allowProxy fails for the proxy of a session where a gate has to see all traffic.
func (g urlPolicy) allowProxy(p *sessions.Proxy) error {
	if g.gate == nil || p == nil {
		return nil
	}
	return &apierr.Error{Kind: apierr.Refused, Detail: map[string]string{"rule": "proxy"},
		Message: "the URL policy refuses this: a session with a proxy of its own would not go through the daemon's, which enforces the policy: leave out the proxy, or ask who runs the daemon to change --url-policy of domtap serve"}
}
