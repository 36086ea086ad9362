//go:build linux

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
)

// TestFeaturesOfFlagsAreAdded starts a browser with additional features. The features that domtap sets must remain, such as the network
// service without a separate process.
func TestFeaturesOfFlagsAreAdded(t *testing.T) {
	d := testenv.StartDaemon(t, "enable-features=MineOn", "disable-features=MineOff")
	d.Open("about:blank")
	line := func(pid int) []byte {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil {
			return nil // the process has ended
		}
		return text
	}
	first := line(d.Browser.PID())
	for _, want := range []string{"--enable-features=NetworkServiceInProcess2,WebMCP,MineOn\x00", ",MineOff\x00"} {
		if !bytes.Contains(first, []byte(want)) {
			t.Errorf("the command line has no %q: %q", want, first)
		}
	}
	for _, pid := range testenv.Group(d.Browser.PID()) {
		if bytes.Contains(line(pid), []byte("network.mojom.NetworkService")) {
			t.Errorf("the network has a process of its own: %q", line(pid))
		}
	}
}
