// Package emulate says in the browser's own commands what the pages of a session are to be told of the device that
// they are on. It is pure: it sends nothing.
//
// A guise is put on per CDP session: that of a page, of a frame in a process of its own, of a worker. Which
// commands a kind of target needs, and which undo an earlier guise, is all that this package knows.
package emulate

import (
	"reflect"
	"strings"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"

	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/sessions"
)

// Kind is a kind of target.
type Kind uint8

// The kinds of targets.
const (
	Page Kind = iota
	// Frame is a frame in a process of its own.
	Frame
	// Worker is a worker of any kind.
	Worker
)

// Guise is what the targets of a session pretend. The zero value pretends nothing.
type Guise struct {
	look        sessions.Look
	credentials *sessions.Credentials
	version     string
}

// New makes the guise that settings ask for. version is the browser's own, such as 156.0.8078.79.
func New(s sessions.Settings, version string) Guise {
	return Guise{look: s.Emulation.Look(), credentials: s.Credentials, version: version}
}

// Equal reports whether two guises pretend the same.
func Equal(a, b Guise) bool { return reflect.DeepEqual(a, b) }

// WithoutCredentials is the guise without its credentials, for targets whose requests nobody would answer for.
func (g Guise) WithoutCredentials() Guise {
	g.credentials = nil
	return g
}

// Spreads reports whether targets beside the page must wear it from their start: frames, popups and workers are then
// to be held until they do.
func (g Guise) Spreads() bool {
	plain := g.look
	plain.Emulation = sessions.Emulation{}
	plain.Width, plain.Height, plain.Scale = 0, 0, 0
	return g.credentials != nil || g.look.Locale != "" || g.look.Timezone != "" || g.look.Location != nil || g.look.Offline ||
		g.look.Scheme != sessions.AnyScheme || g.look.ReducedMotion || len(g.look.Headers) > 0 || !reflect.DeepEqual(plain, sessions.Look{})
}

// SharesProcess reports whether a part of it is one for all targets of a renderer process, and ends with the target
// that asked for it.
func (g Guise) SharesProcess() bool { return g.look.Locale != "" || g.look.Timezone != "" }

// concernsRequests reports whether it works only while the network domain is enabled, as it always is in pages.
func (g Guise) concernsRequests() bool { return len(g.look.Headers) > 0 || g.look.Offline }

// Credentials are those that answer HTTP authentication of an origin, such as https://example.com; false: none do.
func (g Guise) Credentials(origin string, proxy bool) (username, password string, ok bool) {
	c := g.credentials
	if c == nil || c.Origin != "" && (proxy || !strings.EqualFold(strings.TrimSuffix(origin, "/"), strings.TrimSuffix(c.Origin, "/"))) {
		return "", "", false
	}
	return c.Username, c.Password, true
}

// Sizes reports whether it says what size a page has.
func (g Guise) Sizes() bool {
	return g.look.Width > 0 || g.look.Scale > 0 || g.look.Mobile
}

// Metrics is the command that gives a page its size: that of the viewport, if it is not zero, or else the guise's own,
// or 1280 by 800.
func (g Guise) Metrics(viewport dom.Box) devtools.Step {
	width, height := int64(viewport.Width), int64(viewport.Height)
	if width <= 0 || height <= 0 {
		width, height = int64(g.look.Width), int64(g.look.Height)
	}
	if width <= 0 || height <= 0 {
		width, height = 1280, 800
	}
	params := emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: g.look.Scale, Mobile: g.look.Mobile}
	if g.look.Device != "" || g.look.Mobile {
		params.ScreenWidth, params.ScreenHeight = width, height
		params.ScreenOrientation = &emulation.ScreenOrientation{Type: emulation.ScreenOrientationTypePortraitPrimary}
		if width > height {
			params.ScreenOrientation = &emulation.ScreenOrientation{Type: emulation.ScreenOrientationTypeLandscapePrimary, Angle: 90}
		}
	}
	return devtools.Step{Method: emulation.CommandSetDeviceMetricsOverride, Params: params}
}

// Clear lists the commands that lift what is one for all targets of a process, before another guise is put on.
func (g Guise) Clear() []devtools.Step {
	var steps []devtools.Step
	if g.look.Locale != "" {
		steps = append(steps, devtools.Step{Method: emulation.CommandSetLocaleOverride, Params: emulation.SetLocaleOverrideParams{}, Optional: true})
	}
	if g.look.Timezone != "" {
		steps = append(steps, devtools.Step{Method: emulation.CommandSetTimezoneOverride, Params: emulation.SetTimezoneOverrideParams{}, Optional: true})
	}
	return steps
}

