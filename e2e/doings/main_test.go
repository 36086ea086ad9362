// Package doings tests what pages do by themselves: dialogs, windows, downloads, and hanging.
package doings

import (
	"os"
	"testing"

	"github.com/domtap/domtap/internal/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }
