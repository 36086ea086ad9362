package endpoint

import (
	"path/filepath"
	"testing"
)

// environment returns a Lookup for a map.
func environment(env map[string]string) Lookup {
	return func(name string) (string, bool) {
		value, set := env[name]
		return value, set
	}
}

func TestPlaces(t *testing.T) {
	home, run := t.TempDir(), t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", run) // package listen reads the real environment of the process
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "config"))
	for _, test := range []struct {
		name  string
		env   map[string]string
		state string
		want  Places
	}{
		{"home", map[string]string{"HOME": home}, "",
			Places{home + "/.local/state/domtap", run + "/domtap/domtap.sock", home + "/config/domtap/token"}},
		{"state home", map[string]string{"HOME": home, "XDG_STATE_HOME": "/state"}, "",
			Places{"/state/domtap", run + "/domtap/domtap.sock", home + "/config/domtap/token"}},
		{"relative state home", map[string]string{"HOME": home, "XDG_STATE_HOME": "state"}, "",
			Places{home + "/.local/state/domtap", run + "/domtap/domtap.sock", home + "/config/domtap/token"}},
		{"chosen", nil, "/mine", Places{"/mine", "/mine/domtap.sock", "/mine/token"}},
		{"chosen, with a socket", map[string]string{"DOMTAP_SOCKET": "/s"}, "/mine", Places{"/mine", "/s", "/mine/token"}},
		{"chosen, without a socket", map[string]string{"DOMTAP_SOCKET": ""}, "/mine", Places{"/mine", "", "/mine/token"}},
	} {
		if got, err := FindPlaces(environment(test.env), test.state); got != test.want || err != nil {
			t.Errorf("%s: got %+v, %v; want %+v", test.name, got, err, test.want)
		}
	}
	if _, err := FindPlaces(environment(nil), ""); err == nil {
		t.Error("a place for the state without a home")
	}
}

func TestAddresses(t *testing.T) {
	for addr, want := range map[string]Target{
		"unix:///run/s":     {Socket: "/run/s"},
		"unix:/run/s":       {Socket: "/run/s"},
		"127.0.0.1:7411":    {Address: "127.0.0.1:7411"},
		"[::1]:7411":        {Address: "[::1]:7411"},
		"host.example:7411": {Address: "host.example:7411"},
		"a:1, b:2,[::1]:3":  {Address: "a:1,b:2,[::1]:3"},
	} {
		if got, err := Parse(addr); got != want || err != nil {
			t.Errorf("Parse(%q) = %+v, %v", addr, got, err)
		}
	}
	for _, addr := range []string{"", "host", ":7411", "host:", "unix:", "unix://host/s", "a:1,", "a:1,b"} {
		if got, err := Parse(addr); err == nil {
			t.Errorf("Parse(%q) = %+v", addr, got)
		}
	}
}

func TestOnlyLoopbackGoesWithoutTLS(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:1": true, "127.9.9.9:1": true, "[::1]:1": true, "localhost:1": true, "[::ffff:127.0.0.1]:1": true,
		"0.0.0.0:1": false, "10.0.0.1:1": false, "[::]:1": false, "localhost.example:1": false, "[2001:db8::1]:1": false,
	} {
		if got := (Target{Address: address}).isLoopback(); got != want {
			t.Errorf("%q is loopback: %v", address, got)
		}
	}
}
