package storagestate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/storage"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/sessions"
)

// Cookies returns the cookies of a context. It omits cookies of opaque partitions, because they belong to documents without a site and
// cannot be addressed.
func Cookies(ctx context.Context, root devtools.Session, in cdp.BrowserContextID) ([]sessions.Cookie, error) {
	found, err := list(ctx, root, in)
	if err != nil {
		return nil, err
	}
	var cookies []sessions.Cookie
	for _, c := range found {
		cookies = append(cookies, cookie(c))
	}
	return cookies, nil
}

// list returns the cookies of a context in the browser's format.
func list(ctx context.Context, root devtools.Session, in cdp.BrowserContextID) ([]*network.Cookie, error) {
	found, err := cdp.Call(ctx, root, storage.GetCookies, storage.GetCookiesParams{BrowserContextID: in})
	if err != nil {
		return nil, fmt.Errorf("reading the cookies: %w", err)
	}
	return slices.DeleteFunc(found.Cookies, func(c *network.Cookie) bool { return c.PartitionKeyOpaque }), nil
}

func cookie(c *network.Cookie) sessions.Cookie {
	one := sessions.Cookie{Name: c.Name, Value: c.Value, Domain: c.Domain, Path: c.Path, Expires: c.Expires,
		HTTPOnly: c.HTTPOnly, Secure: c.Secure, SameSite: string(c.SameSite)}
	if c.Session || one.Expires <= 0 {
		one.Expires = -1
	}
	if c.Priority != network.CookiePriorityMedium {
		one.Priority = string(c.Priority)
	}
	if p := c.PartitionKey; p != nil {
		one.Partition = &sessions.Partition{Site: p.TopLevelSite, CrossSite: p.HasCrossSiteAncestor}
	}
	return one
}

// SetCookies adds cookies. If the browser rejects one, none is set, and the error is an *apierr.Error of kind Invalid.
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
			Message: "the browser refused a cookie, so no cookie was set: check domain, path, secure, same_site and partition_key, and the prefixes __Host- and __Secure- of names"}
	}
	return err
}

func param(c sessions.Cookie) *network.CookieParam {
	p := &network.CookieParam{Name: c.Name, Value: c.Value, Domain: c.Domain, Path: cmp.Or(c.Path, "/"), HTTPOnly: c.HTTPOnly, Secure: c.Secure,
		SameSite: network.CookieSameSite(c.SameSite), Priority: network.CookiePriority(c.Priority)}
	if c.Expires > 0 {
		p.Expires = cdp.TimeSinceEpoch(c.Expires)
	}
	if c.Partition != nil {
		p.PartitionKey = &network.CookiePartitionKey{TopLevelSite: c.Partition.Site, HasCrossSiteAncestor: c.Partition.CrossSite}
	}
	return p
}

// matches reports whether a filter selects a cookie.
func matches(f sessions.CookieFilter, c sessions.Cookie) bool {
	site := ""
	if c.Partition != nil {
		site = c.Partition.Site
	}
	return (f.Name == "" || f.Name == c.Name) && (f.Path == "" || f.Path == c.Path) &&
		(f.Domain == "" || strings.EqualFold(strings.TrimPrefix(f.Domain, "."), strings.TrimPrefix(c.Domain, "."))) &&
		(f.Partition == nil || *f.Partition == site)
}

// Cookies returns the cookies that match a filter, sorted by domain, path and name.
func (s *Store) Cookies(ctx context.Context, f sessions.CookieFilter) ([]sessions.Cookie, error) {
	all, err := Cookies(ctx, s.root, s.context)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(c sessions.Cookie) bool { return !matches(f, c) })
	slices.SortStableFunc(all, func(a, b sessions.Cookie) int {
		return cmp.Or(cmp.Compare(a.Domain, b.Domain), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Name, b.Name))
	})
	return all, nil
}

// SetCookies implements sessions.Storage.
func (s *Store) SetCookies(ctx context.Context, cookies []sessions.Cookie) error {
	s.changes.Add(1)
	return SetCookies(ctx, s.root, s.context, cookies)
}

// DeleteCookies implements sessions.Storage. It replaces each cookie by an expired one, so that cookies that pages set in the meantime are
// not affected.
func (s *Store) DeleteCookies(ctx context.Context, f sessions.CookieFilter) (int, error) {
	found, err := list(ctx, s.root, s.context)
	if err != nil {
		return 0, err
	}
	var expired []*network.CookieParam
	for _, c := range found {
		if !matches(f, cookie(c)) {
			continue
		}
		p := param(cookie(c))
		p.Value, p.Expires = "", 1
		p.SourceScheme, p.SourcePort = c.SourceScheme, c.SourcePort
		expired = append(expired, p)
	}
	if len(expired) == 0 {
		return 0, nil
	}
	s.changes.Add(1)
	if _, err := cdp.Call(ctx, s.root, storage.SetCookies, storage.SetCookiesParams{Cookies: expired, BrowserContextID: s.context}); err != nil {
		return 0, fmt.Errorf("deleting cookies: %w", err)
	}
	return len(expired), nil
}
