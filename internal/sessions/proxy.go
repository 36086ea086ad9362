package sessions

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/domtap/domtap/actor/apierr"
)

// Limits on the number of hosts of Proxy.Bypass, and on the bytes of one host.
const (
	MaxBypass      = 100
	MaxBypassBytes = 255
)

// Proxy is the proxy of a session. It is fixed when the session is created.
type Proxy struct {
	// Server is scheme://host:port; the scheme is http, https, socks4 or socks5.
	Server string
	// Bypass lists hosts to connect to directly, in the syntax of --proxy-bypass-list: *.example.com, 10.0.0.0/8, <local>.
	Bypass []string
	// Username and Password answer authentication requests of the proxy. If empty, such requests are not answered.
	Username, Password string
}

// Check validates the proxy. It returns the name of the invalid field and the error.
func (p *Proxy) Check() (field string, err error) {
	u, err := url.Parse(p.Server)
	switch {
	case err != nil || u.Host == "" || u.Hostname() == "" || u.User != nil || strings.Trim(u.Path, "/")+u.RawQuery+u.Fragment != "" || strings.ContainsAny(p.Server, " ;,"):
		return "server", fmt.Errorf("must be the URL of a proxy, such as http://proxy.example.com:3128, without user and path")
	case !slices.Contains([]string{"http", "https", "socks4", "socks5"}, u.Scheme):
		return "server", fmt.Errorf("must begin with http, https, socks4 or socks5")
	case p.Username != "" && strings.HasPrefix(u.Scheme, "socks"):
		return "username", fmt.Errorf("must be empty: Chromium sends no credentials to SOCKS proxies")
	case p.Username == "" && p.Password != "":
		return "username", fmt.Errorf("is required with a password")
	case len(p.Bypass) > MaxBypass:
		return "bypass", fmt.Errorf("must have at most %d entries", MaxBypass)
	}
	for i, host := range p.Bypass {
		if host == "" || len(host) > MaxBypassBytes || strings.ContainsAny(host, ";, \t\n") {
			return fmt.Sprintf("bypass[%d]", i), fmt.Errorf("must be a host, such as *.example.com, 10.0.0.0/8 or <local>")
		}
	}
	return "", nil
}

// same reports whether a client's proxy equals the proxy of the session. A client knows all fields except the password, which may be empty.
func (p *Proxy) same(has *Proxy) bool {
	return has != nil && p.Server == has.Server && p.Username == has.Username && slices.Equal(p.Bypass, has.Bypass) && (p.Password == "" || p.Password == has.Password)
}

// keepsProxy fails if settings have a different proxy from the one that the session was created with. A nil proxy keeps it.
func keepsProxy(has, wants *Proxy) error {
	if wants == nil || wants.same(has) {
		return nil
	}
	return &apierr.Error{Kind: apierr.Invalid, Field: "settings.proxy",
		Message: "a session's proxy cannot change after its creation: leave it out to keep it, or create another session"}
}
