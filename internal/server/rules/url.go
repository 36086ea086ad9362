package rules

import (
	"net/url"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/internal/folders"
)

// maxURL is the length of the longest URL that Chromium navigates to.
const maxURL = 2 << 20

// AllowURLIn returns a URL policy that extends AllowURL to file: URLs below some folders. Its errors give a reason for a refused file only
// if that reveals nothing about files outside the folders.
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
			return apierr.Errorf(apierr.Refused, "the URL policy refuses this file: %v: use a file in a directory that domtap serve --allow-file-dir allows", err)
		}
		return nil
	}
}

// AllowURLOr applies a policy, such as one of AllowURLIn, to a URL. If allow is nil, it applies AllowURL.
func AllowURLOr(allow func(raw string) error, raw string) error {
	if allow == nil {
		allow = AllowURL
	}
	return allow(raw)
}

// AllowURL implements the URL policy. Tabs may navigate to http:, https: and data: URLs and to about:blank. It returns an *apierr.Error of
// kind Invalid if raw is not an absolute URL, and of kind Refused for any other scheme (file:, chrome:, javascript:, view-source: and so
// on).
func AllowURL(raw string) error {
	err := ParseURL(raw)
	switch {
	case err == nil:
		return nil
	case err.Kind == apierr.Invalid:
		err.Message = "the URL " + err.Message
	}
	return err
}

// ParseURL checks a URL for AllowURL. The message of an Invalid error starts with "must".
func ParseURL(raw string) *apierr.Error {
	if len(raw) > maxURL {
		return apierr.Errorf(apierr.Invalid, "must have at most 2 MiB")
	}
	u, err := url.Parse(raw)
	if err != nil || u.Scheme == "" {
		// The parser's own message would quote the URL, which may contain secrets.
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
