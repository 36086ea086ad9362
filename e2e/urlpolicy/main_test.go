// Package urlpolicy tests that a browser reaches what the URL policy allows and nothing else, whatever its pages try.
package urlpolicy

import (
	"os"
	"testing"

	"github.com/domtap/domtap/internal/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }
