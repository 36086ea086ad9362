package cli

import "testing"

func TestURLsAreCompleted(t *testing.T) {
	for typed, want := range map[string]string{
		"":                       "",
		"example.com":            "https://example.com",
		"example.com:8443/x?y=z": "https://example.com:8443/x?y=z",
		"HTTP://example.com":     "HTTP://example.com",
		"localhost":              "http://localhost",
		"localhost:8080":         "http://localhost:8080",
		"127.0.0.1:80/a":         "http://127.0.0.1:80/a",
		"[::1]:80":               "http://[::1]:80",
		"localhost.example":      "https://localhost.example",
		"about:blank":            "about:blank",
		"data:text/html,1:2":     "data:text/html,1:2",
		"file:///etc/passwd":     "file:///etc/passwd",
	} {
		if got := CompleteURL(typed); got != want {
			t.Errorf("CompleteURL(%q) = %q, want %q", typed, got, want)
		}
	}
}
