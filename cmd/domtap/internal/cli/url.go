package cli

import "github.com/domtap/domtap/internal/lazyregexp"

var (
	hasScheme = lazyregexp.New(`^[A-Za-z][A-Za-z0-9+.-]*:(?:[^0-9]|$)`)
	isLocal   = lazyregexp.New(`^(?:localhost|127\.[0-9.]+|\[::1\])(?:[:/]|$)`)
)

// CompleteURL adds the likely scheme to a URL that was typed without one.
func CompleteURL(typed string) string {
	switch {
	case typed == "", hasScheme().MatchString(typed):
		return typed
	case isLocal().MatchString(typed):
		return "http://" + typed
	}
	return "https://" + typed
}
