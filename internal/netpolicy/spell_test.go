package netpolicy

import (
	"fmt"
	"net/netip"
	"testing"
)

// spellings returns hosts of URLs that lead to an IPv4 address.
func spellings(ip netip.Addr) []string {
	b := ip.As4()
	n := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
	return []string{
		ip.String(), ip.String() + ".",
		fmt.Sprintf("%d", n), fmt.Sprintf("0x%x", n), fmt.Sprintf("0%o", n),
		fmt.Sprintf("%d.%d", b[0], n&0xffffff), fmt.Sprintf("0x%X.%d.0%o", b[0], b[1], n&0xffff),
		fmt.Sprintf("%%3%c%s", ip.String()[0], ip.String()[1:]),
		fmt.Sprintf("[::ffff:%s]", ip), fmt.Sprintf("[0:0:0:0:0:ffff:%x:%x]", n>>16, n&0xffff),
		fmt.Sprintf("[64:ff9b::%x:%x]", n>>16, n&0xffff), fmt.Sprintf("[2002:%x:%x::1]", n>>16, n&0xffff),
	}
}

func BenchmarkDecision(b *testing.B) {
	p := mustParse(b, "public,allow=intranet.example:8443,deny=*.evil.example,deny=*:25")
	b.Run("URL", func(b *testing.B) {
		for b.Loop() {
			_ = p.URL("https://www.example.com/some/path?query")
		}
	})
	b.Run("nameAndAddress", func(b *testing.B) {
		at := netip.MustParseAddrPort("93.184.215.14:443")
		for b.Loop() {
			g, _ := p.Name(Target{Scheme: "https", Host: "www.example.com", Port: 443})
			_ = g.Address(at)
		}
	})
}
