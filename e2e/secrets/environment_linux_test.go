package secrets

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
)

// TestTheBrowserGetsNoSecretsOfTheEnvironment reads the environment of every process of a browser.
func TestTheBrowserGetsNoSecretsOfTheEnvironment(t *testing.T) {
	t.Setenv("DOMTAP_CREDENTIALS", "ada:canary")
	t.Setenv("DOMTAP_TEST_MARK", "canary")
	b := testenv.StartBrowser(t)
	pids := testenv.PIDs(b.State)
	if len(pids) == 0 {
		t.Fatal("no process of the browser was found")
	}
	for _, pid := range pids {
		environment, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
		if err != nil {
			continue // the process has ended
		}
		if strings.Contains(string(environment), "canary") {
			t.Errorf("process %d has a secret in its environment", pid)
		}
	}
}
