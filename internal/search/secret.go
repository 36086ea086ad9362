package search

import (
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"strings"
)

// Secret is a key. Every way of printing it prints ***. Only Reveal returns the key.
type Secret struct{ value string }

// masked is the printed form of a Secret.
const masked = "***"

// NewSecret returns a Secret with a key.
func NewSecret(key string) Secret { return Secret{key} }

// Reveal returns the key.
func (s Secret) Reveal() string { return s.value }

// IsZero reports whether there is no key.
func (s Secret) IsZero() bool { return s.value == "" }

// Remove replaces the key in a text with ***, even if the key is escaped as in a URL.
func (s Secret) Remove(text string) string {
	if s.value == "" {
		return text
	}
	for _, form := range []string{s.value, url.QueryEscape(s.value), url.PathEscape(s.value)} {
		text = strings.ReplaceAll(text, form, masked)
	}
	return text
}

// String returns ***, or an empty string if there is no key.
func (s Secret) String() string {
	if s.value == "" {
		return ""
	}
	return masked
}

// Format prints *** for every verb, including verbs that print fields.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// LogValue logs ***.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText encodes ***.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
