//go:build unix

package terminal

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestMain prints only the key in the processes that TestASessionIsATerminal starts.
func TestMain(m *testing.M) {
	if os.Getenv("PRINT_KEY") != "" {
		fmt.Println(Key())
		return
	}
	os.Exit(m.Run())
}

// TestASessionIsATerminal reads the key twice in each of two shells with separate sessions.
func TestASessionIsATerminal(t *testing.T) {
	shell := func() []string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "sh", "-c", `"$0"; sh -c '"$0"; true' "$0"`, os.Args[0])
		cmd.Env = append(os.Environ(), "PRINT_KEY=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		text, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSpace(string(text)), "\n")
	}
	one, other := shell(), shell()
	if len(one) != 2 || one[0] != one[1] || len(other) != 2 || other[0] != other[1] {
		t.Errorf("the keys of one session differ: %q, %q", one, other)
	}
	if slices.Contains(append(one, Key()), other[0]) || one[0] == Key() {
		t.Errorf("sessions have the same key: %q, %q, %q", one, other, Key())
	}
}
