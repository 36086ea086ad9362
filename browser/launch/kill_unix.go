//go:build unix

package launch

import (
	"os"
	"syscall"
)

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

// killUsing ends the processes that were started for a profile: they are ours, for nobody else
// knows its name.
func killUsing(profile string) {
	for _, pid := range using(profile) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}
