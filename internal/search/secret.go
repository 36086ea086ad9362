package search

import (
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"strings"
)

// Secret is a key. It prints as ***, whatever prints it; only Reveal returns it.
type Secret struct{ value string }

// masked is what a Secret prints as.
const masked = "***"

// NewSecret makes a Secret of a key.
func NewSecret(key string) Secret { return Secret{key} }

// Reveal returns the key.
func (s Secret) Reveal() string { return s.value }

// IsZero reports whether there is no key.
func (s Secret) IsZero() bool { return s.value == "" }

// Remove returns a text with *** in the place of the key, also where the key is escaped as in a URL.
func (s Secret) Remove(text string) string {
	if s.value == "" {
		return text
	}
	for _, form := range []string{s.value, url.QueryEscape(s.value), url.PathEscape(s.value)} {
		text = strings.ReplaceAll(text, form, masked)
	}
	return text
}

// String returns ***, or nothing for no key.
func (s Secret) String() string {
	if s.value == "" {
		return ""
	}
	return masked
}

// Format prints *** for every verb, also for those that print fields.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// LogValue logs ***.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText encodes ***.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
