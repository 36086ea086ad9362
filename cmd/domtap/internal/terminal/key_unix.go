//go:build unix

package terminal

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Key identifies the terminal of this process by its process session. A shell creates a session for a terminal, and other programs do for
// the processes they start. A session from outside a container has the number 0 inside, so the start time of the container is added to
// distinguish it.
func Key() string {
	session, err := unix.Getsid(0)
	if err != nil {
		parent := os.Getppid()
		return fmt.Sprintf("parent %d since %s", parent, startTime(parent))
	}
	return fmt.Sprintf("session %d since %s", session, startTime(max(session, 1)))
}

// startTime returns the start time of a process, which distinguishes processes with the same number. It returns an empty string if the
// system does not report it.
func startTime(pid int) string {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The name in parentheses may contain anything. The fields after it are well-formed (proc(5)).
	fields := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
	if len(fields) < 20 {
		return ""
	}
	return fields[19]
}
