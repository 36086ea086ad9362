package netpolicy

import (
	"net/netip"
	"net/url"
	"testing"
)

// A parsed host parses to itself again. It is an address, or contains no character that ends a host.
func FuzzAHostIsReadAsItselfAgain(f *testing.F) {
	for text := range odd {
		f.Add(text)
	}
	f.Add("http:\xfb")
	f.Fuzz(func(t *testing.T, text string) {
		target, err := TargetOf(text)
		if err != nil || target.Host == "" {
			return
		}
		again, err := TargetAt(target.Scheme, target.Authority())
		if err != nil || again != target {
			t.Errorf("%q is %+v, and that is %+v (%v)", text, target, again, err)
		}
		u, err := url.Parse(target.Scheme + "://" + target.Authority() + "/")
		if err == nil && u.Hostname() != target.Host { // net/url accepts fewer characters
			t.Errorf("%q is %+v, which net/url takes for %v", text, target, u)
		}
	})
}

// A rule applies to every spelling of an address in the same way, so that no spelling of a denied address is allowed.
func FuzzNoSpellingOfAnAddressGetsPastARule(f *testing.F) {
	f.Add([]byte{127, 0, 0, 1}, uint8(8))
	f.Add([]byte{10, 1, 2, 3}, uint8(0))
	f.Fuzz(func(t *testing.T, b []byte, bits uint8) {
		if len(b) < 4 || bits > 32 {
			return
		}
		ip := netip.AddrFrom4([4]byte(b[:4]))
		prefix := netip.PrefixFrom(ip, int(bits)).Masked()
		p, err := Parse("open,deny=" + prefix.String())
		if err != nil {
			t.Fatal(err)
		}
		public := &Policy{base: Public}
		for _, spelled := range spellings(ip) {
			if err := p.URL("http://" + spelled + "/"); err == nil {
				t.Errorf("%s gets past deny=%s", spelled, prefix)
			}
			plain, odd := public.URL("http://"+ip.String()+"/"), public.URL("http://"+spelled+"/")
			if plain != nil && odd == nil {
				t.Errorf("%s gets past public, %s does not", spelled, ip)
			}
		}
	})
}

// The text of a parsed policy parses to an equal policy.
func FuzzAPolicyIsWrittenAsItWasRead(f *testing.F) {
	for _, text := range []string{"public,allow=a.example:80-90", "closed\nallow=[fd00::/8]:443 # x", "deny=*.evil.example,schemes=http+data", "open,deny=*:25"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(p.String())
		if err != nil || again.String() != p.String() {
			t.Errorf("%q is %q, and that is %v (%v)", text, p, again, err)
		}
	})
}
