package check

import (
	"fmt"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor/sessions"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Limits of sessions, as session.proto states them.
const (
	maxSessionName = 64
	maxHeaders     = 50
	maxHeaderValue = 8 << 10
	maxAgent       = 1000
	maxCredential  = 1000
	maxCookies     = 5000
	maxCookie      = 8 << 10
	maxOrigins     = 500
)

// sessions checks the requests of SessionService; false: it is none of them.
func (c *collector) sessions(m proto.Message) bool {
	switch r := m.(type) {
	case *domtapv1.CreateSessionRequest:
		if r.GetSessionId() != "" {
			c.want(sessionName.MatchString(r.GetSessionId()), "session_id", "must be 1 to 64 letters, digits, - and _; leave it empty to get one")
		}
		c.settings(r.GetSettings())
		c.state("storage_state", r.GetStorageState())
	case *domtapv1.UpdateSessionRequest:
		c.sessionID(r.GetSessionId())
		c.settings(r.GetSettings())
	case *domtapv1.CloseSessionRequest:
		if c.want(r.GetSessionId() != "", "session_id", "is required: ListSessions names the sessions") {
			c.sessionID(r.GetSessionId())
		}
	case *domtapv1.GetStorageStateRequest:
		c.sessionID(r.GetSessionId())
	case *domtapv1.SetStorageStateRequest:
		c.sessionID(r.GetSessionId())
		c.want(r.GetState() != nil || r.GetReplace(), "state", "is required, unless replace is set to clear the session")
		c.state("state", r.GetState())
	case *domtapv1.ListDownloadsRequest:
		c.sessionID(r.GetSessionId())
	default:
		return false
	}
	return true
}

var (
	sessionName = regexp.MustCompile(fmt.Sprintf(`^[A-Za-z0-9_-]{1,%d}$`, maxSessionName))
	localeTag   = regexp.MustCompile(`^[A-Za-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?$`)
	token       = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")
)

func (c *collector) settings(s *domtapv1.SessionSettings) {
	if s == nil {
		return
	}
	_, known := domtapv1.DialogPolicy_name[int32(s.GetDialogPolicy())]
	c.want(known, "settings.dialog_policy", "must be REPORT, ACCEPT or DISMISS")
	c.emulation(s.GetEmulation())
	if h := s.GetHttpCredentials(); h != nil {
		c.bytes("settings.http_credentials.username", h.GetUsername(), maxCredential)
		c.bytes("settings.http_credentials.password", h.GetPassword(), maxCredential)
		if h.GetOrigin() != "" {
			c.origin("settings.http_credentials.origin", h.GetOrigin())
		}
	}
	if err := (sessions.Mask{Selectors: s.GetMask().GetSelectors()}).Check(); err != nil {
		c.want(false, "settings.mask.selectors", err.Error())
	}
	all := sessions.Permissions()
	for i, name := range s.GetPermissions() {
		c.want(slices.Contains(all, name), fmt.Sprintf("settings.permissions[%d]", i), "must be one of "+strings.Join(all, ", "))
	}
}

func (c *collector) emulation(e *domtapv1.Emulation) {
	if e == nil {
		return
	}
	const at = "settings.emulation."
	if e.GetDevice() != "" {
		_, known := sessions.FindDevice(e.GetDevice())
		c.want(known, at+"device", "must be one of "+strings.Join(deviceNames(), ", "))
	}
	if v := e.GetViewport(); v != nil {
		c.want(1 <= v.GetWidth() && v.GetWidth() <= 10_000, at+"viewport.width", "must be 1 to 10000 CSS pixels")
		c.want(1 <= v.GetHeight() && v.GetHeight() <= 10_000, at+"viewport.height", "must be 1 to 10000 CSS pixels")
	}
	c.want(e.DeviceScaleFactor == nil || inside(e.GetDeviceScaleFactor(), 0.5, 5), at+"device_scale_factor", "must be 0.5 to 5")
	c.want(e.GetLocale() == "" || localeTag.MatchString(e.GetLocale()), at+"locale", "must be a BCP 47 tag, such as de-DE")
	if zone := e.GetTimezoneId(); zone != "" {
		_, err := time.LoadLocation(zone)
		c.want(err == nil && zone != "Local" && len(zone) <= maxID, at+"timezone_id", "must be an IANA name, such as Europe/Berlin")
	}
	if g := e.GetGeolocation(); g != nil {
		c.want(inside(g.GetLatitude(), -90, 90), at+"geolocation.latitude", "must be -90 to 90")
		c.want(inside(g.GetLongitude(), -180, 180), at+"geolocation.longitude", "must be -180 to 180")
		c.want(inside(g.GetAccuracy(), 0, math.MaxFloat64), at+"geolocation.accuracy", "must be 0 metres or more")
	}
	_, known := domtapv1.ColorScheme_name[int32(e.GetColorScheme())]
	c.want(known, at+"color_scheme", "must be LIGHT or DARK")
	c.headerValue(at+"user_agent", e.GetUserAgent(), maxAgent)
	c.want(len(e.GetExtraHeaders()) <= maxHeaders, at+"extra_headers", fmt.Sprintf("must be at most %d", maxHeaders))
	for i, h := range e.GetExtraHeaders()[:min(len(e.GetExtraHeaders()), maxHeaders)] {
		field := fmt.Sprintf("%sextra_headers[%d]", at, i)
		c.want(len(h.GetName()) <= maxID && token.MatchString(h.GetName()), field+".name", "must be the name of an HTTP header")
		c.headerValue(field+".value", h.GetValue(), maxHeaderValue)
	}
}

func deviceNames() []string {
	var names []string
	for _, d := range sessions.Devices() {
		names = append(names, d.Name)
	}
	return names
}

// inside is false for what is no number, too.
func inside(v, low, high float64) bool { return low <= v && v <= high }

// bytes checks the length of a text.
func (c *collector) bytes(field, value string, limit int) {
	c.want(len(value) <= limit, field, fmt.Sprintf("must have at most %d bytes", limit))
}

// headerValue checks what is sent in a header.
func (c *collector) headerValue(field, value string, limit int) {
	c.bytes(field, value, limit)
	plain := !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f || r == utf8.RuneError })
	c.want(plain, field, "must hold no line breaks or other control characters")
}

