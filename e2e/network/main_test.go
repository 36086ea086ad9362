// Package network tests how a session handles its requests in real Chromium: routes that block, answer and change them.
package network

import (
	"os"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }
