//go:build unix && !linux

package launch

import "syscall"

// processAttributes: a process group of its own. The end of the pipe ends the browser when we die.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
