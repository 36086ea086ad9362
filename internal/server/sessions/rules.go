package sessions

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/lazyregexp"
	"github.com/domtap/domtap/internal/routes"
	"github.com/domtap/domtap/internal/server/rules"
	"github.com/domtap/domtap/internal/server/storage"
	"github.com/domtap/domtap/internal/sessions"
)

// Limits of sessions, as documented in session.proto.
const (
	maxAgent      = 1000
	maxCredential = 1000
)

// Rules are the rules of the requests of SessionService.
var Rules = rules.Union(
	rules.Of(checkCreateSession),
	rules.Of(checkUpdateSession),
	rules.Of(checkCloseSession),
	rules.Of(rules.Session[*domtapv1.GetStorageStateRequest]),
	rules.Of(checkSetStorageState),
	rules.Of(rules.Session[*domtapv1.ListDownloadsRequest]),
)

var (
	sessionName = lazyregexp.New(`^[A-Za-z0-9_-]{1,64}$`)
	localeTag   = lazyregexp.New(`^[A-Za-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?$`)
)

func checkCreateSession(v *rules.Violations, r *domtapv1.CreateSessionRequest) {
	if r.GetSessionId() != "" {
		v.Want(sessionName().MatchString(r.GetSessionId()), "session_id",
			"must be 1 to 64 letters, digits, - and _; leave it empty for a generated id")
	}
	checkSettings(v, r.GetSettings())
	storage.CheckState(v, "storage_state", r.GetStorageState())
}

func checkUpdateSession(v *rules.Violations, r *domtapv1.UpdateSessionRequest) {
	v.SessionID(r.GetSessionId())
	checkSettings(v, r.GetSettings())
}

func checkCloseSession(v *rules.Violations, r *domtapv1.CloseSessionRequest) {
	if v.Want(r.GetSessionId() != "", "session_id", "is required: ListSessions names the sessions") {
		v.SessionID(r.GetSessionId())
	}
}

func checkSetStorageState(v *rules.Violations, r *domtapv1.SetStorageStateRequest) {
	v.SessionID(r.GetSessionId())
	v.Want(r.GetState() != nil || r.GetReplace(), "state", "is required, unless replace is set to clear the session")
	storage.CheckState(v, "state", r.GetState())
}

func checkSettings(v *rules.Violations, s *domtapv1.SessionSettings) {
	if s == nil {
		return
	}
	rules.Known(v, "settings.dialog_policy", s.GetDialogPolicy(), "must be REPORT, ACCEPT or DISMISS")
	checkEmulation(v, s.GetEmulation())
	if h := s.GetHttpCredentials(); h != nil {
		v.MaxBytes("settings.http_credentials.username", h.GetUsername(), maxCredential)
		v.MaxBytes("settings.http_credentials.password", h.GetPassword(), maxCredential)
		if h.GetOrigin() != "" {
			v.Origin("settings.http_credentials.origin", h.GetOrigin())
		}
	}
	if err := (sessions.Mask{Selectors: s.GetMask().GetSelectors()}).Check(); err != nil {
		v.Want(false, "settings.mask.selectors", err.Error())
	}
	if err := routes.CheckPresets(s.GetBlock()); err != nil || len(s.GetBlock()) > len(routes.Presets) {
		v.Want(false, "settings.block", "must have each of "+strings.Join(routes.Presets, ", ")+" at most once")
	}
	checkProxy(v, s.GetProxy())
	all := sessions.Permissions()
	for i, name := range s.GetPermissions() {
		v.Want(slices.Contains(all, name), fmt.Sprintf("settings.permissions[%d]", i),
			"must be one of "+strings.Join(all, ", "))
	}
}

func checkProxy(v *rules.Violations, p *domtapv1.Proxy) {
	if p == nil {
		return
	}
	v.MaxBytes("settings.proxy.username", p.GetUsername(), maxCredential)
	v.MaxBytes("settings.proxy.password", p.GetPassword(), maxCredential)
	proxy := sessions.Proxy{Server: p.GetServer(), Bypass: p.GetBypass(), Username: p.GetUsername(), Password: p.GetPassword()}
	if field, err := proxy.Check(); err != nil {
		v.Want(false, "settings.proxy."+field, err.Error())
	}
}

func checkEmulation(v *rules.Violations, e *domtapv1.Emulation) {
	if e == nil {
		return
	}
	const at = "settings.emulation."
	if e.GetDevice() != "" {
		_, known := sessions.FindDevice(e.GetDevice())
		v.Want(known, at+"device", "must be one of "+strings.Join(deviceNames(), ", "))
	}
	v.Viewport(at+"viewport", e.GetViewport())
	v.Want(e.DeviceScaleFactor == nil || rules.InRange(e.GetDeviceScaleFactor(), 0.5, 5), at+"device_scale_factor", "must be 0.5 to 5")
	v.Want(e.GetLocale() == "" || localeTag().MatchString(e.GetLocale()), at+"locale", "must be a BCP 47 tag, such as de-DE")
	if zone := e.GetTimezoneId(); zone != "" {
		_, err := time.LoadLocation(zone)
		v.Want(err == nil && zone != "Local" && len(zone) <= rules.MaxID, at+"timezone_id", "must be an IANA name, such as Europe/Berlin")
	}
	checkGeolocation(v, at+"geolocation", e.GetGeolocation())
	rules.Known(v, at+"color_scheme", e.GetColorScheme(), "must be LIGHT or DARK")
	v.HeaderValue(at+"user_agent", e.GetUserAgent(), maxAgent)
	v.Headers(at+"extra_headers", e.GetExtraHeaders())
}

func checkGeolocation(v *rules.Violations, at string, g *domtapv1.Geolocation) {
	if g == nil {
		return
	}
	v.Want(rules.InRange(g.GetLatitude(), -90, 90), at+".latitude", "must be -90 to 90")
	v.Want(rules.InRange(g.GetLongitude(), -180, 180), at+".longitude", "must be -180 to 180")
	v.Want(rules.InRange(g.GetAccuracy(), 0, math.MaxFloat64), at+".accuracy", "must be 0 metres or more")
}

func deviceNames() []string {
	var names []string
	for _, d := range sessions.Devices() {
		names = append(names, d.Name)
	}
	return names
}
