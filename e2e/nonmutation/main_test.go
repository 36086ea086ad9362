// Package nonmutation has a page look for the observer by every means that it has, and stand in its way.
package nonmutation

import (
	"os"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }
