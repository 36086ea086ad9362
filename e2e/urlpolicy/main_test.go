// Package urlpolicy tests that a browser can access only what the URL policy allows, whatever its pages try.
package urlpolicy

import (
	"os"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }
