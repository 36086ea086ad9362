package launch

import "syscall"

// processAttributes requests a new process group, and SIGKILL from the kernel when we die.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
