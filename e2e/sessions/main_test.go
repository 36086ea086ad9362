// Package sessions tests sessions in real Chromium: isolation, emulation and storage.
package sessions

import (
	"os"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }
