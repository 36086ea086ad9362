package launch

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"github.com/chromedp/chromedp"
	"golang.org/x/sys/windows"

	"github.com/domtap/domtap/internal/browser/devtools"
)

// pipesFlag tells Chromium the two handles that it reads commands from and writes to.
const pipesFlag = "--remote-debugging-io-pipes="

// bound is made once: a process can enter the job once.
var bound = sync.OnceValue(bind)

func setLimits(job windows.Handle, limits *windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION) error {
	_, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(limits)), uint32(unsafe.Sizeof(*limits)))
	if err != nil {
		return fmt.Errorf("have the browser end with the daemon: %w", err)
	}
	return nil
}

// modify is chromedp's hook that sees the command before it starts. chromedp names the handles of its own pipe to the browser on the
// command line; we name ours instead.
func (t *tap) modify(cmd *exec.Cmd) {
	if err := bound(); err != nil {
		cmd.Err = errors.Join(cmd.Err, err)
		return
	}
	t.dropFirstPage(cmd)
	i := slices.IndexFunc(cmd.Args, func(arg string) bool { return strings.HasPrefix(arg, pipesFlag) })
	if i < 0 || cmd.SysProcAttr == nil {
		return
	}
	first, second, _ := strings.Cut(strings.TrimPrefix(cmd.Args[i], pipesFlag), ",")
	commands, err := duplicate(first, "commands")
	if err != nil {
		return
	}
	replies, err := duplicate(second, "replies")
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
	for _, f := range []*os.File{ourR, ourW} { // pipes are inherited here unless told otherwise
		_ = windows.SetHandleInformation(windows.Handle(f.Fd()), windows.HANDLE_FLAG_INHERIT, 0)
	}
	t.child = []*os.File{childR, childW}
	cmd.Stdin = afterStart(t.started)
	cmd.Args[i] = fmt.Sprintf("%s%d,%d", pipesFlag, childR.Fd(), childW.Fd())
	cmd.SysProcAttr.AdditionalInheritedHandles = []syscall.Handle{syscall.Handle(childR.Fd()), syscall.Handle(childW.Fd())}
	t.ready(devtools.NewPipe(ourR, ourW), chromedp.NewPipeConn(commands, replies))
}

// duplicate makes a file of our own of a handle that chromedp closes, and that no other process inherits.
func duplicate(number, name string) (*os.File, error) {
	old, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return nil, err
	}
	self := windows.CurrentProcess()
	var handle windows.Handle
	if err := windows.DuplicateHandle(self, windows.Handle(old), self, &handle, 0, false, windows.DUPLICATE_SAME_ACCESS); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(handle), name), nil
}
