// Package faults injects faults into everything that the daemon depends on - renderers, browsers, the connection to them, the disk, the
// clock, the daemon itself. It checks the responses to clients, the restored tabs, and that nothing is left behind.
//
// The tests are short. With DOMTAP_FAULTS=10m, each of them injects faults for that time. -v prints the results.
package faults

import (
	"os"
	"testing"
	"time"

	"github.com/domtap/domtap/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }

// limit limits every wait of a test.
const limit = testenv.Patience

// campaign returns how long to inject faults. Zero means once each.
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
