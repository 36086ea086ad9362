package sessions

import (
	"slices"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/routes"
)

// Settings holds a client's choices for a session. It is immutable, including the values that it points to, except for the counters of
// routes.
type Settings struct {
	// Dialogs is the policy for JavaScript dialogs.
	Dialogs   driver.DialogPolicy
	Emulation Emulation
	// Credentials answers HTTP authentication. If nil, authentication requests are not answered.
	Credentials *Credentials
	// Permissions lists permissions that are granted to pages without a prompt, by their names in the Permissions API.
	Permissions   []string
	DenyDownloads bool
	// Mask selects the data that readers of the session's pages see redacted. It is fixed when the session is created.
	Mask Mask
	// Proxy is the proxy for the session's pages. If nil, the browser's own setting applies. It is fixed when the session is created.
	Proxy *Proxy
	// Block lists the presets of package routes that block requests.
	Block []string
	// Routes handle requests. The last route that matches takes precedence. Update keeps them; see Routing.
	Routes []routes.Route
}

// Emulation describes the device that the browser emulates. The zero value emulates nothing.
type Emulation struct {
	// Device is the name of a device in Devices, or empty. The other fields override the device's values.
	Device string
	// Width and Height are the viewport, in CSS pixels, of tabs that were opened without one. If 0, the device's values apply.
	Width, Height int
	// Scale is the number of device pixels per CSS pixel. If 0, the device's value applies.
	Scale         float64
	Mobile, Touch *bool
	// Locale is a BCP 47 language tag.
	Locale string
	// Timezone is an IANA time zone name.
	Timezone      string
	Location      *Location
	Offline       bool
	Scheme        ColorScheme
	ReducedMotion bool
	UserAgent     string
	Headers       []Header
}

// Location is the position of the device. Latitude and Longitude are in degrees, Accuracy is in meters.
type Location struct{ Latitude, Longitude, Accuracy float64 }

// ColorScheme is the value of the media feature prefers-color-scheme.
type ColorScheme uint8

// The color schemes.
const (
	AnyScheme ColorScheme = iota
	LightScheme
	DarkScheme
)

// Header is an HTTP header that is sent with every request.
type Header struct{ Name, Value string }

// Credentials answers HTTP authentication.
type Credentials struct {
	Username, Password string
	// Origin is the only origin that receives the credentials. If empty, every origin receives them.
	Origin string
}

// promptingPermissions lists permissions for which a browser would prompt. No user could answer the prompt, so these permissions are denied
// immediately unless they are granted.
var promptingPermissions = []string{
	"camera", "captured-surface-control", "clipboard-read", "display-capture", "geolocation", "idle-detection", "keyboard-lock",
	"local-fonts", "local-network", "local-network-access", "loopback-network", "microphone", "midi", "nfc", "notifications",
	"push", "speaker-selection", "storage-access", "top-level-storage-access", "web-app-installation", "window-management",
}

// quietPermissions lists permissions for which the browser decides without a prompt. They can be granted too.
var quietPermissions = []string{
	"accelerometer", "ambient-light-sensor", "background-fetch", "background-sync", "clipboard-write", "gyroscope", "magnetometer",
	"payment-handler", "periodic-background-sync", "persistent-storage", "pointer-lock", "screen-wake-lock", "system-wake-lock",
}

// Permissions returns the names that Settings.Permissions may contain, sorted.
func Permissions() []string {
	all := slices.Concat(promptingPermissions, quietPermissions)
	slices.Sort(all)
	return all
}

// Decide returns the permissions to grant to a session and the permissions to deny.
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
