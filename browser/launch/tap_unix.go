//go:build unix

package launch

import (
	"os"
	"os/exec"
	"syscall"

	"github.com/chromedp/chromedp"

	"github.com/domtap/domtap/browser/link"
)

// tap puts our connection between chromedp and the browser that it starts. Chromium reads commands
// from descriptor 3 and writes to 4; chromedp gives it its own pipes there, and we give it ours
// instead and keep chromedp's ends.
type tap struct {
	// ready is called when both sides are there, before the browser starts.
	ready func(browser, toChromedp chromedp.Transport)
	conn  *link.Conn
	child []*os.File
}

// modify is chromedp's hook that sees the command before it starts. The process gets a group of its
// own, so that the whole of it can be ended, and dies with us where the kernel can see to that.
func (t *tap) modify(cmd *exec.Cmd) {
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
	childR, ourW, err := os.Pipe()
	if err != nil {
		commands.Close()
		replies.Close()
		return
	}
	ourR, childW, err := os.Pipe()
	if err != nil {
		for _, f := range []*os.File{commands, replies, childR, ourW} {
			f.Close()
		}
		return
	}
	t.child = []*os.File{childR, childW}
	cmd.ExtraFiles = t.child
	t.ready(link.NewPipe(ourR, ourW), chromedp.NewPipeConn(commands, replies))
}

// started closes the browser's ends in this process, so that its death is seen.
func (t *tap) started() {
	for _, f := range t.child {
		f.Close()
	}
}

// abandon frees everything after a failed start.
func (t *tap) abandon() {
	if t.conn != nil {
		t.conn.Close()
	}
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
