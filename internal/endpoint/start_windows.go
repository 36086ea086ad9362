package endpoint

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// apart detaches the process from the console, and gives it the ready pipe as standard output, because
// Windows inherits no other files by number. The log is its standard error.
func apart(cmd *exec.Cmd, ready *os.File) {
	cmd.Stdout = ready
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS, HideWindow: true}
}

// terminate kills a process: Windows has no signals.
func terminate(cmd *exec.Cmd) { _ = cmd.Process.Kill() } // it may have ended

// giveUp ends the read of a process's pipe. A read cannot be interrupted here, so the writer is
// terminated.
func giveUp(cmd *exec.Cmd, _ *os.File) { terminate(cmd) }

// KeepReady keeps child processes of the daemon from inheriting the ready pipe.
func KeepReady() {
	_ = windows.SetHandleInformation(windows.Handle(os.Stdout.Fd()), windows.HANDLE_FLAG_INHERIT, 0) // at worst the command waits longer
}

func readyFile() *os.File { return os.Stdout }
