// Package hostile tests pages that are made to break their reader.
package hostile

import (
	"os"
	"testing"

	"github.com/domtap/domtap/internal/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }
