package part

import "strings"

// Base is the page URL that hrefs are printed relative to. The zero value prints them absolute.
type Base struct {
	scheme, host string
	// document is the page's URL without its fragment.
	document string
}

// NewBase returns the base for a page URL.
func NewBase(pageURL string) Base {
	document, _, _ := strings.Cut(pageURL, "#")
	b := Base{document: document}
	b.scheme, b.host, _ = SplitURL(pageURL)
	return b
}

// SplitURL splits "scheme://user@host/rest" into "scheme", "host" and "/rest". The scheme is empty for URLs of another form.
func SplitURL(url string) (scheme, host, rest string) {
	scheme, after, ok := strings.Cut(url, "://")
	if !ok || strings.ContainsAny(scheme, "/?#:, ") {
		return "", "", url
	}
	end := strings.IndexAny(after, "/?#")
	if end < 0 {
		end = len(after)
	}
	host = after[:end]
	return scheme, host[strings.LastIndexByte(host, '@')+1:], after[end:]
}

// Host returns the host of the page.
func (b Base) Host() string { return b.host }

// Href returns the short form of an absolute href in all texts; see AppendHref.
func (b Base) Href(href string) string { return string(b.AppendHref(nil, href)) }

// AppendHref appends a short form of an absolute href: its fragment if it leads to the page itself, its path if it is on the page's origin,
// or the media type of a data URL. The result has at most 120 characters.
func (b Base) AppendHref(dst []byte, href string) []byte {
	text, cut := b.Shorten(href)
	dst = AppendClean(dst, text, MaxHref)
	if cut {
		dst = append(dst, Ellipsis...)
	}
	return dst
}

// Shorten returns the relevant part of an href, and whether it needs a "…" at the end.
func (b Base) Shorten(href string) (text string, cut bool) {
	if text, ok := payload(href); ok {
		return text, true
	}
	if hash := strings.IndexByte(href, '#'); hash >= 0 && b.document != "" && href[:hash] == b.document {
		return href[hash:], false
	}
	scheme, host, rest := SplitURL(href)
	// A path that starts with two slashes would look like another host.
	if scheme == "" || scheme != b.scheme || host != b.host || strings.HasPrefix(rest, "//") {
		return href, false
	}
	if rest == "" {
		return "/", false
	}
	return rest, false
}

// payload returns the start of a URL that contains its content: "data:image/png", "javascript:".
func payload(href string) (string, bool) {
	const script, data = "javascript:", "data:"
	switch {
	case hasPrefixFold(href, script):
		return script, true
	case hasPrefixFold(href, data):
		end := strings.IndexAny(href, ";,")
		if end < 0 || end > MaxWord {
			end = len(data)
		}
		return href[:end], true
	}
	return "", false
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
