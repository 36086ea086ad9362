//go:build unix

package endpoint

import (
	"os"
	"os/exec"
	"syscall"
	"time"
)

// readyFD is the file that a daemon writes its readyWord to: the first after the three standard files.
const readyFD = 3

// apart gives the process a session of its own and the write end of the ready pipe.
func apart(cmd *exec.Cmd, ready *os.File) {
	cmd.ExtraFiles = []*os.File{ready}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}

// terminate asks a process to end.
func terminate(cmd *exec.Cmd) { _ = cmd.Process.Signal(syscall.SIGTERM) } // it may have ended

// giveUp ends the reading of a process's pipe.
func giveUp(_ *exec.Cmd, pipe *os.File) { _ = pipe.SetReadDeadline(time.Unix(1, 0)) }

// KeepReady keeps child processes of the daemon from inheriting the ready pipe.
func KeepReady() { syscall.CloseOnExec(readyFD) }

func readyFile() *os.File { return os.NewFile(readyFD, "ready") }
