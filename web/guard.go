package web

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// guard keeps out what a page that the user happens to visit could make a browser send here.
type guard struct {
	scheme  string
	hosts   []string
	origins []string
	logger  *slog.Logger
}

func newGuard(cfg Config) (*guard, error) {
	g := &guard{scheme: "http", origins: cfg.Origins, logger: cfg.Logger}
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

// around lets through to next what the rules allow.
func (g *guard) around(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !g.names(r.Host) {
			g.refuse(w, r, "the request is for another host than this one: use localhost, the address that the daemon listens on, "+
				"or a name that it was given with --web-host")
			return
		}
		if foreign(r) && !g.fromHere(r) {
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
func (g *guard) names(host string) bool {
	if g.scheme == "https" {
		return true
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(host)
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil || host == "localhost" || slices.Contains(g.hosts, host)
}

// foreign says whether a request may come from a page of another origin: it names an origin, or the browser says
// that another site began it. Opening the page by a link is not meant: that reads nothing for whoever made the link.
func foreign(r *http.Request) bool {
	if len(r.Header.Values("Origin")) > 0 {
		return true
	}
	site := r.Header.Get("Sec-Fetch-Site")
	return (site == "cross-site" || site == "same-site") && r.Header.Get("Sec-Fetch-Mode") != "navigate"
}

func (g *guard) fromHere(r *http.Request) bool {
	return slices.Equal(r.Header.Values("Origin"), []string{g.scheme + "://" + r.Host})
}

// invited says whether the request comes from an origin that may call.
func (g *guard) invited(r *http.Request) bool {
	origin := r.Header.Values("Origin")
	return len(origin) == 1 && slices.Contains(g.origins, origin[0])
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
func (g *guard) refuse(w http.ResponseWriter, r *http.Request, why string) {
	g.logger.WarnContext(r.Context(), "refused a request of the web", "why", why, "peer", r.RemoteAddr)
	refuse(w, http.StatusForbidden, "permission_denied", why)
}

// refuse answers as the Connect protocol writes an error.
func refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	// An error means that the client is gone.
	_ = json.NewEncoder(w).Encode(map[string]string{"code": code, "message": message})
}
