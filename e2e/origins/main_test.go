// Package origins tests that pages, in a real browser and in domtap's own tabs, cannot reach what domtap serves on loopback.
package origins

import (
	"os"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }
