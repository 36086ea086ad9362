package netpolicy

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
)

func mustParse(t testing.TB, text string) *Policy {
	t.Helper()
	p, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The policy public refuses exactly the addresses outside the public internet, for the stated reason.
func TestPublicRefusesWhatIsNotOfThePublicInternet(t *testing.T) {
	public := mustParse(t, "public")
	for address, want := range map[string]Kind{
		"1.1.1.1": "", "93.184.215.14": "", "100.63.255.255": "", "100.128.0.0": "", "172.15.0.1": "", "172.32.0.1": "", "198.17.0.1": "", "223.255.255.255": "",
		"2606:4700::1111": "", "2a00:1450:4001::1": "", "::ffff:1.1.1.1": "", "64:ff9b::101:101": "",
		"0.0.0.0": unspecified, "0.1.2.3": unspecified, "10.0.0.1": private, "100.64.0.1": "shared (carrier-grade NAT)", "100.100.100.200": "shared (carrier-grade NAT)",
		"127.0.0.1": "loopback", "127.255.255.254": "loopback", "169.254.169.254": linkLocal, "172.16.0.1": private, "172.31.255.255": private,
		"192.0.0.192": reserved, "192.0.2.1": documentation, "192.88.99.1": reserved, "192.168.1.1": private, "198.18.0.1": "benchmarking",
		"198.51.100.1": documentation, "203.0.113.1": documentation, "224.0.0.1": multicast, "239.255.255.250": multicast, "240.0.0.1": reserved,
		"255.255.255.255": "broadcast", "168.63.129.16": platform,
		"::": unspecified, "::1": "loopback", "::127.0.0.1": "loopback", "::8.8.8.8": reserved, "::ffff:127.0.0.1": "loopback", "::ffff:10.0.0.1": private, "::ffff:0:127.0.0.1": "loopback",
		"64:ff9b::7f00:1": "loopback", "64:ff9b::a9fe:a9fe": linkLocal, "64:ff9b:1::1": private, "100::1": reserved, "2001::1": unspecified,
		"2001:0:101:101:0:0:f5ff:fffe": private, "2001:db8::1": documentation, "2002:7f00:1::1": "loopback", "2002:a00:1::": private, "2002:101:101::": "",
		"3fff::1": documentation, "5f00::1": reserved, "fc00::1": private, "fd00:ec2::254": metadata, "fd12::1": private,
		"fe80::1": linkLocal, "fe80::1%eth0": linkLocal, "2606:4700::1%eth0": linkLocal, "fec0::1": private, "ff02::1": multicast, "4000::1": reserved,
	} {
		ip := netip.MustParseAddr(address)
		if _, kind := Classify(ip); kind != want {
			t.Errorf("%s is %q, want %q", address, kind, want)
		}
		err := Grant{policy: public, target: Target{Host: "h.example"}}.Address(netip.AddrPortFrom(ip, 80))
		if (err == nil) != (want == "") {
			t.Errorf("public, %s: %v", address, err)
		}
	}
}

func TestRules(t *testing.T) {
	for _, c := range []struct {
		policy, url string
		// at holds the addresses of the host. If empty, the host is not looked up.
		at string
		// rule is the rule that refuses the host. It is empty if the host is allowed.
		rule string
	}{
		{"open", "http://127.0.0.1/", "", ""},
		{"deny=127.0.0.1", "http://127.0.0.1/", "", "deny=127.0.0.1"},
		{"deny=127.0.0.1", "http://other.example/", "127.0.0.1", "deny=127.0.0.1"},
		{"deny=127.0.0.1", "http://[::ffff:127.0.0.1]/", "", "deny=127.0.0.1"},
		{"deny=127.0.0.1", "http://[64:ff9b::7f00:1]/", "", "deny=127.0.0.1"},
		{"public", "http://example.com/", "93.184.215.14", ""},
		{"public", "http://example.com/", "10.0.0.1", "public"},
		{"public", "http://10.0.0.1/", "", "public"},
		{"public", "http://169.254.169.254/latest/meta-data/", "", "public"},
		{"public", "data:text/html,x", "", ""},
		{"public", "about:blank", "", ""},
		{"public,allow=intranet.example:8443", "https://intranet.example:8443/", "10.0.0.1", ""},
		{"public,allow=intranet.example:8443", "https://INTRANET.example.:8443/", "10.0.0.1", ""},
		{"public,allow=intranet.example:8443", "https://intranet.example/", "10.0.0.1", "public"},
		{"public,allow=intranet.example", "https://a.intranet.example/", "10.0.0.1", "public"},
		{"public,allow=*.corp.example", "https://a.b.corp.example/", "192.168.3.4", ""},
		{"public,allow=*.corp.example", "https://corp.example/", "192.168.3.4", "public"},
		{"public,allow=*.corp.example", "https://evilcorp.example/", "192.168.3.4", "public"},
		{"public,allow=*.corp.example", "https://a.corp.example/", "169.254.169.254", "public"},
		{"public,allow=a.example,allow=169.254.169.254:80", "http://a.example/", "169.254.169.254", ""},
		{"public,allow=10.1.0.0/16", "http://10.1.2.3/", "", ""},
		{"public,allow=10.1.0.0/16", "http://a.example/", "10.1.2.3", ""},
		{"public,allow=10.1.0.0/16", "http://10.2.2.3/", "", "public"},
		{"public,allow=10.1.0.0/16,deny=10.1.1.0/24", "http://10.1.1.3/", "", "deny=10.1.1.0/24"},
		{"public,allow=10.1.0.0/16:80-90", "http://10.1.1.3:90/", "", ""},
		{"public,allow=10.1.0.0/16:80-90", "http://10.1.1.3:91/", "", "public"},
		{"public,allow=[fd00::/8]:443", "https://[fd00::1]/", "", ""},
		{"public,allow=fd00::/8", "https://[fd00::1]:8443/", "", ""},
		{"public,deny=*.evil.example", "https://www.evil.example/", "1.1.1.1", "deny=*.evil.example"},
		{"public,deny=*.evil.example", "https://evil.example/", "1.1.1.1", ""},
		{"public,deny=*:25", "http://example.com:25/", "1.1.1.1", "deny=*:25"},
		{"public,deny=*:25", "http://1.1.1.1:25/", "", "deny=*:25"},
		{"public,deny=münchen.example", "http://xn--mnchen-3ya.example/", "1.1.1.1", "deny=münchen.example"},
		{"public,deny=faß.example", "http://xn--fa-hia.example/", "1.1.1.1", "deny=faß.example"},
		{"schemes=https", "http://example.com/", "1.1.1.1", "schemes=https"},
		{"schemes=https", "https://example.com/", "1.1.1.1", ""},
		{"schemes=https", "data:text/html,x", "", "schemes=https"},
		{"schemes=https", "about:blank", "", ""},
		{"schemes=http+https", "data:,x", "", "schemes=http+https"},
		{"closed", "http://example.com/", "1.1.1.1", "closed"},
		{"closed", "http://1.1.1.1/", "", "closed"},
		{"closed,allow=example.com", "http://example.com/", "10.0.0.1", ""},
		{"closed,allow=example.com", "http://other.example/", "1.1.1.1", "closed"},
		{"closed,allow=1.1.1.0/24", "http://other.example/", "1.1.1.1", ""},
		{"closed,allow=1.1.1.0/24", "http://other.example/", "1.1.2.1", "closed"},
		{"closed,allow=0x7f.1", "http://127.0.0.1/", "", ""},
		{"# none\npublic # the internet\nallow=a.example\n\n  deny=b.a.example\n", "http://a.example/", "10.0.0.1", ""},
	} {
		p := mustParse(t, c.policy)
		target, err := TargetOf(c.url)
		if err != nil {
			t.Errorf("%s: %v", c.url, err)
			continue
		}
		err = p.URL(c.url)
		if err == nil && c.at != "" {
			g, nameErr := p.Name(target)
			if err = nameErr; err == nil {
				err = g.Address(netip.AddrPortFrom(netip.MustParseAddr(c.at), target.Port))
			}
		}
		var refusal *Refusal
		switch {
		case c.rule == "" && err != nil, c.rule != "" && err == nil:
			t.Errorf("%s, %s at %s: got %v, want rule %q", c.policy, c.url, c.at, err, c.rule)
		case err == nil:
		case !errors.As(err, &refusal) || refusal.Rule != c.rule || refusal.Why == "" || refusal.Host != target.Host && target.Port != 0 && !strings.HasPrefix(c.rule, "schemes"):
			t.Errorf("%s, %s at %s: got %#v, want rule %q", c.policy, c.url, c.at, err, c.rule)
		}
	}
}

func TestRefusalNamesRuleAndHost(t *testing.T) {
	for text, want := range map[string]string{
		"http://10.0.0.1/":      "the URL policy refuses this: 10.0.0.1 is a private address (rule public)",
		"http://0x7f.1:8080/":   "the URL policy refuses this: 127.0.0.1 is a loopback address (rule public)",
		"http://0/":             "the URL policy refuses this: 0.0.0.0 is an unspecified address (rule public)",
		"http://a.evil.example": "the URL policy refuses this: a.evil.example:80 is denied (rule deny=*.evil.example)",
		"http://1.2.3.4:25":     "the URL policy refuses this: 1.2.3.4:25 is denied (rule deny=1.2.3.4)",
	} {
		err := mustParse(t, "public,deny=*.evil.example,deny=1.2.3.4").URL(text)
		if err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
	g := Grant{policy: mustParse(t, "public"), target: Target{Host: "a.example", Port: 80}}
	err := g.Address(netip.MustParseAddrPort("127.0.0.1:80"))
	if want := "the URL policy refuses this: a.example is at 127.0.0.1, which is a loopback address (rule public)"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestWrongPolicies(t *testing.T) {
	for text, want := range map[string]string{
		"pubic":                       "unknown rule",
		"public,closed":               "leave one out",
		"allow=example.com":           "begin with public or closed",
		"public,allow=*":              "only deny accepts",
		"public,allow=*:443":          "only deny accepts",
		"public,allow=":               "must name a host",
		"public,deny=https://x/":      "not a URL",
		"public,deny=a.*.example":     "before the first dot",
		"public,deny=*.*.example":     "before the first dot",
		"public,deny=*.10.0.0.1":      "use a range",
		"public,deny=a.example:":      "missing port",
		"public,deny=a.example:99999": "invalid port",
		"public,deny=a.example:9-8":   "invalid port",
		"public,deny=10.0.0.1/8":      "did you mean 10.0.0.0/8",
		"public,deny=10.0.0.0/33":     "invalid range",
		"public,deny=::ffff:0:0/90":   "ranges of IPv4 addresses",
		"public,deny=[::1":            "write IPv6 addresses",
		"public,deny=[::1]443":        "write IPv6 addresses",
		"public,deny=1.2.3.4.5":       "must name a host",
		"public,deny=a b":             "must name a host",
		"schemes=ftp":                 "schemes are http, https, data",
		"public,permit=x":             "unknown rule",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
	if _, err := Parse("public" + strings.Repeat(",deny=a.example", maxRules+1)); err == nil {
		t.Error("any number of rules is taken")
	}
}

// A host that is not dialed is allowed by its name. If all other hosts are refused, it is refused too.
func TestHostsThatAreNotResolved(t *testing.T) {
	for text, hosts := range map[string]map[string]bool{
		"closed,allow=10.0.0.0/8,allow=*.example.com": {"www.example.com": true, "a.example": false, "10.1.2.3": true},
		"public,deny=a.example":                       {"b.example": true},
		"open":                                        {"a.example": true, "127.0.0.1": true},
	} {
		p := mustParse(t, text)
		for host, want := range hosts {
			g, err := p.Name(Target{Scheme: "https", Host: host, Port: 443})
			if err == nil {
				err = g.Unresolved()
			}
			if (err == nil) != want {
				t.Errorf("%s: %s: %v", text, host, err)
			}
		}
	}
}

func TestOpenPolicies(t *testing.T) {
	var none *Policy
	for _, p := range []*Policy{none, {}, mustParse(t, ""), mustParse(t, "open"), mustParse(t, "\n# nothing\n")} {
		if !p.IsOpen() || p.URL("http://127.0.0.1/") != nil || p.String() != "open" {
			t.Errorf("%q is not open", p)
		}
		if g, err := p.Name(Target{Scheme: "http", Host: "127.0.0.1", Port: 80}); err != nil || g.Address(netip.MustParseAddrPort("127.0.0.1:80")) != nil {
			t.Errorf("%q refuses loopback", p)
		}
	}
	for _, text := range []string{"public", "closed", "deny=a.example", "schemes=https"} {
		if mustParse(t, text).IsOpen() {
			t.Errorf("%s is open", text)
		}
	}
}

// odd maps unusual spellings of URLs to their meaning in browsers.
var odd = map[string]string{
	"http://example.com":                "example.com:80",
	"HTTP://EXAMPLE.COM:80/":            "example.com:80",
	"https://example.com./x":            "example.com:443",
	"wss://example.com/":                "example.com:443",
	"ws://example.com:8080/":            "example.com:8080",
	" \thttp://exa\nmple.com/":          "example.com:80",
	`http:\\example.com\@other.example`: "example.com:80",
	"http:/example.com/":                "example.com:80",
	"http:example.com/":                 "example.com:80",
	"http:////example.com/":             "example.com:80",
	"http://user:pass@example.com/":     "example.com:80",
	"http://other.example@example.com/": "example.com:80",
	"http://a@b@example.com/":           "example.com:80",
	"http://example.com?@other.example": "example.com:80",
	"http://example.com#@other.example": "example.com:80",
	"http://example.com:/":              "example.com:80",
	"http://exa%6dple.com/":             "example.com:80",
	"http://%65xample.com/":             "example.com:80",
	"http://ｅｘａｍｐｌｅ.com/":               "example.com:80",
	"http://example。com/":               "example.com:80",
	"http://faß.de/":                    "xn--fa-hia.de:80",
	"http://BÜCHER.example/":            "xn--bcher-kva.example:80",
	"http://0x7f.1/":                    "127.0.0.1:80",
	"http://0x7f000001/":                "127.0.0.1:80",
	"http://2130706433/":                "127.0.0.1:80",
	"http://017700000001/":              "127.0.0.1:80",
	"http://127.1/":                     "127.0.0.1:80",
	"http://127.0.0.1./":                "127.0.0.1:80",
	"http://127.0.0.01/":                "127.0.0.1:80",
	"http://①②⑦.0.0.1/":                 "127.0.0.1:80",
	"http://%31%32%37.0.0.1/":           "127.0.0.1:80",
	"http://0/":                         "0.0.0.0:80",
	"http://0x/":                        "0.0.0.0:80",
	"http://[::1]:8080/":                "[::1]:8080",
	"http://[0:0:0:0:0:0:0:1]/":         "[::1]:80",
	"http://[::127.0.0.1]/":             "[::7f00:1]:80",
	"http://[FD00::A]/":                 "[fd00::a]:80",
	"http://a_b.example/":               "a_b.example:80",
	"http://-a-.example/":               "-a-.example:80",
	"http://1.2.3.4.example/":           "1.2.3.4.example:80",
	"http://256.0.0.1/":                 "",
	"http://1.2.3.4.5/":                 "",
	"http://1.2.3.08/":                  "",
	"http://a.1/":                       "",
	"http://a.0x1/":                     "",
	"http://4294967296/":                "",
	"http://[::1/":                      "",
	"http://[::1%25eth0]/":              "",
	"http://a%00b/":                     "",
	"http://a%2fb/":                     "",
	"http://a b/":                       "",
	"http://a<b/":                       "",
	"http:///":                          "",
	"http://:80/":                       "",
	"http://a:99999/":                   "",
	"http://a:8a/":                      "",
	"http://%zz/":                       "",
	"//example.com/":                    "",
	"example.com":                       "",
	"":                                  "",
}

func TestURLsAreReadAsBrowsersReadThem(t *testing.T) {
	for text, want := range odd {
		target, err := TargetOf(text)
		switch {
		case want == "" && err == nil:
			t.Errorf("%q is taken for %s", text, target.Authority())
		case want != "" && (err != nil || target.Authority() != want):
			t.Errorf("%q is %s (%v), want %s", text, target.Authority(), err, want)
		}
	}
}

func TestTargetAt(t *testing.T) {
	for text, want := range map[string]string{
		"example.com:443": "example.com:443", "EXAMPLE.com.:80": "example.com:80", "[::1]:443": "[::1]:443", "0x7f.1:1": "127.0.0.1:1",
		"example.com": "", "example.com:": "", ":443": "", "[::1]": "", "a@b:1": "", "": "",
	} {
		target, err := TargetAt("https", text)
		if got := target.Authority(); (want == "") != (err != nil) || want != "" && got != want {
			t.Errorf("%q is %s (%v), want %s", text, got, err, want)
		}
	}
}
