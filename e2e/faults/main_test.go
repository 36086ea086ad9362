// Package faults breaks what the daemon stands on - renderers, browsers, the connection to them, the disk, the clock, the daemon
// itself - and checks what clients see, that tabs come back, and that nothing is left behind.
//
// The tests are short. DOMTAP_FAULTS=10m lets them inject faults for that long, each of them; -v prints what was found.
package faults

import (
	"os"
	"testing"
	"time"

	"github.com/domtap/domtap/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }

// limit bounds what a test waits for.
const limit = testenv.Patience

// campaign is how long to inject faults; 0: once each.
func campaign(t testing.TB) time.Duration {
	t.Helper()
	text := os.Getenv("DOMTAP_FAULTS")
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("DOMTAP_FAULTS: %v", err)
	}
	return d
}
