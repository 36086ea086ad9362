package cli

import (
	"bytes"
	"io"
	"os"
	"testing"
)

func TestOnlyATerminalIsColoured(t *testing.T) {
	device, err := os.Open(os.DevNull) // a character device, like a terminal
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = device.Close() }()
	for _, test := range []struct {
		name string
		out  io.Writer
		env  map[string]string
		want bool
	}{
		{"terminal", device, nil, true},
		{"terminal, NO_COLOR empty", device, map[string]string{"NO_COLOR": ""}, true},
		{"terminal, NO_COLOR", device, map[string]string{"NO_COLOR": "1"}, false},
		{"dumb terminal", device, map[string]string{"TERM": "dumb"}, false},
		{"no file", new(bytes.Buffer), nil, false},
	} {
		env := func(name string) (string, bool) { value, set := test.env[name]; return value, set }
		if got := (&Env{Lookup: env, Out: test.out}).colour(); got != test.want {
			t.Errorf("%s: colour %v", test.name, got)
		}
	}
}
