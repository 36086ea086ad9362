//go:build cluster

// Package cluster checks daemons that are nodes of one cluster: each is a process of its own with a real browser, and they die as
// processes do. The tests need the tag cluster, with which they build the program, too: go test -tags cluster ./e2e/cluster.
package cluster

import (
	"os"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }
