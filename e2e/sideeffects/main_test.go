// Package sideeffects tests what pages do by themselves: dialogs, windows, downloads, and hanging.
package sideeffects

import (
	"os"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }
