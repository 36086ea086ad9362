package har

import (
	"net/url"
	"slices"
	"strings"
)

// Hidden stands in place of a value that is secret.
const Hidden = "***"

// secretWords are in the names of headers and parameters whose values are secrets.
var secretWords = []string{"auth", "token", "secret", "password", "passwd", "pwd", "session", "cookie", "credential", "signature", "api-key", "apikey", "api_key", "csrf", "xsrf", "jwt"}

// secretNames are such names as a whole: as parts of words, they are too short to mean anything.
var secretNames = []string{"key", "sig", "sid", "code", "pass", "otp", "pin", "state"}

// plainHeaders are headers that have such a word and no secret.
var plainHeaders = []string{"www-authenticate", "proxy-authenticate", "author", ":authority", "access-control-allow-credentials"}

// IsSecretHeader reports whether the value of a header is secret by its nature: it logs somebody in, or may.
func IsSecretHeader(name string) bool {
	name = strings.ToLower(name)
	return !slices.Contains(plainHeaders, name) && hasSecretWord(name)
}

// IsSecretParameter reports whether the value of a parameter of a query or fragment is secret by its name.
func IsSecretParameter(name string) bool {
	name = strings.ToLower(name)
	return hasSecretWord(name) || slices.Contains(secretNames, name)
}

func hasSecretWord(name string) bool {
	return slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(name, word) })
}

// Value is the value of a header as it may be shown. Of URLs in headers, what URL replaces is replaced.
func Value(name, value string) string {
	switch {
	case IsSecretHeader(name):
		return Hidden
	case strings.Contains(value, "://"), strings.EqualFold(name, "location"):
		return URL(value)
	}
	return value
}

// URL is a URL as it may be shown: without user name and password, and without the values of secret parameters in query
// and fragment. The rest stays as it is, also of what is no URL.
func URL(address string) string {
	base, fragment, hasFragment := strings.Cut(address, "#")
	base, asked, hasQuery := strings.Cut(base, "?")
	if scheme, rest, ok := strings.Cut(base, "://"); ok {
		host, path, hasPath := strings.Cut(rest, "/")
		if at := strings.LastIndexByte(host, '@'); at >= 0 {
			host = Hidden + host[at:]
		}
		base = scheme + "://" + host
		if hasPath {
			base += "/" + path
		}
	}
	if hasQuery {
		base += "?" + parameters(asked)
	}
	if hasFragment {
		base += "#" + parameters(fragment)
	}
	return base
}

// parameters hides the secret values of a query.
func parameters(text string) string {
	if !strings.Contains(text, "=") {
		return text
	}
	parts := strings.Split(text, "&")
	for i, part := range parts {
		name, value, _ := strings.Cut(part, "=")
		plain, err := url.QueryUnescape(name[strings.LastIndexAny(name, "?/")+1:]) // fragments of applications have paths and queries
		if value != "" && (err != nil || IsSecretParameter(plain)) {
			parts[i] = name + "=" + Hidden
		}
	}
	return strings.Join(parts, "&")
}

// headers are headers as they may be shown.
func headers(all []Header) []param {
	out := make([]param, 0, len(all))
	for _, h := range all {
		out = append(out, param{h.Name, Value(h.Name, h.Value)})
	}
	return out
}

// cookies are the names of the cookies of a header.
func cookies(all []Header, header string) []cookie {
	out := []cookie{}
	for _, h := range all {
		if !strings.EqualFold(h.Name, header) {
			continue
		}
		parts := strings.Split(h.Value, ";")
		if header == "set-cookie" {
			parts = nil
			for line := range strings.SplitSeq(h.Value, "\n") { // the browser joins several by line breaks
				first, _, _ := strings.Cut(line, ";")
				parts = append(parts, first)
			}
		}
		for _, part := range parts {
			if name, _, ok := strings.Cut(strings.TrimSpace(part), "="); ok {
				out = append(out, cookie{name, Hidden})
			}
		}
	}
	return out
}

// query has the parameters of a URL.
func query(address string) []param {
	out := []param{}
	base, _, _ := strings.Cut(address, "#")
	_, asked, _ := strings.Cut(base, "?")
	for part := range strings.SplitSeq(asked, "&") {
		name, value, _ := strings.Cut(part, "=")
		if name != "" {
			out = append(out, param{unescaped(name), unescaped(value)})
		}
	}
	return out
}

func unescaped(s string) string {
	if plain, err := url.QueryUnescape(s); err == nil {
		return plain
	}
	return s
}

// find returns the first value of a header.
func find(all []Header, name string) string {
	for _, h := range all {
		if strings.EqualFold(h.Name, name) {
			return h.Value
		}
	}
	return ""
}
