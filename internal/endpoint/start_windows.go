package endpoint

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// apart takes the process off the console, whose end would be its own, and gives it the pipe that it says to that it is ready: as
// its standard output, because Windows hands on no other files by number. The log is its standard error.
func apart(cmd *exec.Cmd, ready *os.File) {
	cmd.Stdout = ready
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS, HideWindow: true}
}

// terminate ends a process: there are no signals that it could heed.
func terminate(cmd *exec.Cmd) { _ = cmd.Process.Kill() } // it may have ended

// giveUp ends the reading of a process's pipe. A read cannot be interrupted, so the writer has to end.
func giveUp(cmd *exec.Cmd, _ *os.File) { terminate(cmd) }

// KeepReady sees to it that processes which a daemon that was started on demand starts do not hold open what TellReady writes to.
func KeepReady() {
	_ = windows.SetHandleInformation(windows.Handle(os.Stdout.Fd()), windows.HANDLE_FLAG_INHERIT, 0) // at worst the command waits longer
}

func readyFile() *os.File { return os.Stdout }
