package dom

import "strings"

// WithoutUser returns a URL without its user and password.
func WithoutUser(url string) string {
	scheme, rest, found := strings.Cut(url, "://")
	if !found || strings.ContainsAny(scheme, ":/?#,") {
		return url
	}
	end := strings.IndexAny(rest, `/?#\`)
	if end < 0 {
		end = len(rest)
	}
	at := strings.LastIndexByte(rest[:end], '@')
	if at < 0 {
		return url
	}
	return scheme + "://" + rest[at+1:]
}

// masked replaces a masked value in a URL.
const masked = "***"

// opaque is the length at which a value in a fragment counts as a credential, whatever its name.
const opaque = 24

// credentials are parts of the names of parameters that contain credentials.
var credentials = []string{
	"token", "secret", "passw", "pwd", "auth", "code", "session", "sid", "jwt", "sig", "credential", "key", "ticket", "assertion", "otp", "nonce",
}

// MaskCredentials returns a URL without user and password, and with *** for the values in its fragment that are credentials according to
// their names or their length, because sign-in services pass tokens in the fragment.
func MaskCredentials(url string) string {
	return maskFragment(WithoutUser(url), func(string) bool { return false })
}

// MaskParameters works like MaskCredentials, but for URLs that are stored, as in a history. If the whole fragment consists of parameters,
// it masks all their values.
func MaskParameters(url string) string {
	return maskFragment(WithoutUser(url), func(before string) bool { return before == "" })
}

// maskFragment masks parameters in the fragment: credentials, or all values if masksAll returns true for the text before them.
func maskFragment(url string, masksAll func(before string) bool) string {
	address, fragment, found := strings.Cut(url, "#")
	if !found || !strings.Contains(fragment, "=") {
		return url
	}
	before, parameters := "", fragment
	if at := strings.LastIndexAny(fragment, "?#"); at >= 0 { // in a page that routes by its fragment: #/path?a=b
		before, parameters = fragment[:at], fragment[at+1:]
		address += "#" + fragment[:at+1]
	} else {
		address += "#"
	}
	whole := masksAll(strings.Trim(before, "?#"))
	list := strings.Split(parameters, "&")
	for i, one := range list {
		name, value, is := strings.Cut(one, "=")
		if is && value != "" && (whole || isCredential(name, value)) {
			list[i] = name + "=" + masked
		}
	}
	return address + strings.Join(list, "&")
}

func isCredential(name, value string) bool {
	if len(value) >= opaque {
		return true
	}
	name = strings.ToLower(name)
	for _, part := range credentials {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}
