// Package sessions tests sessions in real Chromium: what they keep apart, what they pretend, and what they store.
package sessions

import (
	"os"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }
