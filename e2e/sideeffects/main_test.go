// Package sideeffects tests side effects of pages: dialogs, windows, downloads and hangs.
package sideeffects

import (
	"os"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }
