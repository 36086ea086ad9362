//go:build unix

package launch

import "syscall"

// running reports whether a process exists.
func running(pid int) bool { return syscall.Kill(pid, 0) == nil }

// killGroup ends a browser with all processes of its group.
func killGroup(pid int) {
	_ = syscall.Kill(-pid, syscall.SIGKILL)
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

// killUsing ends the processes that were started for a profile: they are ours, for nobody else
// knows its name.
func killUsing(profile string) {
	for _, pid := range using(profile) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}
