package emulate

import (
	"slices"
	"testing"

	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/routes"
	"github.com/domtap/domtap/internal/sessions"
)

func methods(steps []devtools.Step) []string {
	var all []string
	for _, s := range steps {
		all = append(all, s.Method)
	}
	return all
}

// TestEveryOverrideIsLiftedAgain checks that every override can be cleared: the change back has a command for each domain of the change,
// and empty overrides need no command.
func TestEveryOverrideIsLiftedAgain(t *testing.T) {
	yes := true
	all := sessions.Settings{Credentials: &sessions.Credentials{Username: "a"}, Emulation: sessions.Emulation{
		Device: "Pixel 8", Touch: &yes, Locale: "de-DE", Timezone: "Europe/Berlin", Location: &sessions.Location{}, Offline: true,
		Scheme: sessions.DarkScheme, ReducedMotion: true, Headers: []sessions.Header{{Name: "A", Value: "b"}}}}
	on := New(all, "156.0.1.2", routes.NewTable([]routes.Route{{Pattern: "**"}}, nil))
	for _, kind := range []Kind{Page, Frame, Worker} {
		if same := Change(kind, on, on); len(methods(same)) != len(on.Shared()) {
			t.Errorf("kind %d: no change needs %q", kind, methods(same))
		}
		if none := Change(kind, Overrides{}, New(sessions.Settings{}, "156.0.1.2", nil)); len(none) != 0 {
			t.Errorf("kind %d: nothing needs %q", kind, methods(none))
		}
		there, back := methods(Change(kind, Overrides{}, on)), append(methods(on.Clear()), methods(Change(kind, on, Overrides{}))...)
		for _, m := range there {
			counter := map[string]string{"Emulation.setGeolocationOverride": "Emulation.clearGeolocationOverride", "Fetch.enable": "Fetch.disable", "Network.enable": "Network.setExtraHTTPHeaders"}[m]
			if counter == "" {
				counter = m
			}
			if !slices.Contains(back, counter) {
				t.Errorf("kind %d: %s is not taken back by %q", kind, m, back)
			}
		}
	}
}

func TestClientHintsFollowTheUserAgent(t *testing.T) {
	for _, c := range []struct {
		ua, platform, hint, version, model, brand string
		mobile                                    bool
	}{
		{"Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Mobile Safari/537.36", "Linux armv81", "Android", "14.0.0", "Pixel 8", "Google Chrome", true},
		{"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36 Edg/150.0.0.0", "Win32", "Windows", "10.0.0", "", "Microsoft Edge", false},
		{"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36", "MacIntel", "macOS", "10.15.7", "", "Google Chrome", false},
		{"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36", "Linux x86_64", "Linux", "", "", "Google Chrome", false},
	} {
		m := metadata(c.ua)
		if m == nil || m.Platform != c.hint || m.PlatformVersion != c.version || m.Model != c.model || m.Mobile != c.mobile || m.Brands[2].Brand != c.brand || platform(c.ua) != c.platform {
			t.Errorf("%s: %+v", c.ua, m)
		}
	}
	for _, d := range sessions.Devices() {
		ua := New(sessions.Settings{Emulation: sessions.Emulation{Device: d.Name}}, "156.0.1.2", nil).userAgent()
		if d.UserAgent != "" && (platform(ua) == "" || slices.Contains([]byte(ua), '{')) {
			t.Errorf("%s: %s", d.Name, ua)
		}
	}
	if metadata("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0") != nil || metadata(sessions.Devices()[0].UserAgent) != nil {
		t.Error("a browser without client hints has some")
	}
}

func TestCredentialsAreForTheirOriginOnly(t *testing.T) {
	o := New(sessions.Settings{Credentials: &sessions.Credentials{Username: "a", Origin: "https://example.com"}}, "1", nil)
	for origin, want := range map[string]bool{"https://example.com": true, "https://EXAMPLE.com/": true, "http://example.com": false, "https://example.com.evil": false} {
		if _, _, ok := o.Credentials(origin, false); ok != want {
			t.Errorf("%s: %v", origin, ok)
		}
	}
	if _, _, ok := o.Credentials("https://example.com", true); ok {
		t.Error("a proxy gets what is for an origin")
	}
}
