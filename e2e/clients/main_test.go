// Package clients tests the clients of examples/, each in a separate process, with a real daemon and browser.
package clients

import (
	"os"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }
