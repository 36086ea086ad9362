// Package fleet tests what happens to sessions, tabs and streams when real browsers die and come back.
package fleet

import (
	"os"
	"testing"

	"github.com/domtap/domtap/internal/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }
