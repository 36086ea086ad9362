package har

import (
	"net/url"
	"slices"
	"strings"

	"github.com/domtap/domtap/internal/lazyregexp"
)

// Hidden stands in place of a value that is secret.
const Hidden = "***"

// secretWords are in the names of headers and parameters whose values are secrets.
var secretWords = []string{
	"auth", "token", "secret", "password", "passwd", "pwd", "session", "cookie", "credential", "signature", "csrf", "xsrf", "jwt", "ticket", "saml", "hmac", "assertion", "verifier",
	"api-key", "apikey", "api_key", "access-key", "accesskey", "access_key", "private_key", "subscription-key", "license_key",
}

// secretNames are such names as a whole: as parts of words, they are too short to mean anything.
var secretNames = []string{"key", "sig", "sid", "code", "pass", "otp", "totp", "pin", "state", "nonce"}

// plainCodes mark public codes, such as zip codes. Every other parameter whose name ends in "code" is secret.
var plainCodes = []string{"zip", "post", "country", "currency", "lang", "locale", "area", "region", "state", "city", "error", "status", "response", "product", "item", "qr", "bar"}

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
	return hasSecretWord(name) || slices.Contains(secretNames, name) || isSecretCode(name)
}

// isSecretCode reports whether a name in lower case ends in "code", and is not that of a code that everybody may know.
func isSecretCode(name string) bool {
	stem, is := strings.CutSuffix(name, "code")
	return is && !slices.ContainsFunc(plainCodes, func(plain string) bool { return strings.Contains(stem, plain) })
}

func hasSecretWord(name string) bool {
	return slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(name, word) })
}

// Value is the value of a header as it may be shown. What stands in it of URLs, whole or relative, is shown as URL shows it:
// headers such as Link and Refresh have several, between other words.
func Value(name, value string) string {
	if IsSecretHeader(name) {
		return Hidden
	}
	value = users().ReplaceAllString(value, "//"+Hidden+"@")
	return parametersOf().ReplaceAllStringFunc(value, func(found string) string { return found[:1] + parameter(found[1:], 0) })
}

// users matches the user in a URL; parametersOf, a parameter of one with the character before it.
var (
	users        = lazyregexp.New(`//[^/?#\s"'<>,;@]*@`)
	parametersOf = lazyregexp.New(`[?&#;][^?&#;=\s"'<>,]+=[^&#;\s"'<>,]+`)
)

// URL is a URL as it may be shown: without user name and password, and without the values of secret parameters in query
// and fragment. The rest stays as it is, also of what is no URL.
func URL(address string) string { return shownURL(address, 0) }

// shownURL is URL for one that stands in parameters of depth others.
func shownURL(address string, depth int) string {
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
		base += "?" + parameters(asked, depth)
	}
	if hasFragment {
		base += "#" + parameters(fragment, depth)
	}
	return base
}

// parameters hides the secret values of a query.
func parameters(text string, depth int) string {
	if !strings.Contains(text, "=") {
		return text
	}
	parts := strings.Split(text, "&")
	for i, part := range parts {
		parts[i] = parameter(part, depth)
	}
	return strings.Join(parts, "&")
}

// maxDepth is how many URLs may stand in each other's parameters: what is deeper is hidden.
const maxDepth = 4

// parameter hides the value of a parameter that is secret by its name, and what is secret in a value that is a URL itself:
// sign-in services send where to go next.
func parameter(text string, depth int) string {
	name, value, _ := strings.Cut(text, "=")
	plain, err := url.QueryUnescape(name[strings.LastIndexAny(name, "?/")+1:]) // fragments of applications have paths and queries
	switch {
	case value == "":
		return text
	case err != nil || IsSecretParameter(plain):
		return name + "=" + Hidden
	}
	inner, err := url.QueryUnescape(value)
	if err != nil || !strings.ContainsAny(inner, "?#&@") {
		return text
	}
	shown := Hidden
	if depth < maxDepth {
		shown = shownURL(inner, depth+1)
	}
	if shown == inner {
		return text
	}
	return name + "=" + strings.ReplaceAll(url.QueryEscape(shown), "%2A%2A%2A", Hidden)
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
