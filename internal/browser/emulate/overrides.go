// Package emulate emulates devices in the pages of a session, using the protocol's overrides.
//
// Overrides lists the browser commands for a target: a page, a frame in its own process, or a worker. It knows which commands each kind of
// target needs, and which commands undo earlier ones. Targets and Workers record the overrides in effect in each target, and change them.
// Callers must report each target that appears or disappears.
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
	// Frame is a frame in its own process.
	Frame
	// Worker is a worker of any kind.
	Worker
)

// Overrides holds the emulation settings of a session's targets. The zero value emulates nothing.
type Overrides struct {
	look        sessions.ResolvedEmulation
	credentials *sessions.Credentials
	version     string
	// proxy is the session's proxy, if it needs credentials.
	proxy *sessions.Proxy
	// table decides on requests. If nil, no request is held for it.
	table *routes.Table
}

// New returns the overrides that the settings request, with a table for requests, which may be nil. version is the browser's own, such as
// 156.0.8078.79.
func New(s sessions.Settings, version string, table *routes.Table) Overrides {
	o := Overrides{look: s.Emulation.Resolve(), credentials: s.Credentials, version: version, table: table}
	if s.Proxy != nil && s.Proxy.Username != "" {
		o.proxy = s.Proxy
	}
	return o
}

// Equal reports whether two Overrides emulate the same and use the same table.
func Equal(a, b Overrides) bool {
	if a.table != b.table {
		return false
	}
	a.table, b.table = nil, nil
	return reflect.DeepEqual(a, b)
}

// Table returns the table that decides on held requests. It may be nil.
func (o Overrides) Table() *routes.Table { return o.table }

// NeedsEarlyApply reports whether frames, popups and workers need the overrides from their start. They must then be held until the
// overrides apply.
func (o Overrides) NeedsEarlyApply() bool {
	plain := o.look
	plain.Emulation = sessions.Emulation{}
	plain.Width, plain.Height, plain.Scale = 0, 0, 0
	return o.credentials != nil || o.proxy != nil || o.table != nil || o.look.Locale != "" || o.look.Timezone != "" || o.look.Location != nil || o.look.Offline ||
		o.look.Scheme != sessions.AnyScheme || o.look.ReducedMotion || len(o.look.Headers) > 0 || !reflect.DeepEqual(plain, sessions.ResolvedEmulation{})
}

// SharesProcess reports whether an override applies to all targets of a renderer process and ends with the target that set it.
func (o Overrides) SharesProcess() bool { return o.look.Locale != "" || o.look.Timezone != "" }

// concernsRequests reports whether an override works only while the network domain is enabled, as it is in pages.
func (o Overrides) concernsRequests() bool { return len(o.look.Headers) > 0 || o.look.Offline }

// Credentials returns the credentials for HTTP authentication of a proxy, or of an origin such as https://example.com. ok is false if there
// are none.
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

// Sizes reports whether the overrides affect the size of a page.
func (o Overrides) Sizes() bool {
	return o.look.Width > 0 || o.look.Scale > 0 || o.look.Mobile
}

// Size returns the size for a page, in CSS pixels: the viewport if it is not zero, else the size in the overrides, else 1280 by 800.
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

// Metrics returns the command that sets the size of a page; see Size.
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

// Clear returns the commands that clear the overrides that all targets of a process share, before new ones are set.
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

// Shared returns the commands that set the overrides that all targets of a process share. They are optional, because another target of the
// process may already have set them.
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

// Change returns the commands that change a target of a kind from some overrides to others, apart from its size. For targets other than
// pages the commands are optional, because these targets do not support all of them.
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

// add adds a command if changed is set.
func (c *changes) add(changed bool, method string, params any) {
	if changed {
		c.steps = append(c.steps, devtools.Step{Method: method, Params: params, Optional: c.kind != Page})
	}
}

// Current and older browsers support emulateNetworkConditions, but the protocol's definition no longer contains it.
const emulateNetworkConditions = "Network.emulateNetworkConditions"

type networkConditions struct {
	Offline  bool    `json:"offline"`
	Latency  float64 `json:"latency"`
	Download float64 `json:"downloadThroughput"`
	Upload   float64 `json:"uploadThroughput"`
}

// network adds the commands that concern requests.
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

// requests adds the commands that work only while the network domain is enabled.
func (c *changes) requests(was, is Overrides) {
	headers := network.Headers{}
	for _, h := range is.look.Headers {
		headers[h.Name] = h.Value
	}
	c.add(!reflect.DeepEqual(was.look.Headers, is.look.Headers), network.CommandSetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: headers})
	c.add(was.look.Offline != is.look.Offline, emulateNetworkConditions,
		networkConditions{Offline: is.look.Offline, Download: -1, Upload: -1})
}

// held returns the requests that a target must hold, or nil.
func (o Overrides) held() *fetch.EnableParams {
	challenged := ""
	if o.credentials != nil {
		challenged = "*"
		if o.credentials.Origin != "" {
			challenged = strings.TrimSuffix(o.credentials.Origin, "/") + "/*"
		}
	}
	if o.proxy != nil {
		challenged = "*" // any request may be the first that the proxy sees
	}
	return intercept.Enable(o.table, challenged)
}

// media returns the values of the emulated media features. An empty value keeps the browser's own.
func (o Overrides) media() emulation.SetEmulatedMediaParams {
	scheme := map[sessions.ColorScheme]string{sessions.LightScheme: "light", sessions.DarkScheme: "dark"}[o.look.Scheme]
	motion := ""
	if o.look.ReducedMotion {
		motion = "reduce"
	}
	return emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: motion}}}
}
