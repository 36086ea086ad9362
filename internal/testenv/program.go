package testenv

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// Program returns the path of the program domtap, built without the race detector. make test builds the program once for all packages and
// sets DOMTAP_PROGRAM to its path. Without that variable, Program builds the program. The test must run within the module.
func Program(t testing.TB, flags ...string) string {
	t.Helper()
	if path := os.Getenv("DOMTAP_PROGRAM"); path != "" && len(flags) == 0 {
		return path
	}
	path := filepath.Join(t.TempDir(), "domtap")
	if text, err := exec.CommandContext(t.Context(), "go", slices.Concat([]string{"build", "-o", path}, flags, []string{"github.com/domtap/domtap/cmd/domtap"})...).CombinedOutput(); err != nil {
		t.Fatalf("build domtap: %v\n%s", err, text)
	}
	return path
}
