//go:build unix

package launch

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// startTime is when a process started, in the kernel's own units; empty where the system does not say.
func startTime(pid int) string {
	if fields := stat(pid); len(fields) >= 20 {
		return fields[19]
	}
	return ""
}

// ended reports whether a process is gone, or is a zombie: one that has ended and whose parent has not waited for it.
func ended(pid int) bool {
	fields := stat(pid)
	return len(fields) == 0 || fields[0] == "Z" || fields[0] == "X"
}

// stat reads /proc/PID/stat from the process's state on. It is empty when the process is gone, and where there is no /proc.
func stat(pid int) []string {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	// The name in parentheses may hold anything; the fields behind it do not (proc(5)).
	return strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
}

// running reports whether a process exists.
func running(pid int) bool { return syscall.Kill(pid, 0) == nil }

// killGroup ends a browser with all processes of its group.
func killGroup(pid int) {
	_ = syscall.Kill(-pid, syscall.SIGKILL)
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

// kill ends a browser of ours with all processes of its group, unless it has ended: its number may be another's then.
func kill(p *os.Process) {
	if p.Signal(syscall.Signal(0)) == nil {
		killGroup(p.Pid)
	}
}

// groupOf is the process group of a process; 0 when it is gone.
func groupOf(pid int) int {
	group, _ := syscall.Getpgid(pid)
	return max(group, 0)
}

// killAll ends processes of a browser.
func killAll(pids []int) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}
