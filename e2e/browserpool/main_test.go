// Package browserpool tests what happens to sessions, tabs and streams when real browsers die and come back.
package browserpool

import (
	"os"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }
