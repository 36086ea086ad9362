// Package adversarial tests pages that are made to break their reader, or to find it.
package adversarial

import (
	"os"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }
