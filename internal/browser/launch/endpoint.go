package launch

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// endpoint finds the websocket address of a browser that listens on a debugging port.
func endpoint(ctx context.Context, address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "", fmt.Errorf("%q is not an address of a browser: use http://host:port or ws://host:port/devtools/browser/…", address)
	}
	if strings.HasPrefix(u.Scheme, "ws") && strings.Contains(u.Path, "/devtools/") {
		return address, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	scheme := "http"
	if u.Scheme == "https" || u.Scheme == "wss" {
		scheme = "https"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+u.Host+"/json/version", nil)
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var v struct {
		WebSocketDebuggerURL string `json:"webSocketDebuggerUrl"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<16)).Decode(&v); err != nil || v.WebSocketDebuggerURL == "" {
		return "", fmt.Errorf("%s does not answer like a browser", u.Host)
	}
	return v.WebSocketDebuggerURL, nil
}