// origin checks an origin.
func (c *collector) origin(field, origin string) {
	u, err := url.Parse(origin)
	ok := err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil && u.Path == "" &&
		u.RawQuery == "" && u.Fragment == "" && len(origin) <= maxID+len("https://")+maxID
	c.want(ok, field, "must be an origin, such as https://example.com, without a path")
}

func (c *collector) state(field string, s *domtapv1.StorageState) {
	c.want(len(s.GetCookies()) <= maxCookies, field+".cookies", fmt.Sprintf("must be at most %d", maxCookies))
	for i, cookie := range s.GetCookies()[:min(len(s.GetCookies()), maxCookies)] {
		c.cookie(fmt.Sprintf("%s.cookies[%d]", field, i), cookie)
	}
	c.want(len(s.GetOrigins()) <= maxOrigins, field+".origins", fmt.Sprintf("must be at most %d", maxOrigins))
	size := 0
	seen := map[string]bool{}
	for i, o := range s.GetOrigins()[:min(len(s.GetOrigins()), maxOrigins)] {
		at := fmt.Sprintf("%s.origins[%d].origin", field, i)
		c.origin(at, o.GetOrigin())
		c.want(!seen[o.GetOrigin()], at, "stands there twice")
		seen[o.GetOrigin()] = true
		for _, e := range o.GetLocalStorage() {
			size += len(e.GetName()) + len(e.GetValue())
		}
	}
	c.want(size <= sessions.MaxStateBytes, field+".origins", fmt.Sprintf("must have at most %d MiB in all", sessions.MaxStateBytes>>20))
}

var sameSites = []string{"", "Strict", "Lax", "None"}

func (c *collector) cookie(field string, k *domtapv1.Cookie) {
	size := len(k.GetName()) + len(k.GetValue()) + len(k.GetPath())
	c.want(size <= maxCookie, field, fmt.Sprintf("must have at most %d bytes", maxCookie))
	c.want(k.GetName() != "" || k.GetValue() != "", field+".name", "is required")
	c.want(k.GetDomain() != "" && len(k.GetDomain()) <= maxID+maxID && !strings.ContainsAny(k.GetDomain(), "/:@ "), field+".domain",
		"is required: a host such as example.com, or .example.com for subdomains too")
	c.want(k.GetPath() == "" || strings.HasPrefix(k.GetPath(), "/"), field+".path", "must begin with /")
	c.want(inside(k.GetExpires(), -1, 1e11), field+".expires", "must be seconds since 1970, or -1")
	c.want(slices.Contains(sameSites, k.GetSameSite()), field+".same_site", "must be Strict, Lax, None or empty")
	c.want(k.GetSameSite() != "None" || k.GetSecure(), field+".secure", "must be set for a cookie with same_site None")
}
