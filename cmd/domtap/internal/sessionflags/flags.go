// Package sessionflags reads session settings from flags, and the storage state from a file.
package sessionflags

import (
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/routes"
)

// Settings holds the flags for the settings of a session.
type Settings struct {
	device, viewport, locale, timezone, geolocation, scheme, agent, dialogs string
	credentials, credentialsOrigin, proxy                                   string
	scale                                                                   float64
	mobile, touch, offline, reducedMotion, denyDownloads                    bool
	headers, permissions, masks, block, bypass                              []string
	set                                                                     *pflag.FlagSet
}

// Register defines the flags.
func (s *Settings) Register(f *pflag.FlagSet) {
	s.set = f
	f.StringVar(&s.device, "device", "", `the emulated device, such as "iPhone 15" or "Pixel 8"`)
	f.StringVar(&s.viewport, "viewport", "", "the size of the pages in CSS pixels, WIDTHxHEIGHT")
	f.Float64Var(&s.scale, "scale", 0, "device pixels per CSS pixel, 0.5 to 5")
	f.BoolVar(&s.mobile, "mobile", false, "use the layout of mobile browsers")
	f.BoolVar(&s.touch, "touch", false, "emulate a touch screen")
	f.StringVar(&s.locale, "locale", "", "the language, such as de-DE")
	f.StringVar(&s.timezone, "timezone", "", "the time zone, such as Europe/Berlin")
	f.StringVar(&s.geolocation, "geolocation", "", "the position of the device, LATITUDE,LONGITUDE[,METRES]")
	f.BoolVar(&s.offline, "offline", false, "emulate being offline")
	f.StringVar(&s.scheme, "color-scheme", "", "the preferred color scheme, light or dark")
	f.BoolVar(&s.reducedMotion, "reduced-motion", false, "emulate the preference for reduced motion")
	f.StringVar(&s.agent, "user-agent", "", "the user agent, also in client hints")
	f.StringArrayVar(&s.headers, "header", nil, `a header for every request, "NAME: VALUE"; may be repeated`)
	f.StringVar(&s.credentials, "credentials", "", "USER:PASSWORD for HTTP authentication; use the variable, because other users can see command lines")
	f.StringVar(&s.credentialsOrigin, "credentials-origin", "", "the only origin that gets the credentials, such as https://example.com")
	f.StringVar(&s.proxy, "proxy", "", "the proxy of the session, http://[USER:PASSWORD@]HOST:PORT, https or socks5; only for a new session; use the variable for a password")
	f.StringSliceVar(&s.bypass, "proxy-bypass", nil, "a host to connect to without the proxy, such as *.example.com; may be repeated")
	f.StringSliceVar(&s.permissions, "permission", nil, "a permission to grant to pages, such as notifications; may be repeated")
	f.StringVar(&s.dialogs, "dialogs", "", "how dialogs are answered: report waits for a client, accept and dismiss answer immediately")
	f.BoolVar(&s.denyDownloads, "deny-downloads", false, "refuse downloads")
	f.StringSliceVar(&s.block, "block", nil, "requests to block: "+strings.Join(routes.Presets, ", ")+"; may be repeated")
	f.StringArrayVar(&s.masks, "mask", nil, `what to mask in every response, "values" (of fields) or a CSS selector; may be repeated; only for a new session`)
}

// Message returns the settings that the flags describe. Its errors are usage errors. The daemon checks the rest.
func (s *Settings) Message() (*domtapv1.SessionSettings, error) {
	e := &domtapv1.Emulation{Device: s.device, Locale: s.locale, TimezoneId: s.timezone, Offline: s.offline, ReducedMotion: s.reducedMotion, UserAgent: s.agent}
	m := &domtapv1.SessionSettings{Emulation: e, Permissions: s.permissions, DenyDownloads: s.denyDownloads, Block: s.block}
	for _, word := range s.masks {
		if m.Mask == nil {
			m.Mask = new(domtapv1.Mask)
		}
		if word == "values" {
			m.Mask.Values = true
		} else {
			m.Mask.Selectors = append(m.Mask.Selectors, word)
		}
	}
	if s.set.Changed("scale") {
		e.DeviceScaleFactor = proto.Float64(s.scale)
	}
	if s.set.Changed("mobile") {
		e.Mobile = proto.Bool(s.mobile)
	}
	if s.set.Changed("touch") {
		e.Touch = proto.Bool(s.touch)
	}
	for _, part := range []func(*domtapv1.SessionSettings) error{s.setViewport, s.setGeolocation, s.setPolicies, s.setHeaders, s.setProxy} {
		if err := part(m); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (s *Settings) setViewport(m *domtapv1.SessionSettings) error {
	var err error
	m.Emulation.Viewport, err = ParseViewport(s.viewport)
	return err
}

// ParseViewport parses the value of --viewport, such as 1280x800. It returns nil for an empty value. The daemon checks the range.
func ParseViewport(text string) (*domtapv1.Viewport, error) {
	if text == "" {
		return nil, nil
	}
	width, height, found := strings.Cut(strings.ToLower(text), "x")
	w, errW := strconv.ParseInt(width, 10, 32)
	h, errH := strconv.ParseInt(height, 10, 32)
	if !found || errW != nil || errH != nil {
		return nil, fmt.Errorf("invalid --viewport %q: not WIDTHxHEIGHT, such as 1280x800", text)
	}
	return &domtapv1.Viewport{Width: int32(w), Height: int32(h)}, nil
}

func (s *Settings) setGeolocation(m *domtapv1.SessionSettings) error {
	if s.geolocation == "" {
		return nil
	}
	numbers := []float64{math.NaN(), math.NaN(), 0}
	parts := strings.Split(s.geolocation, ",")
	for i, part := range parts {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || i >= len(numbers) || len(parts) < 2 {
			return fmt.Errorf("invalid --geolocation %q: not LATITUDE,LONGITUDE, such as 52.52,13.4", s.geolocation)
		}
		numbers[i] = v
	}
	m.Emulation.Geolocation = &domtapv1.Geolocation{Latitude: numbers[0], Longitude: numbers[1], Accuracy: numbers[2]}
	return nil
}

func (s *Settings) setPolicies(m *domtapv1.SessionSettings) error {
	if s.scheme != "" {
		v, known := domtapv1.ColorScheme_value["COLOR_SCHEME_"+strings.ToUpper(s.scheme)]
		if !known || v == 0 {
			return fmt.Errorf("invalid --color-scheme %q: not light or dark", s.scheme)
		}
		m.Emulation.ColorScheme = domtapv1.ColorScheme(v)
	}
	if s.dialogs != "" {
		v, known := domtapv1.DialogPolicy_value["DIALOG_POLICY_"+strings.ToUpper(s.dialogs)]
		if !known || v == 0 {
			return fmt.Errorf("invalid --dialogs %q: not report, accept or dismiss", s.dialogs)
		}
		m.DialogPolicy = domtapv1.DialogPolicy(v)
	}
	return nil
}

// setProxy parses the URL of a proxy. Its errors do not contain the URL, because it may contain a password.
func (s *Settings) setProxy(m *domtapv1.SessionSettings) error {
	if s.proxy == "" {
		if len(s.bypass) > 0 {
			return fmt.Errorf("invalid --proxy-bypass: missing --proxy")
		}
		return nil
	}
	u, err := url.Parse(s.proxy)
	if err != nil || u.Host == "" {
		return fmt.Errorf("invalid --proxy: not http://[USER:PASSWORD@]HOST:PORT")
	}
	password, _ := u.User.Password()
	m.Proxy = &domtapv1.Proxy{Bypass: s.bypass, Username: u.User.Username(), Password: password}
	u.User = nil
	m.Proxy.Server = u.String()
	return nil
}

func (s *Settings) setHeaders(m *domtapv1.SessionSettings) error {
	for _, header := range s.headers {
		name, value, found := strings.Cut(header, ":")
		if !found {
			return fmt.Errorf("invalid --header %q: no colon, as in --header %q", header, "X-Team: blue")
		}
		m.Emulation.ExtraHeaders = append(m.Emulation.ExtraHeaders, &domtapv1.Header{Name: strings.TrimSpace(name), Value: strings.TrimSpace(value)})
	}
	user, password, found := strings.Cut(s.credentials, ":")
	switch {
	case s.credentials == "" && s.credentialsOrigin == "":
		return nil
	case !found:
		return fmt.Errorf("invalid --credentials: not USER:PASSWORD")
	}
	m.HttpCredentials = &domtapv1.HttpCredentials{Username: user, Password: password, Origin: s.credentialsOrigin}
	return nil
}
