package testenv

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/domtap/domtap/internal/lazyregexp"
)

// wantedNode matches the line of scripts/versions.sh with the required version of Node.
var wantedNode = lazyregexp.New(`(?m)^node_wanted=([0-9.]+)`)

// Node returns the path of a Node.js that the tests can use: the installation of scripts/install-node, or else the installation of the
// machine. If there is none or it is too old, the test is skipped; in CI it fails.
func Node(t testing.TB) string {
	t.Helper()
	root := findRoot()
	if installed, err := filepath.Abs(filepath.Join(root, ".cache/node/bin/node")); err == nil {
		if _, err := os.Stat(installed); err == nil {
			return installed
		}
	}
	script, err := os.ReadFile(filepath.Join(root, "scripts/versions.sh"))
	if err != nil {
		t.Fatal(err)
	}
	line := wantedNode().FindSubmatch(script)
	if line == nil {
		t.Fatal("scripts/versions.sh does not say which Node is needed")
	}
	wanted := string(line[1])
	said, err := exec.CommandContext(t.Context(), "node", "--version").Output()
	have := strings.TrimPrefix(strings.TrimSpace(string(said)), "v")
	why := ""
	switch {
	case err != nil:
		why = "there is no node"
	case !atLeast(wanted, have):
		why = "node " + have + " is older than " + wanted
	default:
		return "node"
	}
	if os.Getenv("CI") != "" {
		t.Fatal(why + ": run scripts/install-node")
	}
	t.Skip(why + ": run scripts/install-node")
	return ""
}

// atLeast compares versions component by component.
func atLeast(wanted, have string) bool {
	return slices.Compare(numbers(have), numbers(wanted)) >= 0
}

func numbers(version string) []int {
	var list []int
	for part := range strings.SplitSeq(version, ".") {
		n, _ := strconv.Atoi(part) // a component that is not a number counts as zero
		list = append(list, n)
	}
	return list
}
