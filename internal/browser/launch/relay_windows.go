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

// pipesFlag passes Chromium the two handles that it reads commands from and writes to.
const pipesFlag = "--remote-debugging-io-pipes="

// bound calls bind once, because a process can enter the job only once.
var bound = sync.OnceValue(bind)

func setLimits(job windows.Handle, limits *windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION) error {
	_, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(limits)), uint32(unsafe.Sizeof(*limits)))
	if err != nil {
		return fmt.Errorf("have the browser end with the daemon: %w", err)
	}
	return nil
}

// modify is chromedp's hook that changes the command before it starts. It replaces the handles of chromedp's own pipe on the command line
// with ours.
func (r *relay) modify(cmd *exec.Cmd) {
	if err := bound(); err != nil {
		cmd.Err = errors.Join(cmd.Err, err)
		return
	}
	r.dropFirstPage(cmd)
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
	for _, f := range []*os.File{ourR, ourW} { // Windows child processes inherit pipes by default
		_ = windows.SetHandleInformation(windows.Handle(f.Fd()), windows.HANDLE_FLAG_INHERIT, 0)
	}
	r.child = []*os.File{childR, childW}
	cmd.Stdin = startHook(r.started)
	cmd.Args[i] = fmt.Sprintf("%s%d,%d", pipesFlag, childR.Fd(), childW.Fd())
	cmd.SysProcAttr.AdditionalInheritedHandles = []syscall.Handle{syscall.Handle(childR.Fd()), syscall.Handle(childW.Fd())}
	r.ready(devtools.NewPipe(ourR, ourW), chromedp.NewPipeConn(commands, replies))
}

// duplicate returns our own file for a handle that chromedp closes. Other processes do not inherit it.
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
