// Package netpolicy limits the destinations of tabs. It checks the URLs that a client names, the hosts and ports that a browser requests,
// and the addresses of these hosts.
//
// A Policy consists of a base and rules. It is immutable and safe for concurrent use. The base is Open (everything), Public (only addresses
// of the public internet) or Closed (nothing). Rules allow and deny hosts, address ranges and ports. A deny rule takes precedence over
// every allow rule. Callers check in two steps: Name checks the host and returns a Grant, and the Grant checks each address immediately
// before the address is dialed. A caller that dials only addresses that a Grant allows is safe from DNS rebinding.
//
// Hosts are parsed as browsers parse them (the WHATWG URL standard), so 0x7f.1, 2130706433, 127.0.0.1. and [::ffff:127.0.0.1] are all
// 127.0.0.1. The package resolves no names and has no state.
package netpolicy

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Base is the decision of a policy on a host that no rule matches.
type Base uint8

// The bases.
const (
	// Open allows everything.
	Open Base = iota
	// Public allows the addresses of the public internet. It refuses private, local and other special addresses.
	Public
	// Closed allows nothing.
	Closed
)

var bases = map[string]Base{"open": Open, "public": Public, "closed": Closed}

func (b Base) String() string {
	for name, base := range bases {
		if b == base {
			return name
		}
	}
	return ""
}

// Policy limits the destinations of tabs. The zero value and nil allow everything.
type Policy struct {
	base        Base
	deny, allow []rule
	// schemes lists the allowed schemes. If nil, all are allowed.
	schemes []string
}

// Schemes lists the schemes that a rule may name. http covers ws, and https covers wss.
var Schemes = []string{"http", "https", "data"}

// These limits keep a decision within microseconds.
const (
	maxRules = 10_000
	maxText  = 1 << 20
)

// Parse parses a policy: items separated by commas or line ends. An item is open, public or closed (once, at any place), allow=PATTERN,
// deny=PATTERN, or schemes=NAME+NAME. A # at the beginning of a line or after white space starts a comment. A PATTERN is a host
// (example.com), the hosts below a host (*.example.com), any host (*, only with deny), an address (10.1.2.3, [fd00::1]) or a range
// (10.0.0.0/8, [fd00::/8]). A port (:8443) or a range of ports (:8000-8999) may follow.
func Parse(text string) (*Policy, error) {
	if len(text) > maxText {
		return nil, errors.New("the policy has more than 1 MiB")
	}
	p, based := new(Policy), false
	for line := range strings.Lines(text) {
		for item := range strings.SplitSeq(uncommented(line), ",") {
			if item = strings.TrimSpace(item); item == "" {
				continue
			}
			if base, ok := bases[item]; ok {
				if based && base != p.base {
					return nil, fmt.Errorf("the policy cannot be both %s and %s: leave one out", p.base, base)
				}
				p.base, based = base, true
				continue
			}
			if err := p.add(item); err != nil {
				return nil, fmt.Errorf("%.80q: %w", item, err)
			}
		}
	}
	if len(p.deny)+len(p.allow) > maxRules {
		return nil, fmt.Errorf("the policy has more than %d rules: use ranges and *.example.com", maxRules)
	}
	if p.base == Open && len(p.allow) > 0 {
		return nil, errors.New("an open policy allows everything, so allow= has no effect: begin with public or closed")
	}
	return p, nil
}

// uncommented removes the comment from a line.
func uncommented(line string) string {
	if strings.HasPrefix(line, "#") {
		return ""
	}
	for _, mark := range []string{" #", "\t#"} {
		line, _, _ = strings.Cut(line, mark)
	}
	return line
}

// add adds an item that is not a base.
func (p *Policy) add(item string) error {
	name, value, found := strings.Cut(item, "=")
	value = strings.TrimSpace(value)
	switch {
	case !found:
	case name == "schemes":
		return p.addSchemes(value)
	case name == "allow" || name == "deny":
		r, err := parseRule(value)
		switch {
		case err != nil:
			return err
		case name == "deny":
			p.deny = append(p.deny, r)
		case r.any:
			return errors.New("only deny accepts the host *: open, public and closed decide on all other hosts")
		default:
			p.allow = append(p.allow, r)
		}
		return nil
	}
	return errors.New("unknown rule: use open, public, closed, allow=HOST, deny=HOST or schemes=https")
}

func (p *Policy) addSchemes(value string) error {
	for scheme := range strings.SplitSeq(value, "+") {
		if !slices.Contains(Schemes, scheme) {
			return fmt.Errorf("schemes are %s, joined by +", strings.Join(Schemes, ", "))
		}
		if !slices.Contains(p.schemes, scheme) {
			p.schemes = append(p.schemes, scheme)
		}
	}
	return nil
}

// IsOpen reports whether the policy limits nothing.
func (p *Policy) IsOpen() bool {
	return p == nil || p.base == Open && len(p.deny) == 0 && len(p.schemes) == 0
}

// String returns the policy in the syntax of Parse.
func (p *Policy) String() string {
	if p == nil {
		return Open.String()
	}
	items := []string{p.base.String()}
	for _, r := range p.allow {
		items = append(items, "allow="+r.text)
	}
	for _, r := range p.deny {
		items = append(items, "deny="+r.text)
	}
	if len(p.schemes) > 0 {
		items = append(items, p.schemesRule())
	}
	return strings.Join(items, ",")
}

func (p *Policy) schemesRule() string { return "schemes=" + strings.Join(p.schemes, "+") }

