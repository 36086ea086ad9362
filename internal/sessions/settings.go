package sessions

import (
	"slices"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/routes"
)

// Settings is what a client may choose for a session. It is a value: nobody writes to what it points to, apart from the counters of
// routes.
type Settings struct {
	// Dialogs says who answers JavaScript dialogs.
	Dialogs   driver.DialogPolicy
	Emulation Emulation
	// Credentials answer HTTP authentication; nil: nothing answers.
	Credentials *Credentials
	// Permissions are granted to pages without a prompt, by their names in the Permissions API.
	Permissions   []string
	DenyDownloads bool
	// Mask says what is redacted for readers of the session's pages. It is chosen when the session is made.
	Mask Mask
	// Proxy is what the session's pages connect through; nil: what the browser does. It is chosen when the session is made.
	Proxy *Proxy
	// Block are the presets of package routes that block requests.
	Block []string
	// Routes decide on requests, the last one that matches first. Update keeps them; see Routing.
	Routes []routes.Route
}

// Emulation is the device that the browser emulates for pages. The zero value emulates nothing.
type Emulation struct {
	// Device is the name of one in Devices, or empty. The other fields override what the device says.
	Device string
	// Width and Height are the viewport of tabs that were opened without one, in CSS pixels; 0: the
	// device's.
	Width, Height int
	// Scale is device pixels for a CSS pixel; 0: the device's.
	Scale         float64
	Mobile, Touch *bool
	// Locale is a BCP 47 tag.
	Locale string
	// Timezone is an IANA name.
	Timezone      string
	Location      *Location
	Offline       bool
	Scheme        ColorScheme
	ReducedMotion bool
	UserAgent     string
	Headers       []Header
}

// Location is the position of the device, in degrees and metres.
type Location struct{ Latitude, Longitude, Accuracy float64 }

// ColorScheme is the value of the media feature prefers-color-scheme.
type ColorScheme uint8

// The colour schemes.
const (
	AnyScheme ColorScheme = iota
	LightScheme
	DarkScheme
)

// Header is an HTTP header that is sent with every request.
type Header struct{ Name, Value string }

// Credentials answer HTTP authentication.
type Credentials struct {
	Username, Password string
	// Origin is the only origin that gets them; empty: every origin.
	Origin string
}

// promptingPermissions are those for which a browser would prompt a person. Nobody could answer the
// prompt, so they are denied at once unless they are granted.
var promptingPermissions = []string{
	"camera", "captured-surface-control", "clipboard-read", "display-capture", "geolocation", "idle-detection", "keyboard-lock",
	"local-fonts", "local-network", "local-network-access", "loopback-network", "microphone", "midi", "nfc", "notifications",
	"push", "speaker-selection", "storage-access", "top-level-storage-access", "web-app-installation", "window-management",
}

// quietPermissions can be granted too; the browser decides on them without a prompt.
var quietPermissions = []string{
	"accelerometer", "ambient-light-sensor", "background-fetch", "background-sync", "clipboard-write", "gyroscope", "magnetometer",
	"payment-handler", "periodic-background-sync", "persistent-storage", "pointer-lock", "screen-wake-lock", "system-wake-lock",
}

// Permissions lists the names that Settings.Permissions may hold, sorted.
func Permissions() []string {
	all := slices.Concat(promptingPermissions, quietPermissions)
	slices.Sort(all)
	return all
}

// Decide returns the permissions to grant to a session, and those to deny.
func (s Settings) Decide() (granted, denied []string) {
	granted = slices.Clone(s.Permissions)
	if s.Emulation.Location != nil && !slices.Contains(granted, "geolocation") {
		granted = append(granted, "geolocation")
	}
	for _, name := range promptingPermissions {
		if !slices.Contains(granted, name) {
			denied = append(denied, name)
		}
	}
	return granted, denied
}
