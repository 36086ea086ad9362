// Package e2e tests domtap end to end: real Chromium, the real server, a real client, and pages on loopback. The
// packages below it test one subject each; go test runs them beside this one.
package e2e

import (
	"os"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }
