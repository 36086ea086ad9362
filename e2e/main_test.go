// Package e2e tests domtap end to end: real Chromium, the real server, a real client, and pages on loopback. Each subpackage tests one
// subject. go test runs them in parallel with this package.
package e2e

import (
	"os"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }
