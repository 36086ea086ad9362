//go:build unix

package launch

import (
	"os"
	"os/exec"
	"syscall"

	"github.com/chromedp/chromedp"

	"github.com/domtap/domtap/internal/browser/devtools"
)

// modify is chromedp's hook that changes the command before it starts. Chromium reads commands from descriptor 3 and writes to 4. modify
// replaces the pipes that chromedp passes there. It also puts the process into its own group, so that the whole group can be killed, and
// ties its life to ours where the kernel supports that.
func (r *relay) modify(cmd *exec.Cmd) {
	r.dropFirstPage(cmd)
	cmd.SysProcAttr = processAttributes()
	if len(cmd.ExtraFiles) != 2 {
		return
	}
	commands, err := duplicate(cmd.ExtraFiles[0])
	if err != nil {
		return
	}
	replies, err := duplicate(cmd.ExtraFiles[1])
	if err != nil {
		commands.Close()
		return
	}
	childR, childW, ourR, ourW, err := pipes()
	if err != nil {
		commands.Close()
		replies.Close()
		return
	}
	r.child = []*os.File{childR, childW}
	cmd.Stdin = startHook(r.started)
	cmd.ExtraFiles = r.child
	r.ready(devtools.NewPipe(ourR, ourW), chromedp.NewPipeConn(commands, replies))
}

func duplicate(f *os.File) (*os.File, error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	fd := -1
	var dupErr error
	if err := raw.Control(func(old uintptr) {
		syscall.ForkLock.RLock()
		defer syscall.ForkLock.RUnlock()
		if fd, dupErr = syscall.Dup(int(old)); dupErr == nil {
			syscall.CloseOnExec(fd)
			dupErr = syscall.SetNonblock(fd, true)
		}
	}); err != nil {
		return nil, err
	}
	if dupErr != nil {
		return nil, dupErr
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}
