//go:build unix

package testenv

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// Group lists the running processes of a process group. Linux only; elsewhere there are none.
func Group(group int) []int {
	entries, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return nil
	}
	var found []int
	for _, path := range entries {
		line, err := os.ReadFile(path)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if of, _ := syscall.Getpgid(pid); err == nil && len(line) > 0 && of == group {
			found = append(found, pid)
		}
	}
	return found
}
