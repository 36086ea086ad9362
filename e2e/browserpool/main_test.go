// Package browserpool tests sessions, tabs and streams when real browsers die and are restarted.
package browserpool

import (
	"os"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }
