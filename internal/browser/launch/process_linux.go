package launch

import "syscall"

// processAttributes: a process group of its own, and the kernel ends it when we die.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
