// Package streams tests streams of changes, waits, and the cost of a watched page.
package streams

import (
	"os"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }
