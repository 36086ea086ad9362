package netpolicy

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// rule is one pattern.
type rule struct {
	// text is the pattern as written.
	text string
	// any matches every host. name matches one host, or the hosts under it if below is set. prefix matches addresses.
	any    bool
	name   string
	below  bool
	prefix netip.Prefix
	// first and last are the range of ports.
	first, last uint16
}

// within reports whether the rule matches a port.
func (r *rule) within(port uint16) bool { return r.first <= port && port <= r.last }

// matchesName reports whether the rule matches a host that is a name.
func (r *rule) matchesName(host string, port uint16) bool {
	switch {
	case !r.within(port):
		return false
	case r.any:
		return true
	case r.below:
		rest, ends := strings.CutSuffix(host, r.name)
		return ends && strings.HasSuffix(rest, ".")
	}
	return r.name != "" && host == r.name
}

// covers reports whether the rule matches an address.
func (r *rule) covers(ip netip.Addr) bool {
	return r.any || r.prefix.IsValid() && r.prefix.Contains(ip)
}

// parseRule parses a pattern.
func parseRule(text string) (rule, error) {
	r := rule{text: text, last: 65535}
	if strings.Contains(text, "://") {
		return r, errors.New("name a host, not a URL, such as example.com or example.com:8443")
	}
	host, ports, err := splitPorts(text)
	if err != nil {
		return r, err
	}
	if ports != "" {
		if r.first, r.last, err = parsePorts(ports); err != nil {
			return r, err
		}
	}
	if strings.Contains(host, "/") {
		r.prefix, err = parsePrefix(host)
		return r, err
	}
	if r.any = host == "*"; r.any {
		return r, nil
	}
	host, r.below = strings.CutPrefix(host, "*.")
	if strings.Contains(host, "*") {
		return r, errors.New("a * may only stand before the first dot, as in *.example.com")
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	name, err := parseHost(host)
	if err != nil {
		return r, err
	}
	ip, isIP := netip.ParseAddr(name)
	switch {
	case isIP != nil:
		r.name = name
	case r.below:
		return r, errors.New("an address has no subdomains: use a range, such as 10.0.0.0/8")
	default:
		ip = ip.Unmap()
		r.prefix = netip.PrefixFrom(ip, ip.BitLen())
	}
	return r, nil
}

// splitPorts splits a pattern into host and ports. An IPv6 address with ports needs brackets.
func splitPorts(text string) (host, ports string, err error) {
	if inner, bracketed := strings.CutPrefix(text, "["); bracketed {
		host, rest, closed := strings.Cut(inner, "]")
		ports, more := strings.CutPrefix(rest, ":")
		if !closed || !strings.Contains(host, ":") || rest != "" && (!more || ports == "") {
			return "", "", errors.New("write IPv6 addresses like [fd00::1] or [fd00::/8]:443")
		}
		return host, ports, nil
	}
	if strings.Count(text, ":") != 1 {
		return text, "", nil
	}
	host, ports, _ = strings.Cut(text, ":")
	if ports == "" {
		return "", "", errors.New("missing port after the colon")
	}
	return host, ports, nil
}

func parsePorts(text string) (first, last uint16, err error) {
	from, to, isRange := strings.Cut(text, "-")
	if !isRange {
		to = from
	}
	a, errA := strconv.ParseUint(from, 10, 16)
	b, errB := strconv.ParseUint(to, 10, 16)
	if errA != nil || errB != nil || a > b {
		return 0, 0, fmt.Errorf("invalid port %.20q: use a port or a range, such as 8443 or 8000-8999", text)
	}
	return uint16(a), uint16(b), nil
}

func parsePrefix(text string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(text)
	if err != nil || p.Addr().Zone() != "" {
		return netip.Prefix{}, errors.New("invalid range of addresses: use one such as 10.0.0.0/8 or [fd00::/8]")
	}
	if p.Addr().Is4In6() {
		if p.Bits() < 96 {
			return netip.Prefix{}, errors.New("write ranges of IPv4 addresses as such, like 10.0.0.0/8")
		}
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	if p != p.Masked() {
		return netip.Prefix{}, fmt.Errorf("invalid range of addresses: bits are set after the prefix: did you mean %s?", p.Masked())
	}
	return p, nil
}
