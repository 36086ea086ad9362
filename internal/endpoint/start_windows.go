package endpoint

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// detach detaches the process from the console and passes it the ready pipe as its standard output, because Windows does not inherit other
// files by number. The log is its standard error.
func detach(cmd *exec.Cmd, ready *os.File) {
	cmd.Stdout = ready
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS, HideWindow: true}
}

// terminate kills a process, because Windows has no signals.
func terminate(cmd *exec.Cmd) { _ = cmd.Process.Kill() } // the process may already have ended

// giveUp stops reading from a process's pipe. A read cannot be interrupted on Windows, so giveUp terminates the writer.
func giveUp(cmd *exec.Cmd, _ *os.File) { terminate(cmd) }

// KeepReady prevents child processes of the daemon from inheriting the ready pipe.
func KeepReady() {
	_ = windows.SetHandleInformation(windows.Handle(os.Stdout.Fd()), windows.HANDLE_FLAG_INHERIT, 0) // on failure the starting command only waits longer
}

func readyFile() *os.File { return os.Stdout }
