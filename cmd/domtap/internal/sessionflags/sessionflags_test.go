package sessionflags

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

func parse(t *testing.T, args ...string) (*domtapv1.SessionSettings, error) {
	t.Helper()
	var s Settings
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	s.Register(f)
	if err := f.Parse(args); err != nil {
		t.Fatal(err)
	}
	return s.Message()
}

func TestFlagsBecomeSettings(t *testing.T) {
	got, err := parse(t, "--device", "Pixel 8", "--viewport", "400x300", "--scale", "2", "--touch=false", "--geolocation", "52.5,13.4,5",
		"--color-scheme", "dark", "--header", "X-A: b: c", "--credentials", "ada:love:lace", "--permission", "midi,push", "--dialogs", "accept", "--mask", ".a, .b", "--mask", "values")
	if err != nil {
		t.Fatal(err)
	}
	want := new(domtapv1.SessionSettings)
	text := `dialog_policy: DIALOG_POLICY_ACCEPT permissions: "midi" permissions: "push" mask { selectors: ".a, .b" values: true } http_credentials { username: "ada" password: "love:lace" }
		emulation { device: "Pixel 8" viewport { width: 400 height: 300 } device_scale_factor: 2 touch: false color_scheme: COLOR_SCHEME_DARK
			geolocation { latitude: 52.5 longitude: 13.4 accuracy: 5 } extra_headers { name: "X-A" value: "b: c" } }`
	if err := prototext.Unmarshal([]byte(text), want); err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestBadFlagsNameThemselves(t *testing.T) {
	for _, args := range []string{"--viewport=big", "--geolocation=1", "--geolocation=1,2,3,4", "--color-scheme=red", "--dialogs=unspecified", "--header=x", "--credentials=ada"} {
		name, _, _ := strings.Cut(args, "=")
		if _, err := parse(t, args); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", args, err)
		}
	}
}

func TestStatesOfPlaywrightAreRead(t *testing.T) {
	const file = `{"cookies": [{"name": "id", "value": "42", "domain": ".example.com", "path": "/", "expires": 1893456000.5, "httpOnly": true,
		"secure": true, "sameSite": "None", "partitionKey": "x"}], "origins": [{"origin": "https://example.com",
		"localStorage": [{"name": "theme", "value": "dark"}], "indexedDB": []}]}`
	state, err := DecodeState([]byte(file))
	if err != nil || state.GetCookies()[0].GetExpires() != 1893456000.5 || !state.GetCookies()[0].GetHttpOnly() ||
		state.GetOrigins()[0].GetLocalStorage()[0].GetValue() != "dark" {
		t.Fatalf("%v, %v", state, err)
	}
	raw, err := EncodeState(state)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{`"cookies"`, `"httpOnly": true`, `"sameSite": "None"`, `"expires": 1893456000.5`, `"localStorage"`} {
		if !strings.Contains(string(raw), name) {
			t.Errorf("%s is not in %s", name, raw)
		}
	}
	if again, err := DecodeState(raw); err != nil || !proto.Equal(again, state) {
		t.Errorf("it came back as %v, %v", again, err)
	}
	if raw, err := EncodeState(&domtapv1.StorageState{}); err != nil || !strings.Contains(string(raw), `"origins": []`) {
		t.Errorf("an empty state is %s, %v", raw, err)
	}
	if _, err := DecodeState([]byte("[]")); err == nil {
		t.Error("a list was read as a state")
	}
}
