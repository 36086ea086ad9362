package netpolicy

import (
	"encoding/binary"
	"net/netip"
)

// Kind is the reason why an address is not public. It is empty for a public address.
type Kind string

// special lists the ranges outside the public internet. A narrow range precedes the ranges that contain it. The list has the ranges of the
// IANA special-purpose registries for IPv4 and IPv6 that are not globally reachable or that map to other addresses, and ranges that cannot
// contain a public server.
var special = []struct {
	prefix netip.Prefix
	kind   Kind
}{
	{netip.MustParsePrefix("0.0.0.0/8"), unspecified},
	{netip.MustParsePrefix("10.0.0.0/8"), private},
	{netip.MustParsePrefix("100.64.0.0/10"), "shared (carrier-grade NAT)"},
	{netip.MustParsePrefix("127.0.0.0/8"), "loopback"},
	{netip.MustParsePrefix("168.63.129.16/32"), platform},
	{netip.MustParsePrefix("169.254.0.0/16"), linkLocal},
	{netip.MustParsePrefix("172.16.0.0/12"), private},
	{netip.MustParsePrefix("192.0.0.0/24"), reserved},
	{netip.MustParsePrefix("192.0.2.0/24"), documentation},
	{netip.MustParsePrefix("192.88.99.0/24"), reserved},
	{netip.MustParsePrefix("192.168.0.0/16"), private},
	{netip.MustParsePrefix("198.18.0.0/15"), "benchmarking"},
	{netip.MustParsePrefix("198.51.100.0/24"), documentation},
	{netip.MustParsePrefix("203.0.113.0/24"), documentation},
	{netip.MustParsePrefix("224.0.0.0/4"), multicast},
	{netip.MustParsePrefix("255.255.255.255/32"), "broadcast"},
	{netip.MustParsePrefix("240.0.0.0/4"), reserved},

	{netip.MustParsePrefix("::/128"), unspecified},
	{netip.MustParsePrefix("::1/128"), "loopback"},
	{netip.MustParsePrefix("64:ff9b:1::/48"), private},
	{netip.MustParsePrefix("2001::/23"), reserved},
	{netip.MustParsePrefix("2001:db8::/32"), documentation},
	{netip.MustParsePrefix("3fff::/20"), documentation},
	{netip.MustParsePrefix("fc00::/7"), private},
	{netip.MustParsePrefix("fe80::/10"), linkLocal},
	{netip.MustParsePrefix("fec0::/10"), private},
	{netip.MustParsePrefix("ff00::/8"), multicast},
}

const (
	unspecified   Kind = "unspecified"
	private       Kind = "private"
	linkLocal     Kind = "link-local"
	multicast     Kind = "multicast"
	reserved      Kind = "reserved"
	documentation Kind = "documentation"
	platform      Kind = "cloud platform"
)

// unnamed holds the kinds that a rule must allow by address. A rule that allows only the name is not sufficient.
var unnamed = map[Kind]bool{linkLocal: true, platform: true, unspecified: true, multicast: true, "broadcast": true, reserved: true, metadata: true}

// metadata is the IPv6 address of Amazon's instance metadata service, which serves credentials.
const metadata Kind = "cloud metadata"

var metadata6 = netip.MustParseAddr("fd00:ec2::254")

// globals is the range of IPv6 global unicast addresses.
var globals = netip.MustParsePrefix("2000::/3")

// Classify returns an address in its plain form, and the reason why the address is not public. The plain form of an IPv4-mapped IPv6
// address is an IPv4 address. An address with a zone is link-local. An address that embeds an IPv4 address (NAT64, 6to4, Teredo) has the
// kind of that address.
func Classify(ip netip.Addr) (netip.Addr, Kind) {
	zoned := ip.Zone() != ""
	ip = ip.Unmap().WithZone("")
	switch {
	case !ip.IsValid():
		return ip, reserved
	case zoned:
		return ip, linkLocal
	case ip == metadata6:
		return ip, metadata
	}
	for _, v4 := range embedded(ip) {
		if _, kind := Classify(v4); kind != "" {
			return ip, kind
		}
	}
	if nat64.Contains(ip) {
		return ip, ""
	}
	for i := range special {
		if special[i].prefix.Contains(ip) {
			return ip, special[i].kind
		}
	}
	if ip.Is6() && !globals.Contains(ip) {
		return ip, reserved
	}
	return ip, ""
}

var (
	nat64      = netip.MustParsePrefix("64:ff9b::/96")
	compatible = netip.MustParsePrefix("::/96")
	translated = netip.MustParsePrefix("::ffff:0:0:0/96")
	sixToFour  = netip.MustParsePrefix("2002::/16")
	teredo     = netip.MustParsePrefix("2001::/32")
)

// embedded returns the IPv4 addresses that traffic to an IPv6 address can reach.
func embedded(ip netip.Addr) []netip.Addr {
	if !ip.Is6() {
		return nil
	}
	b := ip.As16()
	v4 := func(at int, mask uint32) netip.Addr {
		return netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, binary.BigEndian.Uint32(b[at:])^mask)))
	}
	switch {
	case ip == netip.IPv6Loopback() || ip.IsUnspecified():
	case nat64.Contains(ip), compatible.Contains(ip), translated.Contains(ip):
		return []netip.Addr{v4(12, 0)}
	case sixToFour.Contains(ip):
		return []netip.Addr{v4(2, 0)}
	case teredo.Contains(ip): // the address of the server, and the address of the client with its bits inverted
		return []netip.Addr{v4(4, 0), v4(12, ^uint32(0))}
	}
	return nil
}