// Shared lists the commands for what is one for all targets of a process. Another target of the process may have
// asked for it already, which is no failure.
func (g Guise) Shared() []devtools.Step {
	var steps []devtools.Step
	if g.look.Locale != "" {
		steps = append(steps, devtools.Step{Method: emulation.CommandSetLocaleOverride, Optional: true,
			Params: emulation.SetLocaleOverrideParams{Locale: strings.ReplaceAll(g.look.Locale, "-", "_")}})
	}
	if g.look.Timezone != "" {
		steps = append(steps, devtools.Step{Method: emulation.CommandSetTimezoneOverride, Optional: true,
			Params: emulation.SetTimezoneOverrideParams{TimezoneID: g.look.Timezone}})
	}
	return steps
}

// Change lists the commands that take a target of a kind from one guise to another, apart from its size. Commands that
// a kind of target does not know are optional.
func Change(kind Kind, was, is Guise) []devtools.Step {
	var steps []devtools.Step
	add := func(changed bool, method string, params any) {
		if changed {
			steps = append(steps, devtools.Step{Method: method, Params: params, Optional: kind != Page})
		}
	}
	add(was.agent() != is.agent(), emulation.CommandSetUserAgentOverride, is.agentOverride())
	if kind != Worker {
		touch := emulation.SetTouchEmulationEnabledParams{Enabled: is.look.Touch}
		if is.look.Touch {
			touch.MaxTouchPoints = 5
		}
		add(was.look.Touch != is.look.Touch, emulation.CommandSetTouchEmulationEnabled, touch)
		if at := is.look.Location; at != nil {
			add(!reflect.DeepEqual(was.look.Location, at), emulation.CommandSetGeolocationOverride,
				emulation.SetGeolocationOverrideParams{Latitude: &at.Latitude, Longitude: &at.Longitude, Accuracy: &at.Accuracy})
		} else {
			add(was.look.Location != nil, emulation.CommandClearGeolocationOverride, struct{}{})
		}
		add(was.look.Scheme != is.look.Scheme || was.look.ReducedMotion != is.look.ReducedMotion, emulation.CommandSetEmulatedMedia, is.media())
	}
	steps = append(steps, changeNetwork(kind, was, is)...)
	return append(steps, is.Shared()...)
}

// emulateNetworkConditions is known to browsers of today and of yesterday, but no longer to the protocol's description.
const emulateNetworkConditions = "Network.emulateNetworkConditions"

type networkConditions struct {
	Offline  bool    `json:"offline"`
	Latency  float64 `json:"latency"`
	Download float64 `json:"downloadThroughput"`
	Upload   float64 `json:"uploadThroughput"`
}

// changeNetwork is the part of Change that concerns requests.
func changeNetwork(kind Kind, was, is Guise) []devtools.Step {
	var steps []devtools.Step
	add := func(changed bool, method string, params any) {
		if changed {
			steps = append(steps, devtools.Step{Method: method, Params: params, Optional: kind != Page})
		}
	}
	none := int64(0)
	add(kind == Worker && is.concernsRequests() && !was.concernsRequests(), network.CommandEnable,
		network.EnableParams{MaxTotalBufferSize: &none, MaxResourceBufferSize: &none, MaxPostDataSize: &none})
	headers := network.Headers{}
	for _, h := range is.look.Headers {
		headers[h.Name] = h.Value
	}
	add(!reflect.DeepEqual(was.look.Headers, is.look.Headers), network.CommandSetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: headers})
	add(was.look.Offline != is.look.Offline, emulateNetworkConditions,
		networkConditions{Offline: is.look.Offline, Download: -1, Upload: -1})
	if is.credentials != nil {
		yes, pattern := true, "*"
		if is.credentials.Origin != "" {
			pattern = strings.TrimSuffix(is.credentials.Origin, "/") + "/*"
		}
		add(!reflect.DeepEqual(was.credentials, is.credentials), fetch.CommandEnable,
			fetch.EnableParams{HandleAuthRequests: &yes, Patterns: []*fetch.RequestPattern{{URLPattern: pattern}}})
	} else {
		add(was.credentials != nil, fetch.CommandDisable, struct{}{})
	}
	return steps
}

// media is what the media queries that a guise can answer say; an empty value leaves one to the browser.
func (g Guise) media() emulation.SetEmulatedMediaParams {
	scheme := map[sessions.ColorScheme]string{sessions.LightScheme: "light", sessions.DarkScheme: "dark"}[g.look.Scheme]
	motion := ""
	if g.look.ReducedMotion {
		motion = "reduce"
	}
	return emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: motion}}}
}
