//go:build unix && !linux

package launch

import "syscall"

// processAttributes requests a new process group. When we die, the closed pipe ends the browser.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
