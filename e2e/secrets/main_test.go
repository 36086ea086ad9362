// Package secrets checks that text of pages and input of clients does not occur where it must not.
package secrets

import (
	"os"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }
