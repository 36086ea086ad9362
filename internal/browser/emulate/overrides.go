// Package emulate makes the pages of a session believe that they are on another device: what CDP calls overrides.
//
// Overrides lists the browser's own commands for a target, which is a page, a frame in a process of its own, or a worker:
// which commands a kind of target needs, and which undo earlier ones. Targets and Workers know what is in force where, and
// put other overrides in force. Callers owe a call for each target that comes and goes.
package emulate

import (
	"reflect"
	"strings"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"

	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/intercept"
	"github.com/domtap/domtap/internal/routes"
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

// Overrides are what the targets of a session pretend. The zero value pretends nothing.
type Overrides struct {
	look        sessions.Look
	credentials *sessions.Credentials
	version     string
	// proxy is the session's, when it asks for credentials.
	proxy *sessions.Proxy
	// table decides on requests; nil: none is held for it.
	table *routes.Table
}

// New makes the overrides that settings ask for, with a table for requests; nil: there is none. version is the browser's own, such as
// 156.0.8078.79.
func New(s sessions.Settings, version string, table *routes.Table) Overrides {
	o := Overrides{look: s.Emulation.Look(), credentials: s.Credentials, version: version, table: table}
	if s.Proxy != nil && s.Proxy.Username != "" {
		o.proxy = s.Proxy
	}
	return o
}

// Equal reports whether two Overrides pretend the same, by the same table.
func Equal(a, b Overrides) bool {
	if a.table != b.table {
		return false
	}
	a.table, b.table = nil, nil
	return reflect.DeepEqual(a, b)
}

// Table decides on requests that the browser holds; nil leaves all alone.
func (o Overrides) Table() *routes.Table { return o.table }

// Spreads reports whether targets beside the page must have them from their start: frames, popups and workers are then
// to be held until then.
func (o Overrides) Spreads() bool {
	plain := o.look
	plain.Emulation = sessions.Emulation{}
	plain.Width, plain.Height, plain.Scale = 0, 0, 0
	return o.credentials != nil || o.proxy != nil || o.table != nil || o.look.Locale != "" || o.look.Timezone != "" || o.look.Location != nil || o.look.Offline ||
		o.look.Scheme != sessions.AnyScheme || o.look.ReducedMotion || len(o.look.Headers) > 0 || !reflect.DeepEqual(plain, sessions.Look{})
}

// SharesProcess reports whether a part of it is one for all targets of a renderer process, and ends with the target
// that asked for it.
func (o Overrides) SharesProcess() bool { return o.look.Locale != "" || o.look.Timezone != "" }

// concernsRequests reports whether some of it is in force only while the network domain is enabled, as it is in pages.
func (o Overrides) concernsRequests() bool { return len(o.look.Headers) > 0 || o.look.Offline }

// Credentials are those that answer HTTP authentication of an origin, such as https://example.com, or of a proxy; false: none do.
func (o Overrides) Credentials(origin string, proxy bool) (username, password string, ok bool) {
	if proxy && o.proxy != nil {
		return o.proxy.Username, o.proxy.Password, true
	}
	c := o.credentials
	if c == nil || c.Origin != "" && (proxy || !strings.EqualFold(strings.TrimSuffix(origin, "/"), strings.TrimSuffix(c.Origin, "/"))) {
		return "", "", false
	}
	return c.Username, c.Password, true
}

// Sizes reports whether it says what size a page has.
func (o Overrides) Sizes() bool {
	return o.look.Width > 0 || o.look.Scale > 0 || o.look.Mobile
}

// Size is the size that a page is given, in CSS pixels: that of the viewport, if it is not zero, or else the overrides' own, or
// 1280 by 800.
func (o Overrides) Size(viewport dom.Box) (width, height int64) {
	width, height = int64(viewport.Width), int64(viewport.Height)
	if width <= 0 || height <= 0 {
		width, height = int64(o.look.Width), int64(o.look.Height)
	}
	if width <= 0 || height <= 0 {
		width, height = 1280, 800
	}
	return width, height
}

// Metrics is the command that gives a page its size; see Size.
func (o Overrides) Metrics(viewport dom.Box) devtools.Step {
	width, height := o.Size(viewport)
	params := emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: o.look.Scale, Mobile: o.look.Mobile}
	if o.look.Device != "" || o.look.Mobile {
		params.ScreenWidth, params.ScreenHeight = width, height
		params.ScreenOrientation = &emulation.ScreenOrientation{Type: emulation.ScreenOrientationTypePortraitPrimary}
		if width > height {
			params.ScreenOrientation = &emulation.ScreenOrientation{Type: emulation.ScreenOrientationTypeLandscapePrimary, Angle: 90}
		}
	}
	return devtools.Step{Method: emulation.CommandSetDeviceMetricsOverride, Params: params}
}

// Clear lists the commands that lift what is one for all targets of a process, before others are put in force.
func (o Overrides) Clear() []devtools.Step {
	var steps []devtools.Step
	if o.look.Locale != "" {
		steps = append(steps, devtools.Step{Method: emulation.CommandSetLocaleOverride, Params: emulation.SetLocaleOverrideParams{}, Optional: true})
	}
	if o.look.Timezone != "" {
		steps = append(steps, devtools.Step{Method: emulation.CommandSetTimezoneOverride, Params: emulation.SetTimezoneOverrideParams{}, Optional: true})
	}
	return steps
}

// Shared lists the commands for what is one for all targets of a process. Another target of the process may have
// asked for it already, which is not a failure.
func (o Overrides) Shared() []devtools.Step {
	var steps []devtools.Step
	if o.look.Locale != "" {
		steps = append(steps, devtools.Step{Method: emulation.CommandSetLocaleOverride, Optional: true,
			Params: emulation.SetLocaleOverrideParams{Locale: strings.ReplaceAll(o.look.Locale, "-", "_")}})
	}
	if o.look.Timezone != "" {
		steps = append(steps, devtools.Step{Method: emulation.CommandSetTimezoneOverride, Optional: true,
			Params: emulation.SetTimezoneOverrideParams{TimezoneID: o.look.Timezone}})
	}
	return steps
}

// Change lists the commands that take a target of a kind from some overrides to others, apart from its size. Commands that
// a kind of target does not know are optional.
func Change(kind Kind, was, is Overrides) []devtools.Step {
	c := changes{kind: kind}
	c.add(was.agent() != is.agent(), emulation.CommandSetUserAgentOverride, is.agentOverride())
	if kind != Worker {
		touch := emulation.SetTouchEmulationEnabledParams{Enabled: is.look.Touch}
		if is.look.Touch {
			touch.MaxTouchPoints = 5
		}
		c.add(was.look.Touch != is.look.Touch, emulation.CommandSetTouchEmulationEnabled, touch)
		if at := is.look.Location; at != nil {
			c.add(!reflect.DeepEqual(was.look.Location, at), emulation.CommandSetGeolocationOverride,
				emulation.SetGeolocationOverrideParams{Latitude: &at.Latitude, Longitude: &at.Longitude, Accuracy: &at.Accuracy})
		} else {
			c.add(was.look.Location != nil, emulation.CommandClearGeolocationOverride, struct{}{})
		}
		c.add(was.look.Scheme != is.look.Scheme || was.look.ReducedMotion != is.look.ReducedMotion, emulation.CommandSetEmulatedMedia, is.media())
	}
	c.network(was, is)
	return append(c.steps, is.Shared()...)
}

// changes collects the commands for a target of a kind.
type changes struct {
	kind  Kind
	steps []devtools.Step
}

// add adds a command for what has changed.
func (c *changes) add(changed bool, method string, params any) {
	if changed {
		c.steps = append(c.steps, devtools.Step{Method: method, Params: params, Optional: c.kind != Page})
	}
}

// emulateNetworkConditions is known to browsers of today and of yesterday, but no longer to the protocol's description.
const emulateNetworkConditions = "Network.emulateNetworkConditions"

type networkConditions struct {
	Offline  bool    `json:"offline"`
	Latency  float64 `json:"latency"`
	Download float64 `json:"downloadThroughput"`
	Upload   float64 `json:"uploadThroughput"`
}

// network is the part of Change that concerns requests.
func (c *changes) network(was, is Overrides) {
	none := int64(0)
	c.add(c.kind == Worker && is.concernsRequests() && !was.concernsRequests(), network.CommandEnable,
		network.EnableParams{MaxTotalBufferSize: &none, MaxResourceBufferSize: &none, MaxPostDataSize: &none})
	c.requests(was, is)
	before, now := was.held(), is.held()
	if now != nil {
		c.add(!reflect.DeepEqual(before, now), fetch.CommandEnable, *now)
	} else {
		c.add(before != nil, fetch.CommandDisable, struct{}{})
	}
}

// requests is the part of Change that is in force only while the network domain is enabled.
func (c *changes) requests(was, is Overrides) {
	headers := network.Headers{}
	for _, h := range is.look.Headers {
		headers[h.Name] = h.Value
	}
	c.add(!reflect.DeepEqual(was.look.Headers, is.look.Headers), network.CommandSetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: headers})
	c.add(was.look.Offline != is.look.Offline, emulateNetworkConditions,
		networkConditions{Offline: is.look.Offline, Download: -1, Upload: -1})
}

// held is what a target is to hold; nil: nothing.
func (o Overrides) held() *fetch.EnableParams {
	challenged := ""
	if o.credentials != nil {
		challenged = "*"
		if o.credentials.Origin != "" {
			challenged = strings.TrimSuffix(o.credentials.Origin, "/") + "/*"
		}
	}
	if o.proxy != nil {
		challenged = "*" // any request may be the first one that the proxy gets
	}
	return intercept.Enable(o.table, challenged)
}

// media is what the media queries that overrides can answer say; an empty value leaves one to the browser.
func (o Overrides) media() emulation.SetEmulatedMediaParams {
	scheme := map[sessions.ColorScheme]string{sessions.LightScheme: "light", sessions.DarkScheme: "dark"}[o.look.Scheme]
	motion := ""
	if o.look.ReducedMotion {
		motion = "reduce"
	}
	return emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: motion}}}
}
