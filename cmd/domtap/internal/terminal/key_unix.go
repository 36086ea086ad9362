//go:build unix

package terminal

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Key names the terminal of this process: its session, which a shell begins for a terminal, and other programs for what they start. A session
// that began outside of this container has the number 0 inside, and is told apart by when the container started.
func Key() string {
	session, err := unix.Getsid(0)
	if err != nil {
		parent := os.Getppid()
		return fmt.Sprintf("parent %d since %s", parent, startTime(parent))
	}
	return fmt.Sprintf("session %d since %s", session, startTime(max(session, 1)))
}

// startTime tells apart processes that had the same number, by when they started; empty where the system does not say.
func startTime(pid int) string {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The name in parentheses may hold anything; the fields behind it do not (proc(5)).
	fields := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
	if len(fields) < 20 {
		return ""
	}
	return fields[19]
}
