//go:build unix

package endpoint

import (
	"os"
	"os/exec"
	"syscall"
	"time"
)

// readyFD is the file descriptor for readyWord: the first one after the three standard files.
const readyFD = 3

// detach puts the process in its own session and passes it the write end of the ready pipe.
func detach(cmd *exec.Cmd, ready *os.File) {
	cmd.ExtraFiles = []*os.File{ready}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}

// terminate requests a process to end.
func terminate(cmd *exec.Cmd) { _ = cmd.Process.Signal(syscall.SIGTERM) } // the process may already have ended

// giveUp interrupts reading from a process's pipe.
func giveUp(_ *exec.Cmd, pipe *os.File) { _ = pipe.SetReadDeadline(time.Unix(1, 0)) }

// KeepReady prevents child processes of the daemon from inheriting the ready pipe.
func KeepReady() { syscall.CloseOnExec(readyFD) }

func readyFile() *os.File { return os.NewFile(readyFD, "ready") }
