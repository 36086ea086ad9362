// Package storagestate reads and writes what the pages of a browser context have stored: cookies, and the local storage of
// origins, also of those that no page shows.
//
// Local storage belongs to documents, so a hidden page goes through the origins one after the other. It is answered
// with an empty document by us: no request leaves the browser, no script runs, and no tab is seen.
package storagestate

import (
	"context"
	"errors"
	"fmt"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/storage"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/sessions"
)

// Cookies reads the cookies of a context. Partitioned ones are left out: they belong to a pair of sites.
func Cookies(ctx context.Context, root devtools.Session, in cdp.BrowserContextID) ([]sessions.Cookie, error) {
	found, err := cdp.Call(ctx, root, storage.GetCookies, storage.GetCookiesParams{BrowserContextID: in})
	if err != nil {
		return nil, fmt.Errorf("reading the cookies: %w", err)
	}
	var cookies []sessions.Cookie
	for _, c := range found.Cookies {
		if c.PartitionKey != nil {
			continue
		}
		one := sessions.Cookie{Name: c.Name, Value: c.Value, Domain: c.Domain, Path: c.Path, Expires: c.Expires,
			HTTPOnly: c.HTTPOnly, Secure: c.Secure, SameSite: string(c.SameSite)}
		if c.Session || one.Expires <= 0 {
			one.Expires = -1
		}
		cookies = append(cookies, one)
	}
	return cookies, nil
}

// SetCookies adds cookies. When the browser refuses one, none is set, and the error, an *apierr.Error of kind
// Invalid, names it.
func SetCookies(ctx context.Context, root devtools.Session, in cdp.BrowserContextID, cookies []sessions.Cookie) error {
	if len(cookies) == 0 {
		return nil
	}
	all := make([]*network.CookieParam, len(cookies))
	for i, c := range cookies {
		all[i] = param(c)
	}
	_, err := cdp.Call(ctx, root, storage.SetCookies, storage.SetCookiesParams{Cookies: all, BrowserContextID: in})
	if refused, ok := errors.AsType[*cdproto.Error](err); ok {
		return &apierr.Error{Kind: apierr.Invalid, Field: "storage_state", Err: refused,
			Message: "the browser refuses a cookie, and so set none: check domain, path, secure and same_site, and the prefixes __Host- and __Secure- of names"}
	}
	return err
}

func param(c sessions.Cookie) *network.CookieParam {
	p := &network.CookieParam{Name: c.Name, Value: c.Value, Domain: c.Domain, Path: c.Path, HTTPOnly: c.HTTPOnly, Secure: c.Secure,
		SameSite: network.CookieSameSite(c.SameSite)}
	if p.Path == "" {
		p.Path = "/"
	}
	if c.Expires > 0 {
		p.Expires = cdp.TimeSinceEpoch(c.Expires)
	}
	return p
}
