package sessions

import (
	"github.com/domtap/domtap/actor/driver"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/sessions"
)

// sessionMessage converts a session.
func sessionMessage(i sessions.Info) *domtapv1.Session {
	return &domtapv1.Session{Id: i.ID, Settings: settingsMessage(i.Settings), Tabs: int32(i.Tabs), DownloadDir: i.Downloads,
		Browser: i.Process.Browser, Restarts: int32(i.Process.Restarts), Restarting: i.Process.Down}
}

var dialogPolicies = map[domtapv1.DialogPolicy]driver.DialogPolicy{
	domtapv1.DialogPolicy_DIALOG_POLICY_UNSPECIFIED: driver.ReportDialogs,
	domtapv1.DialogPolicy_DIALOG_POLICY_REPORT:      driver.ReportDialogs,
	domtapv1.DialogPolicy_DIALOG_POLICY_ACCEPT:      driver.AcceptDialogs,
	domtapv1.DialogPolicy_DIALOG_POLICY_DISMISS:     driver.DismissDialogs,
}

// settingsOf converts the settings of a session. It returns the zero Settings for nil.
func settingsOf(m *domtapv1.SessionSettings) sessions.Settings {
	s := sessions.Settings{
		Dialogs: dialogPolicies[m.GetDialogPolicy()], Emulation: emulationOf(m.GetEmulation()),
		Permissions: m.GetPermissions(), DenyDownloads: m.GetDenyDownloads(), Block: m.GetBlock(),
		Mask: sessions.Mask{Selectors: m.GetMask().GetSelectors(), Values: m.GetMask().GetValues()},
	}
	if c := m.GetHttpCredentials(); c != nil {
		s.Credentials = &sessions.Credentials{Username: c.GetUsername(), Password: c.GetPassword(), Origin: c.GetOrigin()}
	}
	if p := m.GetProxy(); p != nil {
		s.Proxy = &sessions.Proxy{Server: p.GetServer(), Bypass: p.GetBypass(), Username: p.GetUsername(), Password: p.GetPassword()}
	}
	return s
}

func emulationOf(m *domtapv1.Emulation) sessions.Emulation {
	e := sessions.Emulation{
		Device: m.GetDevice(), Width: int(m.GetViewport().GetWidth()), Height: int(m.GetViewport().GetHeight()), Scale: m.GetDeviceScaleFactor(),
		Locale: m.GetLocale(), Timezone: m.GetTimezoneId(), Offline: m.GetOffline(),
		Scheme: sessions.ColorScheme(m.GetColorScheme()), ReducedMotion: m.GetReducedMotion(), UserAgent: m.GetUserAgent(),
	}
	if m != nil {
		e.Mobile, e.Touch = m.Mobile, m.Touch
	}
	if g := m.GetGeolocation(); g != nil {
		e.Location = &sessions.Location{Latitude: g.GetLatitude(), Longitude: g.GetLongitude(), Accuracy: g.GetAccuracy()}
	}
	for _, h := range m.GetExtraHeaders() {
		e.Headers = append(e.Headers, sessions.Header{Name: h.GetName(), Value: h.GetValue()})
	}
	return e
}

// settingsMessage is the inverse of Settings.
func settingsMessage(s sessions.Settings) *domtapv1.SessionSettings {
	m := &domtapv1.SessionSettings{
		DialogPolicy: domtapv1.DialogPolicy(s.Dialogs) + domtapv1.DialogPolicy_DIALOG_POLICY_REPORT, Emulation: emulationMessage(s.Emulation),
		Permissions: s.Permissions, DenyDownloads: s.DenyDownloads, Block: s.Block,
	}
	if !s.Mask.IsZero() {
		m.Mask = &domtapv1.Mask{Selectors: s.Mask.Selectors, Values: s.Mask.Values}
	}
	if p := s.Proxy; p != nil {
		m.Proxy = &domtapv1.Proxy{Server: p.Server, Bypass: p.Bypass, Username: p.Username, Password: p.Password}
	}
	if c := s.Credentials; c != nil {
		m.HttpCredentials = &domtapv1.HttpCredentials{Username: c.Username, Password: c.Password, Origin: c.Origin}
	}
	return m
}

func emulationMessage(e sessions.Emulation) *domtapv1.Emulation {
	m := &domtapv1.Emulation{
		Device: e.Device, Mobile: e.Mobile, Touch: e.Touch, Locale: e.Locale, TimezoneId: e.Timezone, Offline: e.Offline,
		ColorScheme: domtapv1.ColorScheme(e.Scheme), ReducedMotion: e.ReducedMotion, UserAgent: e.UserAgent,
	}
	if e.Width > 0 {
		m.Viewport = &domtapv1.Viewport{Width: int32(e.Width), Height: int32(e.Height)}
	}
	if e.Scale > 0 {
		m.DeviceScaleFactor = &e.Scale
	}
	if g := e.Location; g != nil {
		m.Geolocation = &domtapv1.Geolocation{Latitude: g.Latitude, Longitude: g.Longitude, Accuracy: g.Accuracy}
	}
	for _, h := range e.Headers {
		m.ExtraHeaders = append(m.ExtraHeaders, &domtapv1.Header{Name: h.Name, Value: h.Value})
	}
	return m
}

// maxOmissions limits the omissions in an answer.
const maxOmissions = 100

// omissionMessages converts the list of data that a state omits.
func omissionMessages(all []sessions.Omission) []*domtapv1.StorageOmission {
	var list []*domtapv1.StorageOmission
	for _, o := range all[:min(len(all), maxOmissions)] {
		list = append(list, &domtapv1.StorageOmission{Origin: o.Origin, Database: o.Database, Store: o.Store, Reason: o.Reason, Records: int32(o.Records)})
	}
	return list
}
