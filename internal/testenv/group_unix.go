//go:build unix

package testenv

import "syscall"

// Group lists the running processes of a process group. It works on Linux only; elsewhere it returns nil.
func Group(group int) []int {
	var found []int
	for pid, line := range commandLines {
		if of, _ := syscall.Getpgid(pid); len(line) > 0 && of == group {
			found = append(found, pid)
		}
	}
	return found
}