// Allows reports whether a scheme of Schemes is allowed, regardless of the host.
func (p *Policy) Allows(scheme string) bool {
	return p == nil || len(p.schemes) == 0 || slices.Contains(p.schemes, scheme)
}

// Refusal is the error for a refused host, address or scheme.
type Refusal struct {
	// Host is the refused host in the browser's form. It is empty if the scheme was refused.
	Host string
	// Rule is the rule that refused it, as written in the policy.
	Rule string
	// Why is the reason in human-readable form.
	Why string
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("the URL policy refuses this: %s (rule %s)", r.Why, r.Rule)
}

// URL checks a URL as far as that is possible without the address of its host. A nil error does not mean that the policy allows the
// address. The error is a *Refusal, or another error for an invalid URL. For URLs without hosts, only the scheme is checked.
func (p *Policy) URL(raw string) error {
	if p.IsOpen() {
		return nil
	}
	t, err := TargetOf(raw)
	if err != nil {
		return err
	}
	if t.Host == "" {
		if t.Scheme == "data" && !p.Allows("data") {
			return p.refusedScheme(t.Scheme)
		}
		return nil
	}
	_, err = p.Name(t)
	return err
}

func (p *Policy) refusedScheme(scheme string) *Refusal {
	return &Refusal{Rule: p.schemesRule(), Why: scheme + ": URLs are not allowed"}
}

// Name checks a host, and its address if the host is an address. The error is a *Refusal. The Grant then checks the addresses of the host.
func (p *Policy) Name(t Target) (Grant, error) {
	g := Grant{policy: p, target: t}
	if p == nil {
		return g, nil
	}
	if !p.Allows(t.Scheme) {
		return g, p.refusedScheme(t.Scheme)
	}
	if ip, err := netip.ParseAddr(t.Host); err == nil {
		return g, g.Address(netip.AddrPortFrom(ip, t.Port))
	}
	for i := range p.deny {
		if r := &p.deny[i]; r.matchesName(t.Host, t.Port) {
			return g, &Refusal{Host: t.Host, Rule: "deny=" + r.text, Why: t.Authority() + " is denied"}
		}
	}
	ranges := false // a rule may allow some addresses by range
	for i := range p.allow {
		r := &p.allow[i]
		g.named = g.named || r.matchesName(t.Host, t.Port)
		ranges = ranges || r.prefix.IsValid() && r.within(t.Port)
	}
	if p.base == Closed && !g.named && !ranges {
		return g, &Refusal{Host: t.Host, Rule: Closed.String(), Why: t.Authority() + " is not an allowed host"}
	}
	return g, nil
}

// Grant permits resolving a host, and checks the addresses of the host.
type Grant struct {
	policy *Policy
	target Target
	// named reports that a rule allows the host by name.
	named bool
}

// Unresolved checks the host without an address, for callers that dial none. It refuses a host that could only be allowed by its address.
func (g Grant) Unresolved() error {
	_, err := netip.ParseAddr(g.target.Host)
	if isAddress := err == nil; g.policy == nil || g.policy.base != Closed || g.named || isAddress {
		return nil
	}
	return &Refusal{Host: g.target.Host, Rule: Closed.String(), Why: g.target.Authority() + " is not allowed by its name"}
}

// Address checks one address of the host. The error is a *Refusal. Call it with the address that is dialed next. A host that is allowed by
// name may have any address except link-local addresses, where clouds serve the credentials of their machines, and addresses that no server
// can have. These must be allowed by address.
func (g Grant) Address(at netip.AddrPort) error {
	p := g.policy
	if p == nil {
		return nil
	}
	ip, kind := Classify(at.Addr())
	forms := append([]netip.Addr{ip}, embedded(ip)...)
	for i := range p.deny {
		r := &p.deny[i]
		if r.within(at.Port()) && slices.ContainsFunc(forms, r.covers) {
			return g.refuse("deny="+r.text, ip, "denied", at.Port())
		}
	}
	for i := range p.allow {
		if r := &p.allow[i]; r.within(at.Port()) && r.prefix.IsValid() && r.prefix.Contains(ip) {
			return nil
		}
	}
	switch {
	case p.base == Open || p.base == Public && kind == "" || g.named && !unnamed[kind]:
		return nil
	case p.base == Public || g.named:
		if kind == "" {
			kind = "special"
		}
		return g.refuse(p.base.String(), ip, string(kind), at.Port())
	}
	return g.refuse(Closed.String(), ip, "not allowed", at.Port())
}

// refuse returns the error for an address.
func (g Grant) refuse(rule string, ip netip.Addr, what string, port uint16) *Refusal {
	r := &Refusal{Host: g.target.Host, Rule: rule}
	at := netip.AddrPortFrom(ip, port).String()
	switch {
	case what != "denied" && !strings.HasPrefix(what, "not "):
		what = "a " + what + " address"
		if strings.ContainsAny(what[2:3], "aeiou") {
			what = "an" + what[1:]
		}
		at = ip.String()
	}
	if _, err := netip.ParseAddr(g.target.Host); err == nil || g.target.Host == "" {
		r.Why = at + " is " + what
		return r
	}
	r.Why = g.target.Host + " is at " + at + ", which is " + what
	return r
}

// Target is the server that a browser contacts for a URL.
type Target struct {
	// Scheme is http or https, which include ws and wss. A Target with any other scheme has no host.
	Scheme string
	// Host is a name in lower-case ASCII without a trailing dot, or an address without brackets.
	Host string
	Port uint16
}

// Authority returns host:port.
func (t Target) Authority() string {
	host := t.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return host + ":" + strconv.Itoa(int(t.Port))
}
