package check

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/lazyregexp"
	"github.com/domtap/domtap/internal/routes"
	"github.com/domtap/domtap/internal/sessions"
)

// Limits of sessions, as documented in session.proto.
const (
	maxHeaders     = 50
	maxHeaderValue = 8 << 10
	maxAgent       = 1000
	maxCredential  = 1000
	maxCookies     = 5000
	maxCookie      = 8 << 10
	maxOrigins     = 500
)

var (
	sessionName = lazyregexp.New(`^[A-Za-z0-9_-]{1,64}$`)
	localeTag   = lazyregexp.New(`^[A-Za-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?$`)
	token       = lazyregexp.New("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")
)

func checkCreateSession(v *violations, r *domtapv1.CreateSessionRequest) {
	if r.GetSessionId() != "" {
		v.want(sessionName().MatchString(r.GetSessionId()), "session_id",
			"must be 1 to 64 letters, digits, - and _; leave it empty for a generated id")
	}
	checkSettings(v, r.GetSettings())
	checkState(v, "storage_state", r.GetStorageState())
}

func checkUpdateSession(v *violations, r *domtapv1.UpdateSessionRequest) {
	checkSessionID(v, r.GetSessionId())
	checkSettings(v, r.GetSettings())
}

func checkCloseSession(v *violations, r *domtapv1.CloseSessionRequest) {
	if v.want(r.GetSessionId() != "", "session_id", "is required: ListSessions names the sessions") {
		checkSessionID(v, r.GetSessionId())
	}
}

// checkSession checks a request that names a session.
func checkSession[M interface{ GetSessionId() string }](v *violations, r M) {
	checkSessionID(v, r.GetSessionId())
}

func checkSetStorageState(v *violations, r *domtapv1.SetStorageStateRequest) {
	checkSessionID(v, r.GetSessionId())
	v.want(r.GetState() != nil || r.GetReplace(), "state", "is required, unless replace is set to clear the session")
	checkState(v, "state", r.GetState())
}

func checkSettings(v *violations, s *domtapv1.SessionSettings) {
	if s == nil {
		return
	}
	_, known := domtapv1.DialogPolicy_name[int32(s.GetDialogPolicy())]
	v.want(known, "settings.dialog_policy", "must be REPORT, ACCEPT or DISMISS")
	checkEmulation(v, s.GetEmulation())
	if h := s.GetHttpCredentials(); h != nil {
		checkMaxBytes(v, "settings.http_credentials.username", h.GetUsername(), maxCredential)
		checkMaxBytes(v, "settings.http_credentials.password", h.GetPassword(), maxCredential)
		if h.GetOrigin() != "" {
			checkOrigin(v, "settings.http_credentials.origin", h.GetOrigin())
		}
	}
	if err := (sessions.Mask{Selectors: s.GetMask().GetSelectors()}).Check(); err != nil {
		v.want(false, "settings.mask.selectors", err.Error())
	}
	if err := routes.CheckPresets(s.GetBlock()); err != nil || len(s.GetBlock()) > len(routes.Presets) {
		v.want(false, "settings.block", "must have each of "+strings.Join(routes.Presets, ", ")+" at most once")
	}
	checkProxy(v, s.GetProxy())
	all := sessions.Permissions()
	for i, name := range s.GetPermissions() {
		v.want(slices.Contains(all, name), fmt.Sprintf("settings.permissions[%d]", i),
			"must be one of "+strings.Join(all, ", "))
	}
}

func checkProxy(v *violations, p *domtapv1.Proxy) {
	if p == nil {
		return
	}
	checkMaxBytes(v, "settings.proxy.username", p.GetUsername(), maxCredential)
	checkMaxBytes(v, "settings.proxy.password", p.GetPassword(), maxCredential)
	proxy := sessions.Proxy{Server: p.GetServer(), Bypass: p.GetBypass(), Username: p.GetUsername(), Password: p.GetPassword()}
	if field, err := proxy.Check(); err != nil {
		v.want(false, "settings.proxy."+field, err.Error())
	}
}

func checkEmulation(v *violations, e *domtapv1.Emulation) {
	if e == nil {
		return
	}
	const at = "settings.emulation."
	if e.GetDevice() != "" {
		_, known := sessions.FindDevice(e.GetDevice())
		v.want(known, at+"device", "must be one of "+strings.Join(deviceNames(), ", "))
	}
	checkViewport(v, at+"viewport", e.GetViewport())
	v.want(e.DeviceScaleFactor == nil || inRange(e.GetDeviceScaleFactor(), 0.5, 5), at+"device_scale_factor", "must be 0.5 to 5")
	v.want(e.GetLocale() == "" || localeTag().MatchString(e.GetLocale()), at+"locale", "must be a BCP 47 tag, such as de-DE")
	if zone := e.GetTimezoneId(); zone != "" {
		_, err := time.LoadLocation(zone)
		v.want(err == nil && zone != "Local" && len(zone) <= maxID, at+"timezone_id", "must be an IANA name, such as Europe/Berlin")
	}
	checkGeolocation(v, at+"geolocation", e.GetGeolocation())
	_, known := domtapv1.ColorScheme_name[int32(e.GetColorScheme())]
	v.want(known, at+"color_scheme", "must be LIGHT or DARK")
	checkHeaderValue(v, at+"user_agent", e.GetUserAgent(), maxAgent)
	checkHeaders(v, at+"extra_headers", e.GetExtraHeaders())
}

func checkGeolocation(v *violations, at string, g *domtapv1.Geolocation) {
	if g == nil {
		return
	}
	v.want(inRange(g.GetLatitude(), -90, 90), at+".latitude", "must be -90 to 90")
	v.want(inRange(g.GetLongitude(), -180, 180), at+".longitude", "must be -180 to 180")
	v.want(inRange(g.GetAccuracy(), 0, math.MaxFloat64), at+".accuracy", "must be 0 metres or more")
}

func checkHeaders(v *violations, at string, headers []*domtapv1.Header) {
	v.want(len(headers) <= maxHeaders, at, fmt.Sprintf("must have at most %d entries", maxHeaders))
	for i, h := range headers[:min(len(headers), maxHeaders)] {
		field := fmt.Sprintf("%s[%d]", at, i)
		v.want(len(h.GetName()) <= maxID && token().MatchString(h.GetName()), field+".name", "must be the name of an HTTP header")
		checkHeaderValue(v, field+".value", h.GetValue(), maxHeaderValue)
	}
}

func deviceNames() []string {
	var names []string
	for _, d := range sessions.Devices() {
		names = append(names, d.Name)
	}
	return names
}

// inRange reports whether low <= v <= high. It returns false for NaN.
func inRange(v, low, high float64) bool { return low <= v && v <= high }

// checkHeaderValue checks the value of an HTTP header.
func checkHeaderValue(v *violations, field, value string, limit int) {
	checkMaxBytes(v, field, value, limit)
	plain := !strings.ContainsFunc(value, func(r rune) bool {
		return r < ' ' && r != '\t' || r == 0x7f || r == utf8.RuneError
	})
	v.want(plain, field, "must not contain line breaks or other control characters")
}

func checkOrigin(v *violations, field, origin string) {
	u, err := url.Parse(origin)
	ok := err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil && u.Path == "" &&
		u.RawQuery == "" && u.Fragment == "" && len(origin) <= maxID+len("https://")+maxID
	v.want(ok, field, "must be an origin, such as https://example.com, without a path")
}
