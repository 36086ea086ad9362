package dom

import "strings"

// WithoutUser returns a URL without the user and the password in it.
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

// masked stands for a value in a URL that is not printed.
const masked = "***"

// opaque is the length from which a value in a fragment is taken for a credential, whatever its name.
const opaque = 24

// credentials are parts of the names of parameters that carry one.
var credentials = []string{
	"token", "secret", "passw", "pwd", "auth", "code", "session", "sid", "jwt", "sig", "credential", "key", "ticket", "assertion", "otp", "nonce",
}

// MaskCredentials returns a URL without user and password, and with *** for the values in its fragment that are credentials by
// their names or by their length: sign-in services hand tokens over like that.
func MaskCredentials(url string) string {
	return maskFragment(WithoutUser(url), func(string) bool { return false })
}

// MaskParameters is MaskCredentials for a URL that is kept, as in a history: where the whole fragment consists of parameters, all
// their values are masked.
func MaskParameters(url string) string {
	return maskFragment(WithoutUser(url), func(before string) bool { return before == "" })
}

// maskFragment masks parameters in the fragment: credentials, and all where the text before them says so.
func maskFragment(url string, all func(before string) bool) string {
	address, fragment, found := strings.Cut(url, "#")
	if !found || !strings.Contains(fragment, "=") {
		return url
	}
	before, parameters := "", fragment
	if at := strings.LastIndexAny(fragment, "?#"); at >= 0 { // of a page that routes by its fragment: #/path?a=b
		before, parameters = fragment[:at], fragment[at+1:]
		address += "#" + fragment[:at+1]
	} else {
		address += "#"
	}
	whole := all(strings.Trim(before, "?#"))
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
