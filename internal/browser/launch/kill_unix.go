//go:build unix

package launch

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// startTime returns when a process started, in the kernel's own units. It returns an empty string if the system does not report it.
func startTime(pid int) string {
	if fields := stat(pid); len(fields) >= 20 {
		return fields[19]
	}
	return ""
}

// ended reports whether a process is gone or a zombie.
func ended(pid int) bool {
	fields := stat(pid)
	return len(fields) == 0 || fields[0] == "Z" || fields[0] == "X"
}

// stat returns the fields of /proc/PID/stat that follow the name, starting with the state. It returns nil if the process is gone or there
// is no /proc.
func stat(pid int) []string {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	// The name in parentheses may contain any character, but the fields after it contain no parenthesis (proc(5)).
	return strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
}

// running reports whether a process exists.
func running(pid int) bool { return syscall.Kill(pid, 0) == nil }

// killGroup kills a browser and all processes of its group.
func killGroup(pid int) {
	_ = syscall.Kill(-pid, syscall.SIGKILL)
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

// kill kills a browser that we started, with its process group. It does nothing if the browser has ended, because its ID may have been
// reused.
func kill(p *os.Process) {
	if p.Signal(syscall.Signal(0)) == nil {
		killGroup(p.Pid)
	}
}

// groupOf returns the process group of a process, or 0 if it is gone.
func groupOf(pid int) int {
	group, _ := syscall.Getpgid(pid)
	return max(group, 0)
}

// killAll kills the given processes.
func killAll(pids []int) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}
