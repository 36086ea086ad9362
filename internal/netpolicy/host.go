package netpolicy

import (
	"errors"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

var errNoHost = errors.New("must name a host that a browser understands, such as example.com")

// TargetOf returns the server that a browser contacts for an absolute URL. It parses the URL as browsers do: it ignores white space around
// the URL and tabs and line ends in it, treats a backslash as a slash, accepts any number of slashes before the host, and does not take
// text before an @ for the host. For URLs of schemes without hosts, the Target contains only the scheme.
func TargetOf(raw string) (Target, error) {
	raw = strings.TrimFunc(raw, func(r rune) bool { return r <= ' ' })
	raw = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(raw)
	scheme, rest, found := strings.Cut(raw, ":")
	scheme = strings.ToLower(scheme)
	if !found || !isScheme(scheme) {
		return Target{}, errors.New("must be an absolute URL, such as https://example.com/")
	}
	t := Target{Scheme: scheme}
	switch scheme {
	case "http", "ws":
		t.Scheme, t.Port = "http", 80
	case "https", "wss":
		t.Scheme, t.Port = "https", 443
	default:
		return t, nil
	}
	rest = strings.TrimLeft(rest, `/\`)
	if end := strings.IndexAny(rest, `/\?#`); end >= 0 {
		rest = rest[:end]
	}
	rest = rest[strings.LastIndexByte(rest, '@')+1:]
	return t, t.readAuthority(rest)
}

// readAuthority parses the host and the optional port.
func (t *Target) readAuthority(text string) (err error) {
	host, port := text, ""
	if i := strings.LastIndexByte(text, ':'); i > strings.LastIndexByte(text, ']') {
		host, port = text[:i], text[i+1:]
	}
	if port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || strings.ContainsAny(port, "+-_") {
			return errors.New("must have a port from 0 to 65535")
		}
		t.Port = uint16(n)
	}
	t.Host, err = parseHost(host)
	return err
}

// TargetAt parses host:port, the form in which clients pass a target to a proxy. The port is required.
func TargetAt(scheme, authority string) (Target, error) {
	t := Target{Scheme: scheme}
	if strings.HasSuffix(authority, ":") || !strings.Contains(authority[strings.LastIndexByte(authority, ']')+1:], ":") {
		return t, errors.New("must name a host and a port")
	}
	return t, t.readAuthority(authority)
}

func isScheme(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !('a' <= c && c <= 'z' || i > 0 && ('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.')) {
			return false
		}
	}
	return s != ""
}

// mapping maps names to ASCII as browsers do (UTS 46, nontransitional, without the rules for host names).
var mapping = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false), idna.CheckHyphens(false))

// forbidden contains the characters that no host contains, in addition to control characters.
const forbidden = " #/:<>?@[\\]^|%"

// maxHost limits the length of a host.
const maxHost = 1000

// parseHost parses the host of a URL. It returns addresses in their canonical form without brackets, and names in lower-case ASCII without
// a trailing dot.
func parseHost(text string) (string, error) {
	if text == "" || len(text) > maxHost {
		return "", errNoHost
	}
	if text[0] == '[' {
		inner, closed := strings.CutSuffix(text[1:], "]")
		ip, err := netip.ParseAddr(inner)
		if !closed || err != nil || !ip.Is6() || ip.Zone() != "" {
			return "", errNoHost
		}
		return ip.String(), nil
	}
	text, err := url.PathUnescape(text)
	if err != nil || !utf8.ValidString(text) {
		return "", errNoHost
	}
	if !isPlain(text) {
		if text, err = mapping.ToASCII(text); err != nil {
			return "", errNoHost
		}
	}
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(forbidden, c) >= 0 {
			return "", errNoHost
		}
	}
	text = strings.TrimSuffix(text, ".")
	if endsInNumber(text) {
		return parseIPv4(text)
	}
	if text == "" || strings.HasPrefix(text, ".") || strings.HasSuffix(text, ".") || strings.Contains(text, "..") {
		return "", errNoHost
	}
	return text, nil
}

// isPlain reports whether a name is already in its canonical form. Nearly all names are.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '.' || c == '-') {
			return false
		}
	}
	return !strings.Contains(s, "xn--")
}

// endsInNumber reports whether a host is an IPv4 address, valid or not.
func endsInNumber(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if last == "" {
		return false
	}
	if strings.Trim(last, "0123456789") == "" {
		return true
	}
	_, err := parseNumber(last)
	return err == nil
}

// parseNumber parses a part of an IPv4 address: decimal, octal after 0, hexadecimal after 0x.
func parseNumber(s string) (uint64, error) {
	base := 10
	switch {
	case strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0X"):
		s, base = s[2:], 16
		if s == "" {
			return 0, nil
		}
	case len(s) > 1 && s[0] == '0':
		s, base = s[1:], 8
	}
	if strings.ContainsAny(s, "+-_") {
		return 0, errNoHost
	}
	return strconv.ParseUint(s, base, 64)
}

// parseIPv4 parses an IPv4 address in any form that browsers accept: one to four numbers, of which the last fills the remaining bytes.
func parseIPv4(host string) (string, error) {
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return "", errNoHost
	}
	var ip uint64
	for i, part := range parts {
		n, err := parseNumber(part)
		last := i == len(parts)-1
		switch {
		case part == "" || err != nil || !last && n > 255 || last && n >= 1<<(8*(5-len(parts))):
			return "", errNoHost
		case last:
			ip |= n
		default:
			ip |= n << (8 * (3 - i))
		}
	}
	return netip.AddrFrom4([4]byte{byte(ip >> 24), byte(ip >> 16), byte(ip >> 8), byte(ip)}).String(), nil
}
