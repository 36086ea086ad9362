// Package streams tests what clients follow: streams of changes, waits, and what it costs a page to be watched.
package streams

import (
	"os"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }
