package har

import (
	"net/url"
	"slices"
	"strings"

	"github.com/domtap/domtap/internal/lazyregexp"
)

// Hidden replaces a secret value.
const Hidden = "***"

// secretWords lists words in the names of headers and parameters that have secret values.
var secretWords = []string{
	"auth", "token", "secret", "password", "passwd", "pwd", "session", "cookie", "credential", "signature", "csrf", "xsrf", "jwt", "ticket", "saml", "hmac", "assertion", "verifier",
	"api-key", "apikey", "api_key", "access-key", "accesskey", "access_key", "private_key", "subscription-key", "license_key",
}

// secretNames lists whole names of this kind. They are too short to be significant as parts of a name.
var secretNames = []string{"key", "sig", "sid", "code", "pass", "otp", "totp", "pin", "state", "nonce"}

// plainCodes lists words in the names of public codes, such as zip codes. Every other parameter with a name that ends in "code" is secret.
var plainCodes = []string{"zip", "post", "country", "currency", "lang", "locale", "area", "region", "state", "city", "error", "status", "response", "product", "item", "qr", "bar"}

// plainHeaders lists headers whose names contain a secret word but whose values are not secret.
var plainHeaders = []string{"www-authenticate", "proxy-authenticate", "author", ":authority", "access-control-allow-credentials"}

// IsSecretHeader reports whether the value of a header is secret, because it is or may be a credential.
func IsSecretHeader(name string) bool {
	name = strings.ToLower(name)
	return !slices.Contains(plainHeaders, name) && hasSecretWord(name)
}

// IsSecretParameter reports whether the value of a query or fragment parameter is secret, judged by its name.
func IsSecretParameter(name string) bool {
	name = strings.ToLower(name)
	return hasSecretWord(name) || slices.Contains(secretNames, name) || isSecretCode(name)
}

// isSecretCode reports whether a lower-case name ends in "code" and is not the name of a public code.
func isSecretCode(name string) bool {
	stem, is := strings.CutSuffix(name, "code")
	return is && !slices.ContainsFunc(plainCodes, func(plain string) bool { return strings.Contains(stem, plain) })
}

func hasSecretWord(name string) bool {
	return slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(name, word) })
}

// Value returns the value of a header with its secrets replaced. URLs in the value, absolute or relative, are treated as by URL. Headers
// such as Link and Refresh contain several URLs between other words.
func Value(name, value string) string {
	if IsSecretHeader(name) {
		return Hidden
	}
	value = users().ReplaceAllString(value, "//"+Hidden+"@")
	return parametersOf().ReplaceAllStringFunc(value, func(found string) string { return found[:1] + parameter(found[1:], 0) })
}

// users matches the user part of a URL. parametersOf matches a parameter of a URL and the preceding character.
var (
	users        = lazyregexp.New(`//[^/?#\s"'<>,;@]*@`)
	parametersOf = lazyregexp.New(`[?&#;][^?&#;=\s"'<>,]+=[^&#;\s"'<>,]+`)
)

// URL returns a URL without user name and password, and without the values of secret parameters in query and fragment. Other text is
// unchanged, even if address is not a URL.
func URL(address string) string { return shownURL(address, 0) }

// shownURL is like URL for a URL that is nested in the parameters of depth other URLs.
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

// parameters replaces the secret values in a query.
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

// maxDepth limits the nesting of URLs in parameters. Deeper values are hidden.
const maxDepth = 4

// parameter hides the value of a parameter with a secret name. In other values that are URLs it hides the secrets, because sign-in services
// pass the next URL in a parameter.
func parameter(text string, depth int) string {
	name, value, _ := strings.Cut(text, "=")
	plain, err := url.QueryUnescape(name[strings.LastIndexAny(name, "?/")+1:]) // fragments of web applications contain paths and queries
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

// headers returns the headers with their secrets replaced.
func headers(all []Header) []param {
	out := make([]param, 0, len(all))
	for _, h := range all {
		out = append(out, param{h.Name, Value(h.Name, h.Value)})
	}
	return out
}

// cookies returns the names of the cookies in a header.
func cookies(all []Header, header string) []cookie {
	out := []cookie{}
	for _, h := range all {
		if !strings.EqualFold(h.Name, header) {
			continue
		}
		parts := strings.Split(h.Value, ";")
		if header == "set-cookie" {
			parts = nil
			for line := range strings.SplitSeq(h.Value, "\n") { // the browser joins several values by line breaks
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

// query returns the query parameters of a URL.
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
