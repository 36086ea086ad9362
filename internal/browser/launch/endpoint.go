package launch

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// endpoint is the endpoint of a remote browser.
type endpoint struct {
	url *url.URL
	// search finds the browser when a connection is made. It is nil if the address names the browser.
	search *search
	// header is sent with each request, including the WebSocket handshake.
	header http.Header
	// secrets must not appear in errors: values of headers and of the query, and the password.
	secrets []string
}

// newEndpoint parses an address: http://host:port, ws://host:port/path, or the same with TLS. It turns a user and a password in the
// address into a header. It rejects headers that would be sent unencrypted over a network.
func newEndpoint(address string, header http.Header) (*endpoint, error) {
	if choice, ok := SearchedRemote(address); ok {
		return &endpoint{url: &url.URL{Opaque: address}, search: newSearch(choice)}, nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "ws" && u.Scheme != "wss" {
		return nil, errors.New("it is not the address of a browser: use auto, http://host:port, ws://host:port/devtools/browser/…, or the wss:// URL of a service")
	}
	r := &endpoint{url: u, header: maps.Clone(header)}
	if r.header == nil {
		r.header = http.Header{}
	}
	if u.User != nil {
		password, _ := u.User.Password()
		encoded := base64.StdEncoding.EncodeToString([]byte(u.User.Username() + ":" + password))
		r.header.Set("Authorization", "Basic "+encoded)
		r.secrets = append(r.secrets, password, encoded)
		u.User = nil
	}
	for _, values := range header {
		for _, value := range values {
			_, token, _ := strings.Cut(value, " ")
			r.secrets = append(r.secrets, value, token)
		}
	}
	for _, values := range u.Query() {
		for _, value := range values {
			r.secrets = append(r.secrets, value, url.QueryEscape(value))
		}
	}
	if len(r.header) > 0 && !r.secure() && !isLoopback(u.Hostname()) {
		return nil, fmt.Errorf("headers and passwords are sent to %s only with TLS: use wss:// or https://", u.Host)
	}
	return r, nil
}

func (r *endpoint) secure() bool { return r.url.Scheme == "wss" || r.url.Scheme == "https" }

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// name returns the address without parts that may be secret.
func (r *endpoint) name() string {
	if r.search != nil {
		return r.url.Opaque
	}
	shown := *r.url
	if shown.RawQuery != "" {
		shown.RawQuery = "***"
	}
	return shown.String()
}

// hide replaces the secrets in an error's text. The result cannot be unwrapped.
func (r *endpoint) hide(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	for _, secret := range r.secrets {
		if len(secret) > 3 {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return errors.New(text)
}

// isSocket reports whether the address is the WebSocket URL itself, and not the address of a server that reports it.
func (r *endpoint) isSocket() bool {
	return strings.HasPrefix(r.url.Scheme, "ws") && (strings.Trim(r.url.Path, "/") != "" || r.url.RawQuery != "")
}

// socket returns the browser's WebSocket URL. If a server at a bare ws:// or wss:// address does not report one, that address is the URL.
func (r *endpoint) socket(ctx context.Context) (string, error) {
	if r.search != nil {
		return r.search.socket(ctx)
	}
	if r.isSocket() {
		return r.url.String(), nil
	}
	found, err := r.ask(ctx)
	if err != nil && strings.HasPrefix(r.url.Scheme, "ws") && ctx.Err() == nil {
		return r.url.String(), nil
	}
	return found, err
}

// askLimit bounds the request for the WebSocket URL.
const askLimit = 10 * time.Second

// ask requests the WebSocket URL from the server, at /json/version.
func (r *endpoint) ask(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	version := url.URL{Scheme: "http", Host: r.url.Host, Path: "/json/version", RawQuery: r.url.RawQuery}
	if r.secure() {
		version.Scheme = "https"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, version.String(), nil)
	if err != nil {
		return "", err
	}
	req.Header = r.header.Clone()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }} // a redirect would forward the headers
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var v struct {
		WebSocketDebuggerURL string `json:"webSocketDebuggerUrl"`
	}
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s answered %s", r.url.Host, resp.Status)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<16)).Decode(&v); err != nil || v.WebSocketDebuggerURL == "" {
		return "", fmt.Errorf("%s does not answer like a browser", r.url.Host)
	}
	return r.fixScheme(v.WebSocketDebuggerURL)
}

// fixScheme corrects the WebSocket URL that the server reports. A browser behind a TLS proxy reports ws instead of wss.
func (r *endpoint) fixScheme(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "", fmt.Errorf("%s returned an invalid address", r.url.Host)
	}
	if r.secure() {
		u.Scheme = "wss"
	}
	if len(r.header) > 0 {
		u.Host = r.url.Host // the headers are meant for the configured server only
	}
	return u.String(), nil
}

// RemoteName returns the address of a remote browser without parts that may be secret.
func RemoteName(address string) string {
	r, err := newEndpoint(address, nil)
	if err != nil {
		return "a remote browser"
	}
	return r.name()
}
