// Package adversarial tests pages that try to break or detect their reader.
package adversarial

import (
	"os"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }
