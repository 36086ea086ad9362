// Package secrets looks for what pages say and clients type in places where it must not be.
package secrets

import (
	"os"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }
