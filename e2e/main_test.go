// Package e2e tests domtap as its users meet it: real Chromium, the real server, a real client, pages on
// loopback. What it tests apart, in packages that run beside it: acting, streams, hostile pages, what pages do by themselves, sessions,
// looking at pages, and the gauntlet.
package e2e

import (
	"os"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }
