// Package netpolicy decides where tabs may go: on URLs that a client names, on the hosts and ports that a browser asks for,
// and on the addresses that they turn out to have.
//
// A Policy is a base and rules, immutable and safe for any number of goroutines. The base is Open (everything), Public
// (addresses of the public internet only) or Closed (nothing). Rules allow and deny hosts, address ranges and ports; what
// one rule denies no other allows. The same policy answers at two moments. Name decides when the host is known; the Grant
// that it gives decides on each address, right before that is dialed. Who dials nothing but what a Grant has let pass is
// safe from names that change their address between the two.
//
// Hosts are read as browsers read them (the URL standard of the WHATWG), so 0x7f.1, 2130706433, 127.0.0.1. and
// [::ffff:127.0.0.1] are all 127.0.0.1. The package resolves no names and has no state.
package netpolicy

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Base is what holds where no rule says anything.
type Base uint8

// The bases.
const (
	// Open allows everything.
	Open Base = iota
	// Public allows the addresses of the public internet: no private, local or otherwise special ones.
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

// Policy says where tabs may go. The zero value and nil allow everything.
type Policy struct {
	base        Base
	deny, allow []rule
	// schemes are those that are allowed; nil: all.
	schemes []string
}

// Schemes are what a rule for schemes may name. http covers ws, and https wss.
var Schemes = []string{"http", "https", "data"}

// Limits are against nonsense, and so that a decision takes microseconds.
const (
	maxRules = 10_000
	maxText  = 1 << 20
)

// Parse reads a policy: items, separated by commas or line ends. An item is open, public or closed (once, at any
// place), allow=PATTERN, deny=PATTERN, or schemes=NAME+NAME. What is behind a # at the begin of a line or behind white
// space is left out. A PATTERN is a host (example.com), the hosts below one (*.example.com), any host (*, with deny
// only), an address (10.1.2.3, [fd00::1]) or a range (10.0.0.0/8, [fd00::/8]), each of them with a port (:8443) or
// ports (:8000-8999) or without.
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
					return nil, fmt.Errorf("the policy is %s and %s: leave one of them out", p.base, base)
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
		return nil, errors.New("an open policy allows everything, so that allow= changes nothing: begin with public or closed")
	}
	return p, nil
}

// uncommented cuts the comment from a line.
func uncommented(line string) string {
	if strings.HasPrefix(line, "#") {
		return ""
	}
	for _, mark := range []string{" #", "\t#"} {
		line, _, _ = strings.Cut(line, mark)
	}
	return line
}

// add takes in an item that is no base.
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
			return errors.New("only deny takes the host *: the policies open, public and closed say what holds for the rest")
		default:
			p.allow = append(p.allow, r)
		}
		return nil
	}
	return errors.New("is no rule: use open, public, closed, allow=HOST, deny=HOST or schemes=https")
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

// IsOpen reports whether nothing is limited, so that nobody need ask.
func (p *Policy) IsOpen() bool {
	return p == nil || p.base == Open && len(p.deny) == 0 && len(p.schemes) == 0
}

// String writes the policy as Parse reads it.
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

// Allows reports whether a scheme of Schemes is allowed, whatever the host.
func (p *Policy) Allows(scheme string) bool {
	return p == nil || len(p.schemes) == 0 || slices.Contains(p.schemes, scheme)
}

// Refusal is the error of what a policy does not allow.
type Refusal struct {
	// Host is what was refused, as the browser writes it; empty when it was the scheme.
	Host string
	// Rule is what refused it, as it stands in the policy.
	Rule string
	// Why says it in words.
	Why string
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("the URL policy refuses this: %s (rule %s)", r.Why, r.Rule)
}

// URL decides on a URL, as far as that is possible without looking up its host's address: nil is no promise that the
// policy allows the address. It returns a *Refusal, or another error for what is no URL with a host. URLs without hosts
// are decided on by their scheme.
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

// Name decides on a host, and on its address when it is one. The error is a *Refusal; without one the Grant decides on
// the addresses of the host.
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
	ranges := false // some address may be allowed by itself
	for i := range p.allow {
		r := &p.allow[i]
		g.named = g.named || r.matchesName(t.Host, t.Port)
		ranges = ranges || r.prefix.IsValid() && r.within(t.Port)
	}
	if p.base == Closed && !g.named && !ranges {
		return g, &Refusal{Host: t.Host, Rule: Closed.String(), Why: t.Authority() + " is not among what is allowed"}
	}
	return g, nil
}

// Grant is the leave to look up a host, and decides on what comes of that.
type Grant struct {
	policy *Policy
	target Target
	// named says that a rule allows the host by its name.
	named bool
}

// Address decides on one address of the host; the error is a *Refusal. It is to be asked about the very address that is
// dialed. A host that is allowed by name may be at any address but those of a link, where clouds serve their machines'
// credentials, and those where no server can be: these must be allowed by address.
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
	return g.refuse(Closed.String(), ip, "not among what is allowed", at.Port())
}

// refuse says why an address is not allowed.
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

// Target is what a browser contacts for a URL.
type Target struct {
	// Scheme is http or https, also for ws and wss; any other scheme has no host here.
	Scheme string
	// Host is a name in ASCII, in lower case, without a dot at its end, or an address without brackets.
	Host string
	Port uint16
}

// Authority is host:port.
func (t Target) Authority() string {
	host := t.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return host + ":" + strconv.Itoa(int(t.Port))
}
