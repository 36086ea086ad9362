// Package live tests the live page in real Chromium, with domtap itself: one tab shows the page and domtap reads it, while other tabs
// change.
package live

import (
	"os"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }
