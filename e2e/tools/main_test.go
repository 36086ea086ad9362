// Package tools tests the tools that pages offer to agents, in a real browser.
package tools

import (
	"os"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }
