// Package guard protects HTTP servers on loopback against web pages. Any page that a user visits, and any page in domtap's own tabs, can
// make a browser send requests to them. All HTTP servers of domtap use it.
//
// Guarantees:
//
//   - A request must name this server in its Host header: an IP address, localhost, or a configured name. Other
//     names (DNS rebinding) are refused. Over TLS, the certificate ensures the name.
//   - A request from a page of another origin is refused, unless the origin is configured. Such a request has another Origin, or
//     Sec-Fetch-Site attributes it to another site (images, scripts, forms, navigations of frames).
//
// The guard is the first of two checks. A request that passes still needs a token, if the server requires one.
//
// The package does not use net/http.CrossOriginProtection, for four reasons. CrossOriginProtection lets every GET, HEAD and OPTIONS pass,
// so images, scripts and frames of other sites would reach the live page, the metrics and the streams of MCP (e2e/origins tests such
// attacks). It does not check Host, so DNS rebinding passes as the same origin. It compares Origin with the host without the scheme. It
// does not answer preflights of configured origins. Its rule for unsafe methods is part of this package's rule, so using it would add a
// second rule and replace none.
package guard

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/domtap/domtap/internal/server/rpc/listen"
)

// Config defines which requests pass a Guard. The zero value accepts only requests to this machine from its own origin.
type Config struct {
	// TLS reports that the connections are encrypted.
	TLS bool
	// Hosts lists the names, besides localhost and IP addresses, by which clients may address the server.
	Hosts []string
	// Origins lists the other origins whose pages may call, such as "https://app.example".
	Origins []string
	// Loopback restricts the server to this machine: of all IP addresses, Host may contain only loopback addresses.
	Loopback bool
	// AnyName accepts every Host, for servers whose names are not configured, such as the nodes of a cluster. Use it only for content that
	// other machines may read.
	AnyName bool
	// NoPages refuses links from other sites too, for servers without pages for people.
	NoPages bool
	// Logger receives the refused requests. If nil, nothing is logged.
	Logger *slog.Logger
}

// Guard checks requests. It is immutable.
type Guard struct {
	cfg    Config
	scheme string
	hosts  []string
}

// New returns a guard. It returns an error for invalid origins.
func New(cfg Config) (*Guard, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	g := &Guard{cfg: cfg, scheme: "http"}
	if cfg.TLS {
		g.scheme = "https"
	}
	for _, host := range cfg.Hosts {
		g.hosts = append(g.hosts, strings.ToLower(host))
	}
	for _, origin := range cfg.Origins {
		if err := CheckOrigin(origin); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// CheckOrigin returns an error unless origin has the form that browsers use: scheme://host[:port] in lower case.
func CheckOrigin(origin string) error {
	u, err := url.Parse(origin)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || origin != strings.ToLower(u.Scheme+"://"+u.Host) {
		return fmt.Errorf("invalid origin %q: write it as browsers do, such as https://app.example or http://localhost:5173", origin)
	}
	return nil
}

// Wrap returns a handler that passes allowed requests to next, and answers the preflights of configured origins.
func (g *Guard) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !g.names(r.Host) {
			g.refuse(w, r, "the Host header names another host: use localhost, the address that the daemon listens on, "+
				"or a name that is configured with --web-host of domtap serve")
			return
		}
		if g.isCrossOrigin(r) && !g.isSameOrigin(r) {
			if !g.configured(r) {
				g.refuse(w, r, "a page of another origin sent the request: to allow it, name the origin with --web-origin of domtap serve")
				return
			}
			allowOrigin(w.Header(), r)
		}
		if r.Method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// names reports whether a Host header names this server. Anyone can point a DNS name to this machine, but an IP address cannot be
// redirected. Over TLS, the client has checked the name against the certificate.
func (g *Guard) names(host string) bool {
	if g.scheme == "https" || g.cfg.AnyName {
		return true
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(host)
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && !g.cfg.Loopback || listen.IsLoopback(host) || slices.Contains(g.hosts, host)
}

// isCrossOrigin reports whether a request may come from a page of another origin. Such a request has an Origin, or the browser attributes
// it to another site. Opening the live page through a link does not count, because the other site reads nothing.
func (g *Guard) isCrossOrigin(r *http.Request) bool {
	if len(r.Header.Values("Origin")) > 0 {
		return true
	}
	site := r.Header.Get("Sec-Fetch-Site")
	return (site == "cross-site" || site == "same-site") && (g.cfg.NoPages || r.Header.Get("Sec-Fetch-Mode") != "navigate" ||
		r.Header.Get("Sec-Fetch-Dest") != "document" || r.Method != http.MethodGet)
}

func (g *Guard) isSameOrigin(r *http.Request) bool {
	return slices.Equal(r.Header.Values("Origin"), []string{g.scheme + "://" + r.Host})
}

// configured reports whether the request comes from a configured origin.
func (g *Guard) configured(r *http.Request) bool {
	origin := r.Header.Values("Origin")
	return len(origin) == 1 && slices.Contains(g.cfg.Origins, origin[0])
}

// allowOrigin sets the CORS headers that allow a page of another origin to call.
func allowOrigin(h http.Header, r *http.Request) {
	h.Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Expose-Headers", "Grpc-Status, Grpc-Message, Grpc-Status-Details-Bin")
	if r.Method != http.MethodOptions {
		return
	}
	h.Set("Access-Control-Allow-Methods", "POST")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Connect-Protocol-Version, Connect-Timeout-Ms, "+
		"Grpc-Timeout, X-Grpc-Web, X-User-Agent, Domtap-Client-Id")
	h.Set("Access-Control-Max-Age", "7200")
	if r.Header.Get("Access-Control-Request-Private-Network") == "true" {
		h.Set("Access-Control-Allow-Private-Network", "true")
	}
}

// refuse answers and logs a refused request. The log contains neither the path nor headers, because the sender chose them.
func (g *Guard) refuse(w http.ResponseWriter, r *http.Request, why string) {
	g.cfg.Logger.WarnContext(r.Context(), "refused a request", "why", why, "peer", r.RemoteAddr)
	Refuse(w, http.StatusForbidden, "permission_denied", why)
}

// HasToken reports whether a request contains the bearer token. It compares in constant time. An empty token matches nothing.
func HasToken(r *http.Request, token string) bool {
	got, want := sha256.Sum256([]byte(r.Header.Get("Authorization"))), sha256.Sum256([]byte("Bearer "+token))
	return token != "" && subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// Refuse answers with an error in the form of the Connect protocol.
func Refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	// an error means that the client has disconnected
	_ = json.NewEncoder(w).Encode(map[string]string{"code": code, "message": message})
}
