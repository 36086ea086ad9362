// Package guard keeps out of an HTTP server what a page that a user happens to visit could make a browser send there. Every
// server of domtap stands behind it: a page can reach loopback, those in domtap's own tabs too.
//
// What it guarantees:
//
//   - A request must name this server in its Host header: an IP address, localhost, or a name that was configured. Another name that was
//     made to lead here (DNS rebinding) is refused. Over TLS the certificate sees to that.
//   - A request that a page of another origin sends is refused, unless the origin was configured: one that names another origin, and one
//     of which the browser says that another site began it (images, scripts, forms, navigations of frames).
//
// It is the first of two walls: what it lets through still has to show a token, where there is one.
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

	"github.com/domtap/domtap/internal/server/listen"
)

// Config says what a Guard lets through. The zero value: requests to this machine, from no other origin than its own.
type Config struct {
	// TLS says that the connections are encrypted.
	TLS bool
	// Hosts are the names, besides localhost and IP addresses, by which clients may call the server.
	Hosts []string
	// Origins are the other origins whose pages may call, such as "https://app.example".
	Origins []string
	// Loopback says that the server is for this machine alone: other addresses than loopback are no names of it.
	Loopback bool
	// AnyName says that the server is reached by names that nobody configured, such as those of a cluster. It is for what
	// other machines can read anyway.
	AnyName bool
	// NoPages says that nothing on the server is for people: also a link from another site leads nowhere.
	NoPages bool
	// Logger is told of requests that are refused. Nil: no log.
	Logger *slog.Logger
}

// Guard checks requests. It is immutable.
type Guard struct {
	cfg    Config
	scheme string
	hosts  []string
}

// New makes a guard. It fails for origins that are none.
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

// CheckOrigin returns an error for what is no origin as browsers write it: scheme://host[:port] in lower case.
func CheckOrigin(origin string) error {
	u, err := url.Parse(origin)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || origin != strings.ToLower(u.Scheme+"://"+u.Host) {
		return fmt.Errorf("%q is no origin: write it as browsers do, such as https://app.example or http://localhost:5173", origin)
	}
	return nil
}

// Around lets through to next what the rules allow, and answers the questions that browsers ask before calls of other origins.
func (g *Guard) Around(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !g.names(r.Host) {
			g.refuse(w, r, "the request is for another host than this one: use localhost, the address that the daemon listens on, "+
				"or a name that it was given with --web-host")
			return
		}
		if g.foreign(r) && !g.fromHere(r) {
			if !g.invited(r) {
				g.refuse(w, r, "a page of another origin sent the request: name the origin with --web-origin to let it call")
				return
			}
			invite(w.Header(), r)
		}
		if r.Method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// names says whether a Host header names this server. A name that somebody else's DNS made to lead here is none of
// ours; an IP address cannot be made to lead elsewhere. Over TLS the client has compared the name with the
// certificate.
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

// foreign says whether a request may come from a page of another origin: it names an origin, or the browser says
// that another site began it. Opening the page by a link is not meant: that reads nothing for whoever made the link.
func (g *Guard) foreign(r *http.Request) bool {
	if len(r.Header.Values("Origin")) > 0 {
		return true
	}
	site := r.Header.Get("Sec-Fetch-Site")
	return (site == "cross-site" || site == "same-site") && (g.cfg.NoPages || r.Header.Get("Sec-Fetch-Mode") != "navigate" ||
		r.Header.Get("Sec-Fetch-Dest") != "document" || r.Method != http.MethodGet)
}

func (g *Guard) fromHere(r *http.Request) bool {
	return slices.Equal(r.Header.Values("Origin"), []string{g.scheme + "://" + r.Host})
}

// invited says whether the request comes from an origin that may call.
func (g *Guard) invited(r *http.Request) bool {
	origin := r.Header.Values("Origin")
	return len(origin) == 1 && slices.Contains(g.cfg.Origins, origin[0])
}

// invite answers what browsers ask before they let a page of another origin call.
func invite(h http.Header, r *http.Request) {
	h.Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Expose-Headers", "Grpc-Status, Grpc-Message, Grpc-Status-Details-Bin")
	if r.Method != http.MethodOptions {
		return
	}
	h.Set("Access-Control-Allow-Methods", "POST")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Connect-Protocol-Version, Connect-Timeout-Ms, "+
		"Grpc-Timeout, X-Grpc-Web, X-User-Agent")
	h.Set("Access-Control-Max-Age", "7200")
	if r.Header.Get("Access-Control-Request-Private-Network") == "true" {
		h.Set("Access-Control-Allow-Private-Network", "true")
	}
}

// refuse answers and logs what is refused. The log has neither path nor header, which a stranger chose.
func (g *Guard) refuse(w http.ResponseWriter, r *http.Request, why string) {
	g.cfg.Logger.WarnContext(r.Context(), "refused a request", "why", why, "peer", r.RemoteAddr)
	Refuse(w, http.StatusForbidden, "permission_denied", why)
}

// HasToken reports whether a request brings a token, as a bearer token, in a time that tells nothing of it. Nobody has an empty one.
func HasToken(r *http.Request, token string) bool {
	got, want := sha256.Sum256([]byte(r.Header.Get("Authorization"))), sha256.Sum256([]byte("Bearer "+token))
	return token != "" && subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// Refuse answers as the Connect protocol writes an error.
func Refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	// An error means that the client is gone.
	_ = json.NewEncoder(w).Encode(map[string]string{"code": code, "message": message})
}
