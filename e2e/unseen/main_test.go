// Package unseen has a page look for the observer by every means that it has, and stand in its way.
package unseen

import (
	"os"
	"testing"

	"github.com/domtap/domtap/internal/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }
