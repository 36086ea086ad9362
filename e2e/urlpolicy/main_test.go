// Package urlpolicy tests that a browser reaches what the URL policy allows and nothing else, whatever its pages try.
package urlpolicy

import (
	"os"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }
