// Package sessionflags reads what a command line and a file say of a session: its settings, and its storage state.
package sessionflags

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Settings are the flags for the settings of a session.
type Settings struct {
	device, viewport, locale, timezone, place, scheme, agent, dialogs string
	credentials, credentialsOrigin                                    string
	scale                                                             float64
	mobile, touch, offline, reducedMotion, denyDownloads              bool
	headers, permissions, masks                                       []string
	set                                                               *pflag.FlagSet
}

// Register defines the flags.
func (s *Settings) Register(f *pflag.FlagSet) {
	s.set = f
	f.StringVar(&s.device, "device", "", `the device to be, such as "iPhone 15" or "Pixel 8"`)
	f.StringVar(&s.viewport, "viewport", "", "size of the pages in CSS pixels, WIDTHxHEIGHT")
	f.Float64Var(&s.scale, "scale", 0, "device pixels for a CSS pixel, 0.5 to 5")
	f.BoolVar(&s.mobile, "mobile", false, "lay pages out as mobile browsers do")
	f.BoolVar(&s.touch, "touch", false, "have a touch screen")
	f.StringVar(&s.locale, "locale", "", "the language, such as de-DE")
	f.StringVar(&s.timezone, "timezone", "", "the time zone, such as Europe/Berlin")
	f.StringVar(&s.place, "geolocation", "", "where the device is: LATITUDE,LONGITUDE[,METRES]")
	f.BoolVar(&s.offline, "offline", false, "reach nothing")
	f.StringVar(&s.scheme, "color-scheme", "", "light or dark")
	f.BoolVar(&s.reducedMotion, "reduced-motion", false, "prefer less motion")
	f.StringVar(&s.agent, "user-agent", "", "the user agent; client hints follow it")
	f.StringArrayVar(&s.headers, "header", nil, `a header for every request, "NAME: VALUE"; may be repeated`)
	f.StringVar(&s.credentials, "credentials", "", "USER:PASSWORD for servers that ask; better in the environment, where no process list shows it")
	f.StringVar(&s.credentialsOrigin, "credentials-origin", "", "the only origin that gets them, such as https://example.com")
	f.StringSliceVar(&s.permissions, "permission", nil, "a permission that pages have, such as notifications; may be repeated")
	f.StringVar(&s.dialogs, "dialogs", "", "who answers dialogs: report (you do), accept or dismiss")
	f.BoolVar(&s.denyDownloads, "deny-downloads", false, "refuse downloads")
	f.StringArrayVar(&s.masks, "mask", nil, `what no answer tells: "values" of fields, or a CSS selector; may be repeated; only when a session is made`)
}

// Message is what the flags say. Errors are of usage; what the daemon can check is left to it.
func (s *Settings) Message() (*domtapv1.SessionSettings, error) {
	e := &domtapv1.Emulation{Device: s.device, Locale: s.locale, TimezoneId: s.timezone, Offline: s.offline, ReducedMotion: s.reducedMotion, UserAgent: s.agent}
	m := &domtapv1.SessionSettings{Emulation: e, Permissions: s.permissions, DenyDownloads: s.denyDownloads}
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
	for _, part := range []func(*domtapv1.SessionSettings) error{s.size, s.where, s.words, s.pairs} {
		if err := part(m); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (s *Settings) size(m *domtapv1.SessionSettings) error {
	if s.viewport == "" {
		return nil
	}
	width, height, found := strings.Cut(strings.ToLower(s.viewport), "x")
	w, errW := strconv.ParseInt(width, 10, 32)
	h, errH := strconv.ParseInt(height, 10, 32)
	if !found || errW != nil || errH != nil {
		return fmt.Errorf("--viewport %q is no size, such as 1280x800", s.viewport)
	}
	m.Emulation.Viewport = &domtapv1.Viewport{Width: int32(w), Height: int32(h)}
	return nil
}

func (s *Settings) where(m *domtapv1.SessionSettings) error {
	if s.place == "" {
		return nil
	}
	numbers := []float64{math.NaN(), math.NaN(), 0}
	parts := strings.Split(s.place, ",")
	for i, part := range parts {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || i >= len(numbers) || len(parts) < 2 {
			return fmt.Errorf("--geolocation %q is no place, such as 52.52,13.4", s.place)
		}
		numbers[i] = v
	}
	m.Emulation.Geolocation = &domtapv1.Geolocation{Latitude: numbers[0], Longitude: numbers[1], Accuracy: numbers[2]}
	return nil
}

func (s *Settings) words(m *domtapv1.SessionSettings) error {
	if s.scheme != "" {
		v, known := domtapv1.ColorScheme_value["COLOR_SCHEME_"+strings.ToUpper(s.scheme)]
		if !known || v == 0 {
			return fmt.Errorf("--color-scheme %q is neither light nor dark", s.scheme)
		}
		m.Emulation.ColorScheme = domtapv1.ColorScheme(v)
	}
	if s.dialogs != "" {
		v, known := domtapv1.DialogPolicy_value["DIALOG_POLICY_"+strings.ToUpper(s.dialogs)]
		if !known || v == 0 {
			return fmt.Errorf("--dialogs %q is none of report, accept and dismiss", s.dialogs)
		}
		m.DialogPolicy = domtapv1.DialogPolicy(v)
	}
	return nil
}

func (s *Settings) pairs(m *domtapv1.SessionSettings) error {
	for _, header := range s.headers {
		name, value, found := strings.Cut(header, ":")
		if !found {
			return fmt.Errorf("--header %q has no colon; for example --header %q", header, "X-Team: blue")
		}
		m.Emulation.ExtraHeaders = append(m.Emulation.ExtraHeaders, &domtapv1.Header{Name: strings.TrimSpace(name), Value: strings.TrimSpace(value)})
	}
	user, password, found := strings.Cut(s.credentials, ":")
	switch {
	case s.credentials == "" && s.credentialsOrigin == "":
		return nil
	case !found:
		return fmt.Errorf("--credentials must be USER:PASSWORD")
	}
	m.HttpCredentials = &domtapv1.HttpCredentials{Username: user, Password: password, Origin: s.credentialsOrigin}
	return nil
}
