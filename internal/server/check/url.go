package check

import (
	"net/url"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/internal/folders"
)

// maxURL is the longest URL that Chromium navigates to.
const maxURL = 2 << 20

// AllowURLIn is AllowURL, which also allows file: URLs of files below some folders. The error for a file says why only where that reveals
// nothing about files outside of the folders.
func AllowURLIn(files folders.Folders) func(raw string) error {
	if files.Empty() {
		return AllowURL
	}
	return func(raw string) error {
		if !folders.IsURL(raw) {
			return AllowURL(raw)
		}
		if len(raw) > maxURL {
			return apierr.Errorf(apierr.Invalid, "the URL must have at most 2 MiB")
		}
		if _, err := files.URL(raw); err != nil {
			return apierr.Errorf(apierr.Refused, "the URL policy refuses this file: %v: use a file below a directory of domtap serve --allow-file-dir", err)
		}
		return nil
	}
}

// AllowURLOr is what allow says of a URL, a function of AllowURLIn; nil: AllowURL.
func AllowURLOr(allow func(raw string) error, raw string) error {
	if allow == nil {
		allow = AllowURL
	}
	return allow(raw)
}

// AllowURL is the URL policy: tabs may go to http:, https: and data: URLs and to about:blank. It
// returns an *apierr.Error of kind Invalid for what is not an absolute URL, and of kind Refused for any
// other scheme (file:, chrome:, javascript:, view-source: and so on).
func AllowURL(raw string) error {
	err := parseURL(raw)
	switch {
	case err == nil:
		return nil
	case err.Kind == apierr.Invalid:
		err.Message = "the URL " + err.Message
	}
	return err
}

// parseURL does the work of AllowURL; the message of an Invalid begins with "must".
func parseURL(raw string) *apierr.Error {
	if len(raw) > maxURL {
		return apierr.Errorf(apierr.Invalid, "must have at most 2 MiB")
	}
	u, err := url.Parse(raw)
	if err != nil || u.Scheme == "" {
		// The parser's own message would repeat a URL that may hold secrets.
		return apierr.Errorf(apierr.Invalid, "must be an absolute URL, such as https://example.com/")
	}
	switch {
	case u.Scheme == "http" || u.Scheme == "https":
		if u.Hostname() == "" {
			return apierr.Errorf(apierr.Invalid, "must name a host, such as https://example.com/")
		}
		return nil
	case u.Scheme == "data" || u.Scheme == "about" && u.Opaque == "blank":
		return nil
	}
	return apierr.Errorf(apierr.Refused, "the URL policy refuses %.40s: URLs: use http:, https:, data: or about:blank", u.Scheme)
}
