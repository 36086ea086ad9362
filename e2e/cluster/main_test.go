//go:build cluster

// Package cluster tests daemons that are nodes of one cluster. Each daemon is a separate process with a real browser and can be killed. The
// tests need the build tag cluster, with which they also build the program: go test -tags cluster ./e2e/cluster.
package cluster

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
)

// built is the path of the program for all tests.
var built string

func TestMain(m *testing.M) { os.Exit(inside(m)) }

// inside runs the tests with a directory for the program.
func inside(m *testing.M) int {
	dir, err := os.MkdirTemp("", "domtap")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	built = filepath.Join(dir, "domtap")
	return testenv.Main(m)
}

// build builds the program on its first call.
var build = sync.OnceValue(func() error {
	text, err := exec.Command("go", "build", "-tags", "cluster", "-o", built, "github.com/domtap/domtap/cmd/domtap").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, text)
	}
	return nil
})

// program builds the daemon with cluster support and returns its path.
func program(t *testing.T) string {
	t.Helper()
	if err := build(); err != nil {
		t.Fatalf("build domtap: %v", err)
	}
	return built
}
