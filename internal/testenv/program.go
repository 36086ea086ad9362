package testenv

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// Program returns the path of the program domtap, without the race detector. make test builds the program once for all packages,
// and names it in DOMTAP_PROGRAM. Without that variable, Program builds it for the test, which runs within the module.
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
